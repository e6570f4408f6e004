// `gpucheck cost` on the command line.
#pragma once

#include "agent/cli/options.h"

namespace CLI {
class App;
}

namespace gpucheck::cli {

void add_cost_options(CLI::App& app, CostOptions& options);

}  // namespace gpucheck::cli
