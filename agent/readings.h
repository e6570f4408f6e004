// Reads what only the vendors' interfaces know, once or at both ends of a run, from where the machine keeps
// it: its libraries, its files, or the answers that a recorded machine brought along.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

#include "agent/host/sysroot.h"
#include "agent/vendor/library.h"
#include "agent/vendor/recorded.h"
#include "checks/model/snapshot.h"

namespace gpucheck {

/// What a run waits for while children ask vendor libraries; a run that was given up there leaves them out.
inline constexpr std::string_view kVendorLibraries = "libnvidia-ml.so.1";

/// Apart at least: what drivers average over a second tells nothing below it.
inline constexpr std::chrono::milliseconds kBetweenReadings{1000};

/// Where vendor facts come from, and how long that may take.
struct ReadingPlan {
    vendor::LibrarySource libraries;
    std::optional<vendor::RecordedAnswers> answers;  ///< of vendor.json; they win over libraries
    std::chrono::steady_clock::time_point start;     ///< of the run
    /// Before a wait for children, which is no hang: what for, and for how long at most.
    std::function<void(std::string_view what, std::chrono::milliseconds at_most)> waiting;
};

/// What libraries say, or what a recorded machine kept of it, as the first reading.
void read_libraries(const host::Sysroot& root, const ReadingPlan& plan, std::chrono::milliseconds deadline,
                    Snapshot& snapshot);
/// The same and what files say: the first reading of every GPU. NVML gets `deadline`, for all GPUs together.
void read_first(const host::Sysroot& root, const ReadingPlan& plan, std::chrono::milliseconds deadline,
                Snapshot& snapshot);
/// The last one, at least a second later: it sleeps for what is left of it. A recorded machine brought its
/// own.
void read_last(const host::Sysroot& root, const ReadingPlan& plan, std::chrono::milliseconds deadline,
               Snapshot& snapshot);

/// Was every GPU that has its vendor's driver read? Missing: the first that was not, and why.
Fact<bool> telemetry_was_read(const Snapshot& snapshot);

}  // namespace gpucheck
