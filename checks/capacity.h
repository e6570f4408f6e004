// How much of a board the logical nodes of one GPU stand for, so that a partition that lost its node is not
// taken for lost compute units or memory.
#pragma once

#include <cstdint>
#include <optional>

#include "checks/model/device.h"

namespace gpucheck {

/// KFD nodes that a whole GPU has in its compute partition mode: SPX 1, DPX 2, TPX 3, QPX 4, CPX one a die.
/// Without the mode it follows from num_xcc of the nodes; nullopt when neither tells.
std::optional<unsigned> partitions_of(const Device& gpu);

/// Compute units of all its KFD nodes together; nullopt when one of them does not tell, or there is none.
std::optional<std::uint64_t> units_of(const AmdGpu& gpu);

/// The part of `whole` that belongs to the nodes that are there: 7 of 8 partitions have 7/8. nullopt without
/// partitions_of.
std::optional<std::uint64_t> share_of(const Device& gpu, std::uint64_t whole);

/// For a virtual function that is exactly a half, a quarter or an eighth of its board (an SR-IOV slice): 2, 4
/// or 8; else 1.
unsigned slice_of(const Device& gpu);

}  // namespace gpucheck
