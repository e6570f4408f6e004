// Opens the machine that the options name and reads its facts into a snapshot.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "agent/cli/options.h"
#include "agent/expectations.h"
#include "agent/host/sysroot.h"
#include "agent/readings.h"
#include "checks/model/snapshot.h"
#include "checks/specs/boards.h"

namespace gpucheck {

/// What every command that looks at a machine needs, opened and checked before anything is read.
struct Target {
    BoardTable boards;
    Promised promise;
    host::Sysroot root;
    std::string kernel_log;
    vendor::LibrarySource libraries;
    std::optional<vendor::RecordedAnswers> answers;  ///< of a recorded machine's vendor.json
};

/// The error is a sentence for the command line.
std::variant<Target, std::string> open_target(const cli::MachineOptions& options);

/// All facts from files but telemetry (see readings.h), the boards and the expectations.
Snapshot read_machine(const Target& target, int node_deadline_ms);

}  // namespace gpucheck
