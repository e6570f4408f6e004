// How amdgpu's telemetry files are judged: which absence is by design (a virtual function, a board without
// the unit) and which means that nobody could look. Said once, so that a guest is never blamed for its host's
// files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "checks/gpus.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {

/// The GPUs bound to amdgpu that the judged process may use.
Gpus usable_amd(const Snapshot& snapshot);
NotApplicable without_usable_amd(const Snapshot& snapshot);

/// Judges one GPU for one check.
using JudgeAmdGpu = void (*)(const Snapshot&, const Device&, Findings&);
/// Calls `judge` for each usable GPU. What could not be read for one and the same reason on several of them
/// becomes one finding of the host, with their number.
void judge_each_amd(const Snapshot& snapshot, Findings& findings, JudgeAmdGpu judge);

/// A virtual function, or a GPU of a guest: its host keeps some files.
bool in_guest(const Snapshot& snapshot, const Device& gpu);
/// One of the accelerators for data centres (gfx908, gfx90a, gfx94x, gfx95x): the others lack RAS, hives and
/// partitions rightly.
bool instinct(const Device& gpu);
/// gfx90a: reading its RAS counts sets them to zero.
bool counts_reset_on_read(const Device& gpu);

/// The firmware or the driver does not report this: all-ones, a field that the layout does not have, a file
/// that answers EOPNOTSUPP.
bool not_reported(const Missing& missing);
/// not_applicable with the reason where the absence is by design, else `telemetry.unread`. `on_instinct`: the
/// driver makes the file for data-centre boards, so that its absence there, on bare metal, is no answer.
Finding amd_gap(std::string_view id, const Snapshot& snapshot, const Device& gpu, std::string expected,
                const Missing& missing, bool on_instinct = true);

/// The newer of two readings: amd_newest(gpu, &AmdTelemetry::power_uw).
template <class T>
const Fact<T>& amd_newest(const Device& gpu, Fact<T> AmdTelemetry::*fact) {
    return newer(gpu.telemetry.first.amd.*fact, gpu.telemetry.last.amd.*fact);
}
template <class T>
const Fact<T>& amd_newest(const Device& gpu, Fact<T> AmdMetrics::*fact) {
    return newer(gpu.telemetry.first.amd.metrics.*fact, gpu.telemetry.last.amd.metrics.*fact);
}

}  // namespace gpucheck
