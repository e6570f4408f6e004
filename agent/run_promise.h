// The part of a run that finds out what was promised: before anything is judged, and never longer than it may
// take.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/cli/options.h"
#include "agent/machine.h"
#include "agent/supervise/supervise.h"

namespace gpucheck {

/// An earlier try of this run hung in `what`.
inline bool was_given_up(const std::vector<std::string>& refused, std::string_view what) {
    return std::find(refused.begin(), refused.end(), what) != refused.end();
}

/// Fills target.promise by who the provider says that we are. Where options and machine disagree, the
/// sentences; or the one for the command line when the options cannot be used.
std::variant<std::vector<std::string>, std::string> find_out_who(const cli::RunOptions& options,
                                                                 Target& target,
                                                                 std::chrono::milliseconds budget,
                                                                 const std::vector<std::string>& refused,
                                                                 Progress& progress);

/// The price of what is here, by the snapshot that was read.
Fact<HourlyPrice> price_now(const cli::RunOptions& options, const host::Sysroot& root,
                            const Snapshot& snapshot);

}  // namespace gpucheck
