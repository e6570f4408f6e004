// The topology matrix; see list_topology.h. Words as `nvidia-smi topo -m` has them.
#include "agent/list_topology.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "agent/list_cells.h"
#include "agent/report/layout.h"

namespace gpucheck::listing {
namespace {

unsigned active_links(const Device& gpu, std::string_view type, std::string_view remote) {
    const auto& links = gpu.telemetry.first.nvidia.nvlinks;
    if (!links.known()) return 0;
    return static_cast<unsigned>(std::count_if(links->begin(), links->end(), [&](const NvLink& link) {
        return link.active.is(true) && link.remote_type.is(type) &&
               (remote.empty() || link.remote.is(remote));
    }));
}

std::optional<std::string> nvlink(const Device& from, const Device& to) {
    if (from.vendor != Vendor::nvidia || to.vendor != Vendor::nvidia) return std::nullopt;
    unsigned count = active_links(from, "gpu", to.bdf.str());
    if (count == 0) count = std::min(active_links(from, "switch", {}), active_links(to, "switch", {}));
    if (count == 0) return std::nullopt;
    return "NV" + std::to_string(count);
}

bool owns(const Device& gpu, unsigned node) {
    return std::any_of(gpu.amd.kfd_nodes.begin(), gpu.amd.kfd_nodes.end(),
                       [&](const KfdNode& each) { return each.node == node; });
}

bool links_known(const Device& gpu) {
    return !gpu.amd.kfd_nodes.empty() &&
           std::all_of(gpu.amd.kfd_nodes.begin(), gpu.amd.kfd_nodes.end(),
                       [](const KfdNode& node) { return node.xgmi_peers.known(); });
}

// A hive is what drives all its GPUs as one; 0 is none.
bool same_hive(const Device& from, const Device& to) {
    if (from.amd.kfd_nodes.empty() || to.amd.kfd_nodes.empty()) return false;
    const Fact<std::uint64_t>& hive = from.amd.kfd_nodes.front().hive_id;
    return hive.known() && *hive != 0 && to.amd.kfd_nodes.front().hive_id.is(*hive);
}

std::optional<std::string> xgmi(const Device& from, const Device& to) {
    if (from.vendor != Vendor::amd || to.vendor != Vendor::amd) return std::nullopt;
    if (!links_known(from)) {
        // Of a host in CPX the links are not read: the hive says that there is one, not how long it is.
        if (same_hive(from, to)) return "XGMI";
        return std::nullopt;
    }
    std::optional<unsigned> lightest;
    for (const KfdNode& node : from.amd.kfd_nodes) {
        for (const KfdPeer& peer : *node.xgmi_peers) {
            if (owns(to, peer.node)) lightest = std::min(lightest.value_or(peer.weight), peer.weight);
        }
    }
    if (!lightest) return std::nullopt;
    constexpr unsigned kHop = 15;  // kfd_crat.c: the weight of a hop between whole GPUs
    if (*lightest % kHop == 0 && *lightest > kHop) return "XGMI" + std::to_string(*lightest / kHop);
    return "XGMI";
}

// Bridges from the GPU up to the one that both share, without it; nullopt: they share none.
std::optional<std::size_t> below_common(const PciFunction& from, const PciFunction& to) {
    for (std::size_t i = 0; i < from.path.size(); ++i) {
        for (const PciPort& port : to.path) {
            if (port.bdf == from.path[i].bdf) return i;
        }
    }
    return std::nullopt;
}

// Root ports of one host bridge lie on its bus.
bool same_host_bridge(const PciFunction& from, const PciFunction& to) {
    const Bdf left = from.path.empty() ? from.bdf : from.path.back().bdf;
    const Bdf right = to.path.empty() ? to.bdf : to.path.back().bdf;
    return left.domain == right.domain && left.bus == right.bus;
}

std::string pcie(const Snapshot& snapshot, const PciFunction& from, const PciFunction& to) {
    const auto up = below_common(from, to), down = below_common(to, from);
    if (up && down) return *up <= 1 && *down <= 1 ? "PIX" : "PXB";
    if (same_host_bridge(from, to)) return "PHB";
    if (from.numa_node.known() && to.numa_node.known() && *from.numa_node >= 0 && *to.numa_node >= 0)
        return *from.numa_node == *to.numa_node ? "NODE" : "SYS";
    return snapshot.host.numa_nodes.is(1U) ? "NODE" : "?";
}

std::string numa_cell(const Device& gpu) {
    return cell(gpu.pci.numa_node,
                [](int node) { return node < 0 ? std::string("-") : std::to_string(node); });
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kLegend{{
    {"X", "itself"},
    {"NV", "NV#: this many NVLinks, direct or through NVSwitch"},
    {"XGMI", "one xGMI hop or the same hive; XGMI# takes # hops"},
    {"PIX", "at most one PCIe switch between"},
    {"PXB", "several PCIe switches, and no host bridge"},
    {"PHB", "the host bridge of one CPU"},
    {"NODE", "several host bridges of one NUMA node"},
    {"SYS", "the link between NUMA nodes"},
    {"?", "not known"},
}};

std::string legend_of(const std::set<std::string>& words) {
    std::string text;
    for (const auto& [word, meaning] : kLegend) {
        const bool occurs =
            std::any_of(words.begin(), words.end(), [&, first = word](const std::string& each) {
                return each == first || ((first == "NV" || first == "XGMI") && each.starts_with(first));
            });
        if (!occurs) continue;
        text += "  " + std::string(word) + std::string(6 - word.size(), ' ') + std::string(meaning) + "\n";
    }
    return text;
}

// A pair without NVLink in the matrix is no proof that there is none.
std::string unread_links(const Snapshot& snapshot) {
    for (const Device& gpu : snapshot.gpus) {
        const auto& links = gpu.telemetry.first.nvidia.nvlinks;
        if (gpu.vendor == Vendor::nvidia && !links.known() && !has_none(links.why()))
            return "NVLink of " + gpu.bdf.str() + " was not read: " + report::plain(links.why()) + "\n";
    }
    return {};
}

}  // namespace

std::string relation(const Snapshot& snapshot, const Device& from, const Device& to) {
    if (from.bdf == to.bdf) return "X";
    if (auto links = nvlink(from, to)) return *links;
    if (auto links = xgmi(from, to)) return *links;
    return pcie(snapshot, from.pci, to.pci);
}

std::string topology_text(const Snapshot& snapshot, std::size_t width) {
    if (snapshot.gpus.empty()) return "no GPU of AMD or NVIDIA\n";
    std::vector<std::string> header{"GPU", "ADDRESS"};
    for (std::size_t i = 0; i < snapshot.gpus.size(); ++i) header.push_back(std::to_string(i));
    header.insert(header.end(), {"NUMA", "CPUS"});
    report::Table table(header);
    std::set<std::string> words;
    for (std::size_t i = 0; i < snapshot.gpus.size(); ++i) {
        const Device& from = snapshot.gpus[i];
        std::vector<std::string> row{std::to_string(i), from.bdf.str()};
        for (const Device& to : snapshot.gpus) {
            row.push_back(relation(snapshot, from, to));
            words.insert(row.back());
        }
        row.push_back(numa_cell(from));
        row.push_back(text_cell(from.pci.local_cpulist));
        table.add(std::move(row));
    }
    std::string text;
    for (const std::string& line : table.lines(width)) text += line + "\n";
    return text + "\n" + legend_of(words) + unread_links(snapshot);
}

Json topology_json(const Snapshot& snapshot) {
    Json gpus = Json::array(), relations = Json::array();
    for (const Device& from : snapshot.gpus) {
        Json row = Json::array();
        for (const Device& to : snapshot.gpus) row.push_back(relation(snapshot, from, to));
        relations.push_back(std::move(row));
        const auto& node = from.pci.numa_node;
        const auto& cpus = from.pci.local_cpulist;
        gpus.push_back(Json{{"bdf", from.bdf.str()},
                            {"vendor", std::string(name_of(from.vendor))},
                            {"numa_node", node.known() && *node >= 0 ? Json(*node) : Json(nullptr)},
                            {"cpus", cpus.known() ? Json(*cpus) : Json(nullptr)}});
    }
    Json legend = Json::object();
    for (const auto& [word, meaning] : kLegend) legend[std::string(word)] = std::string(meaning);
    return Json{
        {"gpus", std::move(gpus)}, {"relations", std::move(relations)}, {"legend", std::move(legend)}};
}

}  // namespace gpucheck::listing
