// What must be there, from the command line and the instance type together.
#pragma once

#include <string>
#include <variant>

#include "agent/cli/options.h"
#include "checks/model/snapshot.h"
#include "checks/specs/boards.h"

namespace gpucheck {

struct Promised {
    Instance instance;
    Expectations expected;
    std::vector<std::string> conflicts;  ///< --expect and the instance type disagree
};

/// The error is a sentence for the command line.
std::variant<Promised, std::string> promised(const cli::MachineOptions& options, const BoardTable& boards);

}  // namespace gpucheck
