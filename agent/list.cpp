// The `list` command: the GPUs, what their telemetry says and how they are linked, without judging.
#include <algorithm>
#include <utility>

#include "agent/list_cells.h"
#include "agent/list_labels.h"
#include "agent/list_telemetry.h"
#include "agent/list_topology.h"
#include "agent/list_watch.h"
#include "agent/log.h"
#include "agent/machine.h"
#include "agent/report/escape.h"
#include "agent/report/layout.h"
#include "agent/run.h"
#include "agent/vendor/telemetry.h"
#include "checks/json/model_json.h"

namespace gpucheck {
namespace {

using listing::cell;
using listing::number_cell;
using listing::text_cell;

constexpr std::chrono::milliseconds kVendorDeadline{2000};
constexpr int kNodeDeadlineMs = 1200;

std::string link_words(const PciFunction& pci) {
    if (!pci.link.current_speed.known() || !pci.link.current_width.known()) return "?";
    const LinkSpeed speed = *pci.link.current_speed;
    std::string text = speed == LinkSpeed::unknown ? "Unknown" : "Gen" + std::to_string(generation(speed));
    return text + " x" + std::to_string(*pci.link.current_width);
}

std::string memory_words(const Device& gpu) {
    std::string vram = cell(gpu.amd.vram_total_bytes,
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
    std::string text =
        text_cell(host.os_pretty_name) + ", kernel " + text_cell(host.kernel_release) + ", " +
        (host.hypervisor.is("none") ? "bare metal" : "hypervisor " + text_cell(host.hypervisor)) +
        (host.in_container() ? ", container " + text_cell(host.container) : "") + "\n";
    if (snapshot.gpus.empty()) {
        return text + "no GPU of AMD or NVIDIA among " + number_cell(host.pci_functions) + " PCI functions\n";
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
                   cell(gpu.pci.vendor, hex) + ":" + cell(gpu.pci.device, hex), text_cell(gpu.pci.driver),
                   link_words(gpu.pci), number_cell(gpu.pci.numa_node), memory_words(gpu),
                   partition_words(gpu), node_words(gpu)});
    }
    for (const std::string& line : table.lines(listing::output_width())) text += line + "\n";
    return text;
}

// Reading RAS counts resets them on boards before MI300 (gfx942): whoever watches must not take the counts
// away from others.
bool reading_resets_counts(const Snapshot& snapshot) {
    constexpr std::uint64_t kGfx940 = 90400;
    for (const Device& gpu : snapshot.gpus) {
        for (const KfdNode& node : gpu.amd.kfd_nodes) {
            if (!node.gfx_target_version.known() || *node.gfx_target_version < kGfx940) return true;
        }
        if (gpu.vendor == Vendor::amd && gpu.amd.kfd_nodes.empty()) return true;
    }
    return false;
}

void read_telemetry(const Target& target, Progress& progress, Snapshot& snapshot, bool first) {
    const bool again = !first && reading_resets_counts(snapshot);
    vendor::read_amdgpu_telemetry(target.root, snapshot, again);
    if (again) {
        for (Device& gpu : snapshot.gpus) gpu.telemetry.first.amd = std::move(gpu.telemetry.last.amd);
    }
    vendor::read_units(target.root, snapshot.host);
    const ReadingPlan plan{
        target.libraries, target.answers, std::chrono::steady_clock::now(),
        [&](std::string_view what, std::chrono::milliseconds at_most) { progress.wait(what, at_most); }};
    read_libraries(target.root, plan, kVendorDeadline, snapshot);
}

std::string tables_of(const Snapshot& snapshot) {
    const std::string telemetry = listing::telemetry_table(snapshot, listing::output_width());
    return table_of(snapshot) + (telemetry.empty() ? "" : "\n" + telemetry);
}

}  // namespace

int list(const cli::ListOptions& options) {
    auto opened = open_target(options.machine);
    if (const auto* error = std::get_if<std::string>(&opened)) {
        log_error(*error);
        return kUsage;
    }
    Target& target = std::get<Target>(opened);
    const auto read = [&](const std::vector<std::string>& refused, Progress& progress, bool first) {
        target.root.refuse(refused);
        target.root.on_access([&](const host::Access& access) { progress.step(access.path); });
        Snapshot snapshot = read_machine(target, kNodeDeadlineMs);
        read_telemetry(target, progress, snapshot, first);
        return snapshot;
    };
    if (options.watch_s) return listing::watch(read, *options.watch_s, options.count);
    return listing::show_once(read, [&](const Snapshot& snapshot) {
        if (options.labels) return listing::labels_text(snapshot);
        if (options.topology && options.json) return dump_json(listing::topology_json(snapshot)) + "\n";
        if (options.topology) return listing::topology_text(snapshot, listing::output_width());
        return options.json ? dump_json(to_json(snapshot)) + "\n" : tables_of(snapshot);
    });
}

}  // namespace gpucheck
