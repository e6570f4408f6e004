// How facts of the vendors' interfaces are judged: which absence is an answer and which is not, and how far a
// counter ran. Said once, so that no check takes "not supported" for healthy or a lifetime total for today.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "checks/gpus.h"

namespace gpucheck {

/// The interface says that this GPU, mode or driver does not have it (NVML's NOT_SUPPORTED and
/// FUNCTION_NOT_FOUND, a symbol that the library does not export): nobody failed to look.
bool not_offered(const Missing& missing);
/// Nobody asked in this run, or the recorded machine does not hold it.
bool not_asked(const Missing& missing);

/// `telemetry.unread`, unknown, with the reason.
Finding unread_fact(Subject subject, std::string expected, const Missing& missing);
/// not_applicable under the check's `id` where the interface does not offer the fact, else unread_fact().
Finding missing_fact(std::string_view id, Subject subject, std::string expected, const Missing& missing);

/// A second reading was made in this run.
bool read_twice(const Device& gpu);
/// Seconds between the two readings; always above 0 when known.
Fact<double> seconds_between(const Device& gpu);
/// How far a counter ran between two readings. One that went backwards was reset or wrapped: what it shows
/// now was then counted since, which is the least that happened. Missing with one reading only.
Fact<std::uint64_t> growth(const Fact<std::uint64_t>& first, const Fact<std::uint64_t>& last);
/// 0 to 1: the part of the run that a counter of nanoseconds covers.
Fact<double> share_of_run(const Device& gpu, const Fact<std::uint64_t>& grown_ns);
/// "3.2 %".
std::string percent_text(double share);

/// The newer reading of a fact that was read twice, else the one there is.
template <class T>
const Fact<T>& newer(const Fact<T>& first, const Fact<T>& last) {
    return last.known() ? last : first;
}

// NVIDIA: facts by part and member, as in newest(gpu, &NvidiaTelemetry::ecc, &NvEcc::current).
template <class Part, class T>
const Fact<T>& newest(const Device& gpu, Part NvidiaTelemetry::*part, Fact<T> Part::*fact) {
    return newer(gpu.telemetry.first.nvidia.*part.*fact, gpu.telemetry.last.nvidia.*part.*fact);
}
template <class Part>
Fact<std::uint64_t> growth(const Device& gpu, Part NvidiaTelemetry::*part, Fact<std::uint64_t> Part::*fact) {
    return growth(gpu.telemetry.first.nvidia.*part.*fact, gpu.telemetry.last.nvidia.*part.*fact);
}

/// The GPUs bound to nvidia that the judged process may use: without those that the driver was told to leave
/// out, and without those that were not passed into its container.
Gpus usable_nvidia(const Snapshot& snapshot);
/// Those of them that NVML answers for. The others get one `telemetry.unread` for each reason: why NVML does
/// not answer is for nvml.coverage to judge.
Gpus answering_nvidia(const Snapshot& snapshot, const std::string& expected, Findings& findings);
NotApplicable without_usable_nvidia(const Snapshot& snapshot);

/// A systemd unit as its files and its cgroup show it. Unknown in a container, whose files are not the
/// host's.
enum class UnitState { unknown, not_installed, stopped, running };
UnitState unit_state(const Host& host, std::string_view name);
/// "nvidia-fabricmanager.service is not installed".
std::string unit_text(std::string_view name, UnitState state);

/// A slice of a GPU (MIG, or a vGPU of somebody's host): NVML then leaves out much, rightly.
bool sliced(const Device& gpu);
/// "MIG is on", "a vGPU"; empty for a whole GPU.
std::string slice_text(const Device& gpu);
/// compute capability of the board times ten: 90 for sm_90; 0 when the board is unknown.
unsigned compute_capability(const Device& gpu);

}  // namespace gpucheck
