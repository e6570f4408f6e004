// Speed tables and the bandwidth of a path; see pcie.h.
#include "checks/model/pcie.h"

#include <array>
#include <cstddef>

namespace gpucheck {
namespace {

using namespace std::string_view_literals;

struct SpeedRow {
    LinkSpeed speed;
    std::string_view name, text, old_text;  // old kernels print whole numbers without the decimal
    double lane_gb_s;                       // after line coding
};
// GT/s * coding / 8 bits: 8b/10b, 128b/130b, then 242/256 of a FLIT (PCI Express Base
// Specification 6.0, 4.2.3).
constexpr std::array kSpeeds{
    SpeedRow{LinkSpeed::unknown, "unknown"sv, "Unknown"sv, "Unknown speed"sv, 0.0},
    SpeedRow{LinkSpeed::gen1, "gen1"sv, "2.5 GT/s"sv, "2.5 GT/s"sv, 2.5 * 0.8 / 8},
    SpeedRow{LinkSpeed::gen2, "gen2"sv, "5.0 GT/s"sv, "5 GT/s"sv, 5.0 * 0.8 / 8},
    SpeedRow{LinkSpeed::gen3, "gen3"sv, "8.0 GT/s"sv, "8 GT/s"sv, 8.0 * 128 / 130 / 8},
    SpeedRow{LinkSpeed::gen4, "gen4"sv, "16.0 GT/s"sv, "16 GT/s"sv, 16.0 * 128 / 130 / 8},
    SpeedRow{LinkSpeed::gen5, "gen5"sv, "32.0 GT/s"sv, "32 GT/s"sv, 32.0 * 128 / 130 / 8},
    SpeedRow{LinkSpeed::gen6, "gen6"sv, "64.0 GT/s"sv, "64 GT/s"sv, 64.0 * 242 / 256 / 8},
    SpeedRow{LinkSpeed::gen7, "gen7"sv, "128.0 GT/s"sv, "128 GT/s"sv, 128.0 * 242 / 256 / 8},
};

const SpeedRow& row_of(LinkSpeed speed) {
    const auto index = static_cast<std::size_t>(speed);
    return kSpeeds[index < kSpeeds.size() ? index : 0];
}

}  // namespace

std::optional<LinkSpeed> link_speed_from(std::string_view text) {
    constexpr std::string_view kSuffix = " PCIe";
    if (text.ends_with(kSuffix)) text.remove_suffix(kSuffix.size());
    for (const SpeedRow& row : kSpeeds) {
        if (text == row.text || text == row.old_text) return row.speed;
    }
    return std::nullopt;
}

std::optional<LinkSpeed> link_speed_from_config(unsigned encoded) {
    if (encoded == 0 || encoded >= kSpeeds.size()) return std::nullopt;
    return static_cast<LinkSpeed>(encoded);
}

unsigned generation(LinkSpeed speed) {
    return static_cast<unsigned>(speed);
}
std::string_view text_of(LinkSpeed speed) {
    return row_of(speed).text;
}
std::string_view name_of(LinkSpeed speed) {
    return row_of(speed).name;
}

std::optional<LinkSpeed> link_speed_named(std::string_view name) {
    for (const SpeedRow& row : kSpeeds) {
        if (name == row.name) return row.speed;
    }
    return std::nullopt;
}

bool is_link_width(unsigned width) {
    return width == 1 || width == 2 || width == 4 || width == 8 || width == 12 || width == 16 || width == 32;
}

std::optional<double> link_bandwidth_gb_s(LinkSpeed speed, unsigned width) {
    if (speed == LinkSpeed::unknown || !is_link_width(width)) return std::nullopt;
    return row_of(speed).lane_gb_s * width;
}

std::optional<PathBandwidth> path_bandwidth(const PciFunction& function, bool use_max) {
    std::optional<PathBandwidth> slowest;
    bool complete = true;
    const auto visit = [&](const Bdf& bdf, const PciLink& link) {
        const Fact<LinkSpeed>& speed = use_max ? link.max_speed : link.current_speed;
        const Fact<unsigned>& width = use_max ? link.max_width : link.current_width;
        if (!speed.known() || !width.known()) {
            complete = false;
            return;
        }
        const std::optional<double> rate = link_bandwidth_gb_s(speed.value(), width.value());
        if (!rate) {
            complete = false;
            return;
        }
        if (!slowest || *rate < slowest->gb_s) {
            slowest = PathBandwidth{*rate, bdf, speed.value(), width.value(), false};
        }
    };
    visit(function.bdf, function.link);
    for (const PciPort& port : function.path) {
        if (port.emulated()) {
            complete = false;
            continue;
        }
        visit(port.bdf, port.link);
    }
    if (function.path.empty()) complete = false;
    if (slowest) slowest->complete = complete;
    return slowest;
}

}  // namespace gpucheck
