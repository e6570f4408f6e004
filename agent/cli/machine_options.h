// Options about the machine that is looked at: which one, what was promised, whom to ask about it, what it
// costs.
#pragma once

#include "agent/cli/options.h"

namespace CLI {
class App;
}

namespace gpucheck::cli {

/// --machine, --expect, --provider, --instance-type, --driver-dir, --kernel-log, --specs.
void add_machine_options(CLI::App& app, MachineOptions& options);
/// --metadata, --metadata-base, --provider-token, --api-base.
void add_metadata_options(CLI::App& app, MachineOptions& options);
/// --price of `run`.
void add_price_option(CLI::App& app, RunOptions& options);

}  // namespace gpucheck::cli
