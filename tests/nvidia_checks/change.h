// Changes one GPU's readings in a healthy machine.
#pragma once

#include <cstdint>

#include "checks/all.h"
#include "tests/checks/healthy_telemetry.h"

namespace gpucheck {

inline constexpr const char* kFirstGpu = "0000:19:00.0";

inline NvidiaTelemetry& first(Snapshot& machine, std::size_t gpu = 0) {
    return machine.gpus.at(gpu).telemetry.first.nvidia;
}
inline NvidiaTelemetry& last(Snapshot& machine, std::size_t gpu = 0) {
    return machine.gpus.at(gpu).telemetry.last.nvidia;
}

/// A counter, whatever type the literal has.
inline Fact<std::uint64_t> number(std::uint64_t value) {
    return fact(value);
}

/// The healthy H100 machine with both readings of its first GPU changed.
template <class Change>
Snapshot with(Change change) {
    Snapshot machine = telling_h100_x8();
    change(first(machine));
    change(last(machine));
    return machine;
}

/// What quick profiles have: no second reading.
inline void forget_second(Snapshot& machine) {
    for (Device& gpu : machine.gpus) gpu.telemetry.last = Reading{};
}

/// said() of the check for the H100 machine with both readings of its first GPU changed.
template <class Change>
std::string said_with(const Check& check, Change change) {
    return said(check, with(change));
}

}  // namespace gpucheck
