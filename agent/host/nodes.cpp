// Lists device nodes, compares them with the numbers that the kernel registered, and opens them; see nodes.h.
#include "agent/host/nodes.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/host/node_probe.h"

namespace gpucheck::host {
namespace {

constexpr std::size_t kMaxListed = 256;  // capability and switch nodes taken from a listing
constexpr unsigned kMaxMinor = 0xfffff;  // MINORBITS is 20 (linux/kdev_t.h)
constexpr unsigned kControlMinor = 255,
                   kModesetMinor = 254;  // nv-linux.h: NV_MINOR_DEVICE_NUMBER_CONTROL_DEVICE

std::optional<unsigned> whole_number(std::string_view text) {
    unsigned value = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    if (text.empty() || result.ec != std::errc{} || result.ptr != end) return std::nullopt;
    return value;
}

// The number after `prefix`: 128 of renderD128; nullopt for "nvidia-nvswitchctl" and other neighbours.
std::optional<unsigned> number_after(std::string_view name, std::string_view prefix) {
    if (!name.starts_with(prefix)) return std::nullopt;
    const auto number = whole_number(name.substr(prefix.size()));
    return number && *number <= kMaxMinor ? number : std::nullopt;
}

// Character devices of /proc/devices: which driver registered which major number.
class RegisteredMajors {
  public:
    explicit RegisteredMajors(const Sysroot& root) : content_(root.read("/proc/devices")) {
        if (!content_.known()) return;
        bool character = false;
        for (std::string_view line : lines_of(content_.value())) {
            if (line.starts_with("Character")) character = true;
            if (line.starts_with("Block")) character = false;
            const std::size_t start = line.find_first_not_of(' ');
            if (!character || start == std::string_view::npos) continue;
            line = trim(line.substr(start));
            const std::size_t blank = line.find(' ');
            const auto number = whole_number(line.substr(0, blank));
            if (number && blank != std::string_view::npos) rows_.push_back({line.substr(blank + 1), *number});
        }
    }
    RegisteredMajors(const RegisteredMajors&) = delete;
    RegisteredMajors& operator=(const RegisteredMajors&) = delete;

    /// Major of the first of these names that is registered.
    Fact<unsigned> major_of(std::initializer_list<std::string_view> names) const {
        if (!content_.known()) return content_.missing();
        for (const std::string_view name : names) {
            for (const Row& row : rows_) {
                if (row.name == name) return Fact<unsigned>(row.major, "/proc/devices " + std::string(name));
            }
        }
        return Missing{"/proc/devices " + std::string(*names.begin()), "ENOENT"};
    }

  private:
    struct Row {
        std::string_view name;
        unsigned major;
    };
    Fact<std::string> content_;
    std::vector<Row> rows_;
};

struct NodeLister {
    const Sysroot& root;
    const RegisteredMajors& majors;
    Snapshot& snapshot;

    static void add(std::vector<DeviceNode>& nodes, std::string path, NodeKind kind, Fact<unsigned> major,
                    Fact<unsigned> minor) {
        for (const DeviceNode& node : nodes) {
            if (node.path == path) return;
        }
        DeviceNode node;
        node.path = std::move(path);
        node.kind = kind;
        node.expected_major = std::move(major);
        node.expected_minor = std::move(minor);
        nodes.push_back(std::move(node));
    }
    void add_shared(std::string path, NodeKind kind, Fact<unsigned> major, unsigned minor,
                    std::string why_minor) {
        add(snapshot.host.nodes, std::move(path), kind, std::move(major),
            Fact<unsigned>(minor, std::move(why_minor)));
    }
    bool present(std::string_view path) const { return root.exists(path).is(true); }

    bool module_loaded(std::string_view name) const {
        const Module* module = snapshot.host.module(name);
        return module != nullptr && module->loaded.is(true);
    }
    bool bound_to(Vendor vendor, std::string_view driver) const {
        return std::any_of(snapshot.gpus.begin(), snapshot.gpus.end(), [&](const Device& gpu) {
            return gpu.vendor == vendor && gpu.pci.driver.is(driver);
        });
    }

    // "236:0" of a sysfs `dev` file.
    std::optional<std::pair<Fact<unsigned>, Fact<unsigned>>> numbers_of(const std::string& dev_file) const {
        const Fact<std::string> line = root.read_line(dev_file);
        if (!line.known()) return std::nullopt;
        const std::string_view text = line.value();
        const std::size_t colon = text.find(':');
        if (colon == std::string_view::npos) return std::nullopt;
        const auto major = whole_number(text.substr(0, colon)), minor = whole_number(text.substr(colon + 1));
        if (!major || !minor) return std::nullopt;
        return std::pair{Fact<unsigned>(*major, dev_file), Fact<unsigned>(*minor, dev_file)};
    }

    void list_kfd() {
        const bool wanted = bound_to(Vendor::amd, "amdgpu") || module_loaded("amdgpu") ||
                            snapshot.host.kfd.nodes_total.known();
        if (!wanted && !present("/dev/kfd")) return;
        auto numbers = numbers_of("/sys/class/kfd/kfd/dev");
        if (!numbers) numbers = {majors.major_of({"kfd"}), Fact<unsigned>(0, "amdkfd registers one minor")};
        add(snapshot.host.nodes, "/dev/kfd", NodeKind::kfd, numbers->first, numbers->second);
    }

    void list_nvidia() {
        const bool wanted = bound_to(Vendor::nvidia, "nvidia") || module_loaded("nvidia") ||
                            snapshot.host.nvidia.version.known();
        const std::string fixed = "nvidia.ko fixes it";
        // Older releases registered one entry, "nvidia-frontend", for all of them.
        if (wanted || present("/dev/nvidiactl")) {
            add_shared("/dev/nvidiactl", NodeKind::nvidia_ctl,
                       majors.major_of({"nvidiactl", "nvidia-frontend", "nvidia"}), kControlMinor, fixed);
        }
        const Fact<unsigned> uvm = majors.major_of({"nvidia-uvm"});
        if (wanted || present("/dev/nvidia-uvm")) {
            add_shared("/dev/nvidia-uvm", NodeKind::nvidia_uvm, uvm, 0, fixed);
        }
        // CUDA opens neither of the next two: absent, they are worth a line only when their module is there.
        if (module_loaded("nvidia_uvm") || present("/dev/nvidia-uvm-tools")) {
            add_shared("/dev/nvidia-uvm-tools", NodeKind::nvidia_uvm_tools, uvm, 1, fixed);
        }
        if (module_loaded("nvidia_modeset") || present("/dev/nvidia-modeset")) {
            add_shared("/dev/nvidia-modeset", NodeKind::nvidia_modeset,
                       majors.major_of({"nvidia-modeset", "nvidia-frontend", "nvidia", "nvidiactl"}),
                       kModesetMinor, fixed);
        }
        list_folder("/dev/nvidia-caps", "nvidia-cap", NodeKind::nvidia_cap, majors.major_of({"nvidia-caps"}));
        list_folder("/dev/nvidia-caps-imex-channels", "channel", NodeKind::nvidia_cap,
                    majors.major_of({"nvidia-caps-imex-channels"}));
        list_folder("/dev", "nvidia-nvswitch", NodeKind::nvidia_nvswitch,
                    majors.major_of({"nvidia-nvswitch"}));
    }

    // Nodes whose name ends in their minor number; "nvidia-nvswitchctl" has 255.
    void list_folder(const std::string& folder, std::string_view prefix, NodeKind kind,
                     const Fact<unsigned>& major) {
        const Fact<std::vector<std::string>> names = root.list(folder);
        if (!names.known()) return;
        std::size_t listed = 0;
        for (const std::string& name : names.value()) {
            std::optional<unsigned> minor = number_after(name, prefix);
            if (!minor && name.starts_with(prefix) && name.ends_with("ctl")) minor = kControlMinor;
            if (!minor || listed++ == kMaxListed) continue;
            add_shared(folder + "/" + name, kind, major, *minor, "number in its name");
        }
    }

    void add_drm(Device& gpu, const std::string& name, NodeKind kind, unsigned minor,
                 const std::string& dev_file) {
        auto numbers = numbers_of(dev_file);
        if (!numbers) numbers = {majors.major_of({"drm"}), Fact<unsigned>(minor, "number in its name")};
        add(gpu.nodes, "/dev/dri/" + name, kind, numbers->first, numbers->second);
    }

    // Every partition has a render node; only the first one's belongs to the PCI function.
    void list_drm(Device& gpu) {
        const std::string folder = "/sys/bus/pci/devices/" + gpu.bdf.str() + "/drm";
        const Fact<std::vector<std::string>> names = root.list(folder);
        std::vector<std::pair<unsigned, std::string>> render, cards;  // minor, dev file
        if (names.known()) {
            for (const std::string& name : names.value()) {
                const std::string dev_file = folder + "/" + name + "/dev";
                if (const auto minor = number_after(name, "renderD")) render.emplace_back(*minor, dev_file);
                if (const auto number = number_after(name, "card")) cards.emplace_back(*number, dev_file);
            }
        }
        for (const KfdNode& node : gpu.amd.kfd_nodes) {
            const Fact<std::uint64_t>& minor = node.drm_render_minor;
            if (!minor.known() || minor.value() == 0 || minor.value() > kMaxMinor) continue;
            const auto value = static_cast<unsigned>(minor.value());
            const bool known = std::any_of(render.begin(), render.end(),
                                           [&](const auto& other) { return other.first == value; });
            if (!known) render.emplace_back(value, "/sys/class/drm/renderD" + std::to_string(value) + "/dev");
        }
        std::sort(render.begin(), render.end());
        std::sort(cards.begin(), cards.end());
        for (const auto& [minor, dev_file] : render) {
            add_drm(gpu, "renderD" + std::to_string(minor), NodeKind::render, minor, dev_file);
        }
        for (const auto& [number, dev_file] : cards) {
            add_drm(gpu, "card" + std::to_string(number), NodeKind::card, number, dev_file);
        }
    }

    void list_gpu(Device& gpu) {
        if (gpu.vendor == Vendor::nvidia && gpu.nvidia.minor.known()) {
            add(gpu.nodes, "/dev/nvidia" + std::to_string(gpu.nvidia.minor.value()), NodeKind::nvidia_gpu,
                majors.major_of({"nvidia", "nvidia-frontend"}), gpu.nvidia.minor);
        }
        list_drm(gpu);
    }
};

// stat(2) asks no driver; open(2) does, so on a live machine it happens in children.
void look_at(const Sysroot& root, const std::vector<DeviceNode*>& nodes, int deadline_ms) {
    std::vector<DeviceNode*> to_probe;
    std::vector<std::string> paths;
    for (DeviceNode* node : nodes) {
        node->stat = root.stat(node->path);
        if (node->stat.absent()) {
            node->open_rw = Fact<std::string>("ENOENT", node->path);
        } else if (root.is_live()) {
            root.report_access(AccessKind::open, node->path);
            to_probe.push_back(node);
            paths.push_back(node->path);
        } else {
            node->open_rw = root.try_open(node->path);
        }
    }
    std::vector<Fact<std::string>> answers = probe_nodes(paths, deadline_ms);
    for (std::size_t i = 0; i < to_probe.size(); ++i) to_probe[i]->open_rw = std::move(answers[i]);
}

// name:password:gid:members (group(5)); a line that is anything else is skipped.
std::optional<GroupEntry> group_from(std::string_view line) {
    const std::size_t name_end = line.find(':');
    if (name_end == 0 || name_end == std::string_view::npos || name_end > 64) return std::nullopt;
    const std::size_t gid_start = line.find(':', name_end + 1);
    if (gid_start == std::string_view::npos) return std::nullopt;
    const std::string_view rest = line.substr(gid_start + 1);
    const auto gid = whole_number(rest.substr(0, rest.find(':')));
    const std::string_view name = line.substr(0, name_end);
    if (!gid || !is_text(name)) return std::nullopt;
    return GroupEntry{std::string(name), *gid};
}

// Groups that own one of the nodes, and the two that distributions use: inside a container their numbers
// differ from the host's.
std::vector<GroupEntry> read_groups(const Sysroot& root, const std::vector<DeviceNode*>& nodes) {
    constexpr std::size_t kMaxGroups = 64;
    std::vector<GroupEntry> groups;
    const Fact<std::string> content = root.read("/etc/group", kLargeFile);
    if (!content.known()) return groups;
    for (const std::string_view line : lines_of(content.value())) {
        std::optional<GroupEntry> group = group_from(line);
        if (!group) continue;
        const bool owner = std::any_of(nodes.begin(), nodes.end(), [&](const DeviceNode* node) {
            return node->stat.known() && node->stat->gid == group->gid;
        });
        if (!owner && group->name != "render" && group->name != "video") continue;
        if (groups.size() == kMaxGroups) break;
        groups.push_back(std::move(*group));
    }
    return groups;
}

}  // namespace

void read_nodes(const Sysroot& root, Snapshot& snapshot, int deadline_ms) {
    const RegisteredMajors majors(root);
    NodeLister lister{root, majors, snapshot};
    lister.list_kfd();
    lister.list_nvidia();
    for (Device& gpu : snapshot.gpus) lister.list_gpu(gpu);

    std::vector<DeviceNode*> nodes;
    for (DeviceNode& node : snapshot.host.nodes) nodes.push_back(&node);
    for (Device& gpu : snapshot.gpus) {
        for (DeviceNode& node : gpu.nodes) nodes.push_back(&node);
    }
    look_at(root, nodes, deadline_ms);
    snapshot.host.groups = read_groups(root, nodes);
}

}  // namespace gpucheck::host
