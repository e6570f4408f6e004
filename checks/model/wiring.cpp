// What links are expected to be; see wiring.h.
#include "checks/model/wiring.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace gpucheck {

bool on_superchip(const Device& gpu) {
    return gpu.board.known() && gpu.board->form == FormFactor::superchip;
}

bool asleep(const PciFunction& function) {
    return function.runtime_status.is("suspended") || function.runtime_status.is("suspending");
}

bool is_virtual_link(const PciLink& link) {
    return link.current_width.is(0U) && link.current_speed.is(LinkSpeed::unknown);
}

bool reads_all_ones(const PciLink& link, const Fact<std::uint16_t>& vendor) {
    return vendor.is(0xffff) || (link.current_width.is(63U) && link.current_speed.is(LinkSpeed::unknown));
}

std::optional<WantedWidth> wanted_width(const Snapshot& snapshot, const Device& gpu) {
    const Fact<unsigned>& promised = snapshot.expected.pcie_width;
    if (promised.known() && is_link_width(*promised)) return WantedWidth{*promised, true, promised.source()};
    if (!gpu.board.known()) return std::nullopt;
    const Fact<unsigned>& board = gpu.board->pcie_width;
    if (board.known() && is_link_width(*board)) return WantedWidth{*board, false, board.source()};
    return std::nullopt;
}

std::optional<WantedSpeed> wanted_speed(const Snapshot& snapshot, const Device& gpu) {
    const Fact<unsigned>& promised = snapshot.expected.pcie_generation;
    if (promised.known()) {
        if (const auto speed = link_speed_from_config(*promised))
            return WantedSpeed{*speed, true, promised.source()};
    }
    if (!gpu.board.known()) return std::nullopt;
    const Fact<LinkSpeed>& board = gpu.board->pcie_speed;
    if (board.known() && *board != LinkSpeed::unknown) return WantedSpeed{*board, false, board.source()};
    return std::nullopt;
}

bool narrow_by_design(const Device& gpu, unsigned lanes) {
    if (!gpu.board.known()) return false;
    const std::vector<unsigned>& widths = gpu.board->narrow_widths_by_design;
    return std::find(widths.begin(), widths.end(), lanes) != widths.end();
}

std::string link_text(LinkSpeed speed, unsigned width) {
    return std::string(text_of(speed)) + " x" + std::to_string(width);
}

std::string rate_text(double gb_s) {
    std::array<char, 32> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.1f GB/s", gb_s);
    return buffer.data();
}

}  // namespace gpucheck
