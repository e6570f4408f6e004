// Shortens the facts of a GPU to what fits one line; see gpu_rows.h.
#include "agent/report/gpu_rows.h"

#include <array>
#include <cstdio>

#include "agent/report/escape.h"
#include "agent/report/words.h"

namespace gpucheck::report {
namespace {

constexpr std::size_t kCellBytes = 48;

std::string hex4(const Fact<std::uint16_t>& id) {
    if (!id.known()) return "????";
    std::array<char, 8> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%04x", id.value());
    return buffer.data();
}

std::string board_cell(const Device& gpu) {
    if (gpu.board.known()) return plain(gpu.board->name, kCellBytes);
    return hex4(gpu.pci.vendor) + ":" + hex4(gpu.pci.device) + " (no data row)";
}

std::string driver_cell(const Device& gpu, const Host& host) {
    if (!gpu.pci.driver.known() && !gpu.pci.driver.absent())
        return "? " + plain(gpu.pci.driver.why(), kCellBytes);
    if (gpu.pci.driver.absent() || gpu.pci.driver.value().empty()) return "none";
    const std::string& driver = gpu.pci.driver.value();
    if (driver == "nvidia" && host.nvidia.version.known())
        return "nvidia " + plain(host.nvidia.version.value(), kCellBytes);
    const Module* module = host.module(driver);
    const bool versioned = module != nullptr && module->version.known();
    return plain(driver, kCellBytes) + (versioned ? " " + plain(module->version.value(), kCellBytes) : "");
}

std::string link_text(bool speed_known, unsigned gen, bool width_known, unsigned width) {
    if (!speed_known && !width_known) return "?";
    return (speed_known && gen > 0 ? "Gen" + std::to_string(gen) : std::string("Gen?")) + " x" +
           (width_known ? std::to_string(width) : "?");
}

// What the link should be: as somebody promised, else as the board can.
struct Wanted {
    std::optional<unsigned> generation, width;
};
Wanted wanted(const Device& gpu, const Expectations& expected) {
    Wanted wanted;
    if (gpu.board.known()) {
        if (gpu.board->pcie_speed.known()) wanted.generation = generation(gpu.board->pcie_speed.value());
        if (gpu.board->pcie_width.known()) wanted.width = gpu.board->pcie_width.value();
    }
    if (expected.pcie_generation.known()) wanted.generation = expected.pcie_generation.value();
    if (expected.pcie_width.known()) wanted.width = expected.pcie_width.value();
    return wanted;
}

std::string link_cell(const Device& gpu, const Expectations& expected) {
    const PciLink& link = gpu.pci.link;
    const Wanted want = wanted(gpu, expected);
    const bool speed = link.current_speed.known(), width = link.current_width.known();
    return link_text(speed, speed ? generation(link.current_speed.value()) : 0, width,
                     width ? link.current_width.value() : 0) +
           "/" +
           link_text(want.generation.has_value(), want.generation.value_or(0), want.width.has_value(),
                     want.width.value_or(0));
}

std::string nodes_cell(const Device& gpu) {
    if (gpu.nodes.empty()) return "none";
    std::size_t open = 0;
    std::string trouble;
    for (const DeviceNode& node : gpu.nodes) {
        if (node.open_rw.is("ok")) {
            ++open;
        } else if (trouble.empty()) {
            trouble = node.open_rw.known() ? node.open_rw.value() : "?";
        }
    }
    return std::to_string(open) + "/" + std::to_string(gpu.nodes.size()) + (trouble.empty() ? "" : " ") +
           plain(trouble, kCellBytes);
}

std::string partition_cell(const Device& gpu) {
    if (gpu.vendor != Vendor::amd) return {};
    const auto part = [](const Fact<std::string>& fact) {
        return fact.known() ? plain(fact.value(), kCellBytes) : std::string("?");
    };
    const std::string compute = part(gpu.amd.compute_partition), memory = part(gpu.amd.memory_partition);
    if (compute == "?" && memory == "?" && gpu.amd.kfd_nodes.size() < 2) return {};
    const std::size_t logical = gpu.amd.kfd_nodes.size();
    return compute + "/" + memory + (logical > 1 ? " x" + std::to_string(logical) : "");
}

std::string without_name(const GpuRow& row) {
    return row.board + '\n' + row.driver + '\n' + row.link + '\n' + row.nodes + '\n' + row.partition + '\n' +
           std::string(name_of(row.verdict));
}

std::vector<GpuRow> folded(const std::vector<GpuRow>& rows) {
    std::vector<GpuRow> result;
    std::vector<std::size_t> counts;
    for (const GpuRow& row : rows) {
        std::size_t i = 0;
        while (i < result.size() && without_name(result[i]) != without_name(row)) ++i;
        if (i == result.size()) {
            result.push_back(row);
            counts.push_back(0);
        }
        ++counts[i];
    }
    for (std::size_t i = 0; i < result.size(); ++i) {
        if (counts[i] > 1) result[i].gpu += " +" + std::to_string(counts[i] - 1);
    }
    return result;
}

}  // namespace

const std::vector<std::string>& gpu_header() {
    static const std::vector<std::string> header{"GPU",   "Board",     "Driver", "Link now/expected",
                                                 "Nodes", "Partition", "Verdict"};
    return header;
}

std::vector<std::string> cells(const GpuRow& row) {
    return {
        row.gpu, row.board, row.driver, row.link, row.nodes, row.partition, std::string(shout(row.verdict))};
}

std::vector<GpuRow> gpu_rows(const Report& report, const View& view, std::size_t fold_above) {
    std::vector<GpuRow> rows;
    const Snapshot& snapshot = report.snapshot;
    for (std::size_t i = 0; i < snapshot.gpus.size(); ++i) {
        const Device& gpu = snapshot.gpus[i];
        rows.push_back({gpu.bdf.str(), board_cell(gpu), driver_cell(gpu, snapshot.host),
                        link_cell(gpu, snapshot.expected), nodes_cell(gpu), partition_cell(gpu),
                        view.gpus[i]});
    }
    return rows.size() > fold_above ? folded(rows) : rows;
}

bool some_link_rests(const Report& report, const View& view) {
    for (std::size_t i = 0; i < report.snapshot.gpus.size(); ++i) {
        const Device& gpu = report.snapshot.gpus[i];
        const Wanted want = wanted(gpu, report.snapshot.expected);
        const Fact<LinkSpeed>& now = gpu.pci.link.current_speed;
        if (view.gpus[i] == Verdict::pass && now.known() && now.value() != LinkSpeed::unknown &&
            want.generation && generation(now.value()) < *want.generation) {
            return true;
        }
    }
    return false;
}

}  // namespace gpucheck::report
