// The `list` command: the GPUs and what the files say about each, without judging.
#include <algorithm>

#include "agent/log.h"
#include "agent/machine.h"
#include "agent/report/escape.h"
#include "agent/report/layout.h"
#include "agent/run.h"
#include "checks/json/model_json.h"

namespace gpucheck {
namespace {

constexpr int kNodeDeadlineMs = 1200;

// A value, or "?" for what could not be read: the reason is in --json.
template <class T, class Show>
std::string shown(const Fact<T>& fact, Show show) {
    return fact.known() ? report::plain(show(fact.value())) : fact.absent() ? "-" : "?";
}
std::string shown(const Fact<std::string>& fact) {
    return shown(fact, [](const std::string& text) { return text.empty() ? std::string("none") : text; });
}

std::string link_words(const PciFunction& pci) {
    if (!pci.link.current_speed.known() || !pci.link.current_width.known()) return "?";
    const LinkSpeed speed = *pci.link.current_speed;
    std::string text = speed == LinkSpeed::unknown ? "Unknown" : "Gen" + std::to_string(generation(speed));
    return text + " x" + std::to_string(*pci.link.current_width);
}

std::string memory_words(const Device& gpu) {
    std::string vram = shown(gpu.amd.vram_total_bytes,
                             [](std::uint64_t bytes) { return std::to_string(bytes >> 30) + " GiB"; });
    return gpu.vendor == Vendor::amd ? vram : "";
}

std::string node_words(const Device& gpu) {
    std::string text;
    constexpr std::size_t kMostNamed = 3;  // a GPU in eight partitions has eight
    const auto usable = [](const DeviceNode& node) { return node.open_rw.is("ok"); };
    if (gpu.nodes.size() > kMostNamed && std::all_of(gpu.nodes.begin(), gpu.nodes.end(), usable)) {
        return std::to_string(gpu.nodes.size()) + " nodes, all open";
    }
    for (const DeviceNode& node : gpu.nodes) {
        if (node.kind == NodeKind::card) continue;
        const std::string name = node.path.substr(node.path.rfind('/') + 1);
        text += (text.empty() ? "" : " ") + name;
        if (!node.open_rw.is("ok"))
            text += "(" + (node.open_rw.known() ? *node.open_rw : node.open_rw.why()) + ")";
    }
    return report::plain(text);
}

std::string partition_words(const Device& gpu) {
    if (gpu.vendor != Vendor::amd || !gpu.amd.compute_partition.known()) return "";
    std::string text = *gpu.amd.compute_partition;
    if (gpu.amd.memory_partition.known()) text += "/" + *gpu.amd.memory_partition;
    if (gpu.amd.kfd_nodes.size() > 1) text += " x" + std::to_string(gpu.amd.kfd_nodes.size());
    return report::plain(text);
}

std::string table_of(const Snapshot& snapshot) {
    const Host& host = snapshot.host;
    std::string text = shown(host.os_pretty_name) + ", kernel " + shown(host.kernel_release) + ", " +
                       (host.hypervisor.is("none") ? "bare metal" : "hypervisor " + shown(host.hypervisor)) +
                       (host.in_container() ? ", container " + shown(host.container) : "") + "\n";
    if (snapshot.gpus.empty()) {
        return text + "no GPU of AMD or NVIDIA among " +
               shown(host.pci_functions, [](unsigned count) { return std::to_string(count); }) +
               " PCI functions\n";
    }
    report::Table table(
        {"GPU", "BOARD", "IDS", "DRIVER", "LINK NOW", "NUMA", "MEMORY", "PARTITION", "NODES"});
    for (const Device& gpu : snapshot.gpus) {
        const auto hex = [](std::uint16_t id) {
            char buffer[8];
            std::snprintf(buffer, sizeof buffer, "%04x", id);
            return std::string(buffer);
        };
        const std::string board = gpu.board.known()
                                      ? gpu.board->name + (gpu.board->virtual_function ? " VF" : "")
                                      : std::string("unknown board");
        table.add({gpu.bdf.str(), report::plain(board),
                   shown(gpu.pci.vendor, hex) + ":" + shown(gpu.pci.device, hex), shown(gpu.pci.driver),
                   link_words(gpu.pci), shown(gpu.pci.numa_node, [](int n) { return std::to_string(n); }),
                   memory_words(gpu), partition_words(gpu), node_words(gpu)});
    }
    for (const std::string& line : table.lines(140)) text += line + "\n";
    return text;
}

}  // namespace

int list(const cli::ListOptions& options) {
    auto opened = open_target(options.machine);
    if (const auto* error = std::get_if<std::string>(&opened)) {
        log_error(*error);
        return kUsage;
    }
    const Snapshot snapshot = read_machine(std::get<Target>(opened), kNodeDeadlineMs);
    return print(options.json ? dump_json(to_json(snapshot)) + "\n" : table_of(snapshot));
}

}  // namespace gpucheck
