// Labels for schedulers; see list_labels.h.
#include "agent/list_labels.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "agent/list_cells.h"
#include "agent/list_topology.h"
#include "agent/report/view.h"

namespace gpucheck::listing {
namespace {

using Labels = std::map<std::string, std::string>;

constexpr std::string_view kPrefix = "gpucheck.io/gpu.";
constexpr std::size_t kMostNumaLabels = 16;
// Kubernetes, "Labels and Selectors": at most 63 of [A-Za-z0-9._-], a letter or digit at both ends.
constexpr std::size_t kMaxValue = 63;

bool is_alphanumeric(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_label_value(std::string_view text) {
    if (text.empty() || text.size() > kMaxValue) return false;
    if (!is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

// What is no valid value gives no label: a mended one would name another thing.
void add(Labels& labels, std::string_view name, const std::string& value) {
    if (is_label_value(value)) labels.emplace(std::string(kPrefix) + std::string(name), value);
}

void add(Labels& labels, std::string_view name, std::size_t value) {
    add(labels, name, std::to_string(value));
}

/// The value that every GPU has; nullopt: one is not known, or two differ.
template <class Get>
std::optional<std::string> shared(const Snapshot& snapshot, Get get) {
    std::optional<std::string> all;
    for (const Device& gpu : snapshot.gpus) {
        const std::optional<std::string> one = get(gpu);
        if (!one || (all && *all != *one)) return std::nullopt;
        all = one;
    }
    return all;
}

std::optional<std::string> text_of(const Fact<std::string>& fact) {
    return fact.known() ? std::optional<std::string>(fact.value()) : std::nullopt;
}

void add_counts(Labels& labels, const Snapshot& snapshot) {
    const Host& host = snapshot.host;
    // A function whose class nobody could read may be the ninth GPU, or the one that fell off the bus.
    if (!host.pci_functions.known() || !host.unreadable_functions.empty()) return;
    add(labels, "count", snapshot.gpus.size());
    std::size_t bound = 0;
    for (const Device& gpu : snapshot.gpus) {
        if (!gpu.pci.driver.known() && !gpu.pci.driver.absent()) return;
        if (gpu.pci.driver.is(report::compute_driver(gpu.vendor))) ++bound;
    }
    add(labels, "driven", bound);
}

void add_kind(Labels& labels, const Snapshot& snapshot) {
    const auto vendor = shared(snapshot, [](const Device& gpu) -> std::optional<std::string> {
        return std::string(name_of(gpu.vendor));
    });
    if (vendor) add(labels, "vendor", *vendor);
    const auto board = shared(snapshot, [](const Device& gpu) -> std::optional<std::string> {
        return gpu.board.known() ? std::optional<std::string>(gpu.board->key) : std::nullopt;
    });
    if (board) add(labels, "board", *board);
    const auto compute =
        shared(snapshot, [](const Device& gpu) { return text_of(gpu.amd.compute_partition); });
    if (compute) add(labels, "compute-partition", *compute);
    const auto memory = shared(snapshot, [](const Device& gpu) { return text_of(gpu.amd.memory_partition); });
    if (memory) add(labels, "memory-partition", *memory);
    const auto mig = shared(snapshot, [](const Device& gpu) -> std::optional<std::string> {
        const Fact<bool>& current = gpu.telemetry.first.nvidia.state.mig_current;
        if (gpu.vendor != Vendor::nvidia || !current.known()) return std::nullopt;
        return *current ? "on" : "off";
    });
    if (mig) add(labels, "mig", *mig);
}

void add_numa(Labels& labels, const Snapshot& snapshot) {
    std::map<int, std::size_t> nodes;
    for (const Device& gpu : snapshot.gpus) {
        const Fact<int>& node = gpu.pci.numa_node;
        if (!node.known() || *node < 0) return;  // a guest without NUMA does not tell
        ++nodes[*node];
    }
    if (nodes.empty()) return;
    add(labels, "numa-nodes", nodes.size());
    const std::size_t first = nodes.begin()->second;
    if (std::all_of(nodes.begin(), nodes.end(), [&](const auto& node) { return node.second == first; }))
        add(labels, "per-numa-node", first);
    if (nodes.size() > kMostNumaLabels) return;
    for (const auto& [node, count] : nodes) add(labels, "numa-" + std::to_string(node), count);
}

/// Whether all that decides about this GPU's NVLinks was read, and lets them be used.
bool nvlinks_known(const Device& gpu) {
    const NvidiaTelemetry& telemetry = gpu.telemetry.first.nvidia;
    if (telemetry.state.mig_current.is(true)) return false;  // a MIG device reaches none of them
    if (!telemetry.nvlinks.known()) return has_none(telemetry.nvlinks.why());
    bool through_switch = false;
    for (const NvLink& link : *telemetry.nvlinks) {
        if (!link.active.known() && !has_none(link.active.why())) return false;
        if (!link.active.is(true)) continue;
        if (!link.remote_type.known() || (link.remote_type.is("gpu") && !link.remote.known())) return false;
        through_switch = through_switch || link.remote_type.is("switch");
    }
    // On Hopper and later, links that are up carry nothing before the GPU is registered with its fabric.
    const Fact<std::string>& state = telemetry.fabric.state;
    if (!through_switch || state.is("completed") || state.is("not_supported")) return true;
    return !state.known() && has_none(state.why());
}

bool xgmi_known(const Device& gpu) {
    const std::vector<KfdNode>& nodes = gpu.amd.kfd_nodes;
    if (nodes.empty()) return false;
    const auto& up = gpu.telemetry.first.amd.metrics.links.xgmi_link_up;
    if (up.known() && std::find(up->begin(), up->end(), 0U) != up->end()) return false;
    return std::all_of(nodes.begin(), nodes.end(),
                       [](const KfdNode& node) { return node.xgmi_peers.known() || node.hive_id.known(); });
}

bool same_fabric(const Device& from, const Device& to) {
    const NvFabric& left = from.telemetry.first.nvidia.fabric;
    const NvFabric& right = to.telemetry.first.nvidia.fabric;
    const bool other_clique =
        left.clique_id.known() && right.clique_id.known() && *left.clique_id != *right.clique_id;
    const bool other_cluster =
        left.cluster_uuid.known() && right.cluster_uuid.known() && *left.cluster_uuid != *right.cluster_uuid;
    return !other_clique && !other_cluster;
}

bool linked(const Snapshot& snapshot, const Device& from, const Device& to) {
    const std::string words = relation(snapshot, from, to);
    if (words.starts_with("NV")) return same_fabric(from, to);
    return words.starts_with("XGMI");
}

/// Sizes of the groups of GPUs that reach each other by NVLink or xGMI alone.
std::vector<std::size_t> islands_of(const Snapshot& snapshot) {
    const std::vector<Device>& gpus = snapshot.gpus;
    std::vector<bool> seen(gpus.size(), false);
    std::vector<std::size_t> sizes;
    for (std::size_t start = 0; start < gpus.size(); ++start) {
        if (seen[start]) continue;
        std::vector<std::size_t> island{start};
        seen[start] = true;
        for (std::size_t i = 0; i < island.size(); ++i) {
            const Device& from = gpus[island[i]];
            for (std::size_t to = 0; to < gpus.size(); ++to) {
                if (seen[to]) continue;
                if (!linked(snapshot, from, gpus[to]) && !linked(snapshot, gpus[to], from)) continue;
                seen[to] = true;
                island.push_back(to);
            }
        }
        sizes.push_back(island.size());
    }
    return sizes;
}

void add_islands(Labels& labels, const Snapshot& snapshot) {
    constexpr std::size_t kMostGpus = 64;  // each pair is looked at
    const std::vector<Device>& gpus = snapshot.gpus;
    if (gpus.empty() || gpus.size() > kMostGpus) return;
    const bool known = std::all_of(gpus.begin(), gpus.end(), [](const Device& gpu) {
        return gpu.vendor == Vendor::nvidia ? nvlinks_known(gpu) : xgmi_known(gpu);
    });
    if (!known) return;
    const std::vector<std::size_t> sizes = islands_of(snapshot);
    const std::size_t least = *std::min_element(sizes.begin(), sizes.end());
    const std::size_t most = *std::max_element(sizes.begin(), sizes.end());
    add(labels, "islands", sizes.size());
    if (least == most) add(labels, "per-island", least);
    add(labels, "largest-island", most);
    if (most == 1) {
        if (gpus.size() > 1) add(labels, "link", "pcie");
    } else if (const auto found = labels.find(std::string(kPrefix) + "vendor"); found != labels.end()) {
        add(labels, "link", found->second == "nvidia" ? "nvlink" : "xgmi");
    }
}

}  // namespace

std::map<std::string, std::string> labels_of(const Snapshot& snapshot) {
    Labels labels;
    add_counts(labels, snapshot);
    if (snapshot.gpus.empty()) return labels;
    add_kind(labels, snapshot);
    add_numa(labels, snapshot);
    add_islands(labels, snapshot);
    return labels;
}

std::string labels_text(const Snapshot& snapshot) {
    std::string text;
    for (const auto& [name, value] : labels_of(snapshot)) text += name + "=" + value + "\n";
    return text;
}

}  // namespace gpucheck::listing
