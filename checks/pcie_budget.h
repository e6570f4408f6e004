// How many replays a healthy PCIe link may have: a fixed number a minute has failed good Gen5 hosts
// (NVIDIA/DCGM#184), because a faster and wider link meets more bit errors at the same quality.
#pragma once

#include <cstdint>
#include <optional>

#include "checks/model/pcie.h"

namespace gpucheck {

/// Replays in `seconds` on a link at the bit error rate of 1e-12 that the PCI Express specification allows,
/// rounded up: GT/s times lanes errors in 1000 s. Never less than a minute's: errors come in bursts, and a
/// short run must not condemn one burst. nullopt for an unknown speed or a width that no link has.
std::optional<std::uint64_t> replay_budget(LinkSpeed speed, unsigned width, double seconds);

}  // namespace gpucheck
