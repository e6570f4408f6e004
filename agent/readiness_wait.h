// Waits until the GPUs that the bus shows can be judged, or until the deadline, whatever hangs meanwhile.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/host/sysroot.h"
#include "agent/readiness.h"
#include "agent/report/report.h"
#include "agent/supervise/supervise.h"
#include "checks/model/snapshot.h"

namespace gpucheck::readiness {

struct WaitOptions {
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    Fact<unsigned> promised;  ///< GPUs that must be there
    std::optional<std::chrono::milliseconds>
        limit;  ///< nullopt: automatic_limit of the GPUs seen or promised
    std::chrono::milliseconds shortest{250}, longest{1000};  ///< between looks
    std::chrono::milliseconds stall{20'000};                 ///< a file that takes longer is left out
    /// Asks NVML for handles and fabric, in children; may take what it is given. Empty: it is not asked.
    std::function<void(Snapshot&, std::chrono::milliseconds)> ask_nvml;
    /// Each change of state, as it comes.
    std::function<void(const State&, std::chrono::milliseconds at)> on_change;
};

/// Looks until everything is there or `limit` is over; the last state. Call it where a hang is allowed.
State wait(const host::Sysroot& root, const WaitOptions& options, Progress& progress,
           report::Readiness& readiness);

/// The same in a supervised child: it returns soon after the limit even when every file hangs.
report::Readiness wait_supervised(host::Sysroot& root, const WaitOptions& options);

/// driver.not_ready when the limit ran out; what was waited for otherwise.
Finding finding_of(const report::Readiness& readiness, std::string_view check_id);

/// Failures that may only say "not yet", while somebody was still at work when the limit ran out: they
/// become unknown, with the reason.
void excuse(const report::Readiness& readiness, std::vector<report::CheckLine>& checks);

}  // namespace gpucheck::readiness
