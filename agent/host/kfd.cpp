// Reads the KFD topology; see kfd.h. Keys and their meaning: Linux
// drivers/gpu/drm/amd/amdkfd/kfd_topology.c and include/uapi/linux/kfd_sysfs.h.
#include "agent/host/kfd.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gpucheck::host {
namespace {

constexpr std::string_view kNodes = "/sys/class/kfd/kfd/topology/nodes";
constexpr std::size_t kMaxNodes = 1024;
constexpr std::uint64_t kMaxBanks = 32;
// Each link is a file of its own, some 6 us to read. Eight whole GPUs have 64; an MI300X host in CPX has
// 3,969 (63 nodes of 63 links): 22 ms, ten times the rest of the topology, and nothing that the hive ids do
// not say. So all links are read or none: some of them would be no count.
constexpr std::uint64_t kMaxLinks = 256;
constexpr std::uint64_t kHeapFrameBufferPublic = 1, kHeapFrameBufferPrivate = 2;
constexpr std::uint64_t kLinkPcie = 2, kLinkXgmi = 11;

std::optional<std::uint64_t> whole_number(std::string_view text) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    if (text.empty() || result.ec != std::errc{} || result.ptr != end) return std::nullopt;
    return value;
}

// One `properties` file: lines of "key value".
class Properties {
  public:
    explicit Properties(const Fact<std::string>& content) : content_(content) {
        if (!content_.known()) return;
        for (const std::string_view line : lines_of(content_.value())) {
            const std::size_t blank = line.find(' ');
            if (blank == std::string_view::npos) continue;
            rows_.emplace_back(line.substr(0, blank), trim(line.substr(blank + 1)));
        }
    }
    Properties(const Properties&) = delete;
    Properties& operator=(const Properties&) = delete;

    /// Missing ENOENT with source "<file> <key>" for a key that this kernel does not print.
    Fact<std::uint64_t> number(std::string_view key) const {
        if (!content_.known()) return content_.missing();
        std::string source = content_.source() + " " + std::string(key);
        for (const auto& [name, text] : rows_) {
            if (name != key) continue;
            if (const auto value = whole_number(text)) return Fact<std::uint64_t>(*value, std::move(source));
            return Missing{std::move(source), "malformed: '" + std::string(text.substr(0, 40)) + "'"};
        }
        return Missing{std::move(source), "ENOENT"};
    }
    bool has_rows() const { return !rows_.empty(); }

  private:
    Fact<std::string> content_;
    std::vector<std::pair<std::string_view, std::string_view>> rows_;
};

// Folder names that are numbers, in numeric order ("10" after "2").
std::vector<unsigned> numbered(const std::vector<std::string>& names) {
    std::vector<unsigned> numbers;
    for (const std::string& name : names) {
        const auto number = whole_number(name);
        if (number && *number <= 0xffffffffU) numbers.push_back(static_cast<unsigned>(*number));
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

// How many subfolders `folder` has: what the node says, or a listing where an old kernel says nothing.
Fact<std::uint64_t> subfolders(const Sysroot& root, const Fact<std::uint64_t>& count,
                               const std::string& folder) {
    if (!count.absent()) return count;
    const Fact<std::vector<std::string>> names = root.list(folder);
    if (!names.known()) return names.missing();
    return Fact<std::uint64_t>(numbered(names.value()).size(), folder);
}

Fact<std::uint64_t> read_vram(const Sysroot& root, const Properties& properties, const std::string& node) {
    const std::string folder = node + "/mem_banks";
    const Fact<std::uint64_t> count = subfolders(root, properties.number("mem_banks_count"), folder);
    if (!count.known()) return count;
    if (count.value() > kMaxBanks)
        return Missing{folder, "more than " + std::to_string(kMaxBanks) + " banks"};
    std::uint64_t total = 0;
    bool any = false;
    for (std::uint64_t i = 0; i < count.value(); ++i) {
        const Fact<std::string> content = root.read(folder + "/" + std::to_string(i) + "/properties");
        const Properties bank(content);
        const Fact<std::uint64_t> heap = bank.number("heap_type"), size = bank.number("size_in_bytes");
        if (!heap.known()) return heap;
        if (heap.value() != kHeapFrameBufferPublic && heap.value() != kHeapFrameBufferPrivate) continue;
        if (!size.known()) return size;
        if (__builtin_add_overflow(total, size.value(), &total))
            return Missing{folder, "malformed: sizes overflow"};
        any = true;
    }
    // An integrated GPU has no bank of its own; 0 bytes would read as a GPU that lost its memory.
    if (!any) return Missing{folder, "no frame-buffer bank"};
    return Fact<std::uint64_t>(total, folder);
}

KfdNode node_from(const Properties& properties) {
    KfdNode node;
    node.unique_id = properties.number("unique_id");
    node.location_id = properties.number("location_id");
    node.domain = properties.number("domain");
    node.vendor_id = properties.number("vendor_id");
    node.device_id = properties.number("device_id");
    node.gfx_target_version = properties.number("gfx_target_version");
    node.simd_count = properties.number("simd_count");
    node.simd_per_cu = properties.number("simd_per_cu");
    node.num_xcc = properties.number("num_xcc");
    node.drm_render_minor = properties.number("drm_render_minor");
    node.hive_id = properties.number("hive_id");
    node.capability = properties.number("capability");
    node.fw_version = properties.number("fw_version");
    node.sdma_fw_version = properties.number("sdma_fw_version");
    return node;
}

struct ReadNode {
    enum class Kind { cpu, gpu, unreadable } kind = Kind::cpu;
    std::string why;  // unreadable
    KfdNode node;     // gpu
    Fact<std::uint64_t> io_links_count;
};

ReadNode read_node(const Sysroot& root, const std::string& folder) {
    ReadNode result;
    const auto unreadable = [&](std::string why) {
        result.kind = ReadNode::Kind::unreadable;
        result.why = std::move(why);
        return std::move(result);
    };
    const Fact<std::uint64_t> gpu_id = root.read_u64(folder + "/gpu_id");
    if (gpu_id.is(std::uint64_t{0})) return result;
    if (!gpu_id.known() && !gpu_id.absent()) return unreadable(gpu_id.why());

    const Fact<std::string> content = root.read(folder + "/properties");
    if (!content.known()) return unreadable(content.why());
    const Properties properties(content);
    if (!properties.has_rows()) return unreadable(trim(content.value()).empty() ? "empty" : "malformed");
    if (gpu_id.absent()) {  // flattened dumps carry properties alone: compute units make it a GPU
        const Fact<std::uint64_t> simds = properties.number("simd_count");
        if (!simds.known()) return unreadable(gpu_id.why());
        if (simds.value() == 0) return result;
    }
    result.kind = ReadNode::Kind::gpu;
    result.node = node_from(properties);
    result.node.gpu_id = gpu_id;
    result.node.name = root.read_line(folder + "/name");
    result.node.vram_bytes = read_vram(root, properties, folder);
    result.io_links_count = subfolders(root, properties.number("io_links_count"), folder + "/io_links");
    return result;
}

void miss_links(KfdNode& node, const Missing& missing) {
    node.xgmi_links = missing;
    node.pcie_links = missing;
    node.xgmi_peers = missing;
}

void count_links(const Sysroot& root, const std::string& folder, std::uint64_t count, KfdNode& node) {
    unsigned xgmi = 0, pcie = 0;
    std::vector<KfdPeer> peers;
    node.xgmi_peers = Missing{folder, ""};
    for (std::uint64_t i = 0; i < count; ++i) {
        const Fact<std::string> content = root.read(folder + "/" + std::to_string(i) + "/properties");
        const Properties properties(content);
        const Fact<std::uint64_t> type = properties.number("type");
        if (!type.known()) {  // a count with a hole in it is no count
            miss_links(node, type.missing());
            return;
        }
        if (type.value() == kLinkPcie) ++pcie;
        if (type.value() != kLinkXgmi) continue;
        ++xgmi;
        const Fact<std::uint64_t> to = properties.number("node_to"), weight = properties.number("weight");
        if (to.known() && weight.known() && *to <= 0xffffffffU && *weight <= 0xffffffffU) {
            peers.push_back({static_cast<unsigned>(*to), static_cast<unsigned>(*weight)});
        } else if (node.xgmi_peers.why().empty()) {
            node.xgmi_peers = to.known()
                                  ? weight.known() ? Missing{to.source(), "malformed"} : weight.missing()
                                  : to.missing();
        }
    }
    node.xgmi_links = Fact<unsigned>(xgmi, folder);
    node.pcie_links = Fact<unsigned>(pcie, folder);
    if (peers.size() == xgmi) node.xgmi_peers = Fact<std::vector<KfdPeer>>(std::move(peers), folder);
}

void read_links(const Sysroot& root, const std::string& nodes, std::vector<KfdNode>& gpus,
                const std::vector<Fact<std::uint64_t>>& counts) {
    std::uint64_t total = 0;
    for (const Fact<std::uint64_t>& count : counts) {
        if (count.known()) total += std::min(count.value(), kMaxLinks + 1);
    }
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        const std::string folder = nodes + "/" + std::to_string(gpus[i].node) + "/io_links";
        Missing missing{folder, ""};
        if (!counts[i].known()) {
            missing = counts[i].missing();
        } else if (total > kMaxLinks) {
            missing.why =
                "not read: " + std::to_string(total) + " links on " + std::to_string(gpus.size()) + " nodes";
        } else {
            count_links(root, folder, counts[i].value(), gpus[i]);
            continue;
        }
        miss_links(gpus[i], missing);
    }
}

}  // namespace

KfdTopology read_kfd(const Sysroot& root) {
    KfdTopology topology;
    const Fact<std::vector<std::string>> folders = root.list(kNodes);
    if (!folders.known()) {
        topology.summary.nodes_total = folders.missing();
        topology.summary.gpu_nodes = folders.missing();
        return topology;
    }
    // One resolution instead of one a file: /sys/class/kfd/kfd is a link.
    const Fact<std::string> real = root.real_path(kNodes);
    const std::string nodes = real.known() ? real.value() : std::string(kNodes);
    std::vector<unsigned> numbers = numbered(folders.value());
    topology.summary.nodes_total = Fact<unsigned>(static_cast<unsigned>(numbers.size()), folders.source());
    if (numbers.size() > kMaxNodes) {
        topology.summary.unreadable.push_back(std::to_string(numbers[kMaxNodes]) + " and above: not read");
        numbers.resize(kMaxNodes);
    }
    std::vector<Fact<std::uint64_t>> link_counts;
    for (const unsigned number : numbers) {
        ReadNode read = read_node(root, nodes + "/" + std::to_string(number));
        if (read.kind == ReadNode::Kind::unreadable) {
            topology.summary.unreadable.push_back(std::to_string(number) + ": " + read.why);
        } else if (read.kind == ReadNode::Kind::gpu) {
            read.node.node = number;
            topology.gpu_nodes.push_back(std::move(read.node));
            link_counts.push_back(std::move(read.io_links_count));
        }
    }
    read_links(root, nodes, topology.gpu_nodes, link_counts);
    topology.summary.gpu_nodes =
        Fact<unsigned>(static_cast<unsigned>(topology.gpu_nodes.size()), folders.source());
    return topology;
}

}  // namespace gpucheck::host
