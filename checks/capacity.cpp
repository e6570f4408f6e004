// Shares of a board; see capacity.h.
#include "checks/capacity.h"

#include <array>
#include <limits>
#include <string_view>

namespace gpucheck {
namespace {

struct Mode {
    std::string_view name;
    unsigned partitions;
};
// CPX is one partition a die: its number comes from the board.
constexpr std::array kModes{Mode{"SPX", 1}, Mode{"DPX", 2}, Mode{"TPX", 3}, Mode{"QPX", 4}};

std::optional<unsigned> from_mode(const Device& gpu) {
    const Fact<std::string>& mode = gpu.amd.compute_partition;
    if (!mode.known()) return std::nullopt;
    for (const Mode& row : kModes) {
        if (mode.value() == row.name) return row.partitions;
    }
    if (mode.value() == "CPX" && gpu.board.known() && gpu.board->partitions_max.known()) {
        return gpu.board->partitions_max.value();
    }
    return std::nullopt;
}

}  // namespace

std::optional<unsigned> partitions_of(const Device& gpu) {
    const auto& nodes = gpu.amd.kfd_nodes;
    if (nodes.empty()) return std::nullopt;
    if (const auto known = from_mode(gpu)) return known;
    if (nodes.size() == 1) return 1;
    if (!gpu.board.known() || !gpu.board->partitions_max.known() || !nodes.front().num_xcc.known())
        return std::nullopt;
    const std::uint64_t dies = gpu.board->partitions_max.value();
    const std::uint64_t each = nodes.front().num_xcc.value();
    if (each == 0 || each > dies || dies % each != 0) return std::nullopt;
    return static_cast<unsigned>(dies / each);
}

std::optional<std::uint64_t> units_of(const AmdGpu& gpu) {
    if (gpu.kfd_nodes.empty()) return std::nullopt;
    std::uint64_t sum = 0;
    for (const KfdNode& node : gpu.kfd_nodes) {
        if (!node.simd_count.known() || !node.simd_per_cu.known() || node.simd_per_cu.value() == 0)
            return std::nullopt;
        const std::uint64_t units = node.simd_count.value() / node.simd_per_cu.value();
        if (units > std::numeric_limits<std::uint32_t>::max())
            return std::nullopt;  // no such chip: a damaged file
        sum += units;
    }
    return sum;
}

std::optional<std::uint64_t> share_of(const Device& gpu, std::uint64_t whole) {
    const std::optional<unsigned> partitions = partitions_of(gpu);
    const std::size_t present = gpu.amd.kfd_nodes.size();
    if (!partitions || *partitions == 0) return std::nullopt;
    if (present >= *partitions) return whole;
    return whole / *partitions * present;
}

unsigned slice_of(const Device& gpu) {
    if (!gpu.board.known() || !gpu.board->virtual_function || !gpu.board->compute_units.known()) return 1;
    const auto units = units_of(gpu.amd);
    const std::uint64_t whole = gpu.board->compute_units.value();
    if (!units || *units == 0 || gpu.amd.kfd_nodes.size() != 1) return 1;
    for (const unsigned parts : {2U, 4U, 8U}) {
        if (*units * parts == whole) return parts;
    }
    return 1;
}

}  // namespace gpucheck
