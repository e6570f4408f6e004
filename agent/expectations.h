// What must be there, from the command line, the config, the provider and the instance type together.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "agent/cli/options.h"
#include "agent/identify.h"
#include "checks/model/snapshot.h"
#include "checks/specs/boards.h"

namespace gpucheck {

struct Promised {
    Instance instance;
    Expectations expected;
    std::vector<std::string> conflicts;  ///< two of them disagree
    /// A type that no row knows, so that it promises nothing: who named it, and which. Missing: there is
    /// none, or something else tells how many GPUs there must be.
    Fact<std::string> unknown_type;
    bool type_by_option = false;  ///< the operator named provider or type, so that the promise was meant
};

/// --expect > config > the provider's own word > the type's row. The error is a sentence for the command
/// line. Without `who` nobody was asked: what the options say is all there is.
std::variant<Promised, std::string> promised(const cli::MachineOptions& options, const BoardTable& boards,
                                             const Identified* who = nullptr);

}  // namespace gpucheck
