// The part of a run between two looks at the files: what the vendors' interfaces say and what kernels on the
// GPUs show, within the time that judging leaves.
#pragma once

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "agent/boot_marker.h"
#include "agent/cli/options.h"
#include "agent/machine.h"
#include "agent/supervise/supervise.h"
#include "checks/model/snapshot.h"
#include "kernels/experiments/settings.h"

namespace gpucheck {

/// How the experiments are to be made, or the sentence for the command line.
std::variant<experiments::Settings, std::string> settings_of(const cli::RunOptions& options);

/// When a run began, when it must end, and what hung in its earlier tries.
struct RunTime {
    std::chrono::steady_clock::time_point start, end;
    std::chrono::milliseconds budget;
    const std::vector<std::string>& refused;
};

/// The vendors' facts: once in a quick run, at both ends of a longer one, with the burn-in between them.
void read_vendors(const cli::RunOptions& options, const Target& target, const RunTime& time,
                  const experiments::Settings& settings, Progress& progress, boot::RunMarker& marker,
                  Snapshot& snapshot);

}  // namespace gpucheck
