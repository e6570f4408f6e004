// Replays that a healthy link may have; see pcie_budget.h.
#include "checks/pcie_budget.h"

#include <algorithm>
#include <cmath>

namespace gpucheck {
namespace {

double gigatransfers(LinkSpeed speed) {
    switch (speed) {
        case LinkSpeed::gen1:
            return 2.5;
        case LinkSpeed::gen2:
            return 5;
        case LinkSpeed::gen3:
            return 8;
        case LinkSpeed::gen4:
            return 16;
        case LinkSpeed::gen5:
            return 32;
        case LinkSpeed::gen6:
            return 64;
        case LinkSpeed::gen7:
            return 128;
        case LinkSpeed::unknown:
            break;
    }
    return 0;
}

}  // namespace

std::optional<std::uint64_t> replay_budget(LinkSpeed speed, unsigned width, double seconds) {
    const double rate = gigatransfers(speed);
    // A year is more than any run; the comparison is written so that NaN fails too.
    if (rate == 0 || !is_link_width(width) || !(seconds > 0 && seconds < 366.0 * 86400)) return std::nullopt;
    return static_cast<std::uint64_t>(std::ceil(rate * width * std::max(seconds, 60.0) / 1000));
}

}  // namespace gpucheck
