// The telemetry table of `list`: what people start nvidia-smi, nvidia-smi dmon and rocm-smi for, in one form
// for both vendors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checks/model/snapshot.h"

namespace gpucheck::listing {

/// A running total, plain enough to live in memory that two processes share.
struct Total {
    bool known = false;
    std::uint64_t value = 0;
};

/// What rates are made of.
struct Totals {
    Bdf bdf;
    Total energy_uj, uncorrectable, correctable;
    Total power_ns, thermal_ns;               ///< NVIDIA: time below the wanted clocks
    Total steps, power_steps, thermal_steps;  ///< AMD: residencies and what they are counted in
};

Totals totals_of(const Device& gpu);

/// The totals of an earlier reading, for the columns that are rates; `seconds` lie between.
struct Earlier {
    const Totals* gpus = nullptr;
    std::size_t count = 0;
    double seconds = 0;
};

/// One line a GPU and a header with units. Columns that nobody could fill are left out; empty without GPUs
/// and when no telemetry was read at all.
std::string telemetry_table(const Snapshot& snapshot, std::size_t width, const Earlier& earlier = {});

}  // namespace gpucheck::listing
