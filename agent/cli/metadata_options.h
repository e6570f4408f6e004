// Options about the provider: whether it is asked, where, and what the instance costs.
#pragma once

#include "agent/cli/options.h"

namespace CLI {
class App;
}

namespace gpucheck::cli {

/// --metadata, --metadata-base, --provider-token, --api-base.
void add_metadata_options(CLI::App& app, MachineOptions& options);
/// --price of `run`.
void add_price_option(CLI::App& app, RunOptions& options);

}  // namespace gpucheck::cli
