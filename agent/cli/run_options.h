// `gpucheck` and `gpucheck run` on the command line.
#pragma once

#include <string>

#include "agent/cli/options.h"

namespace CLI {
class App;
}

namespace gpucheck::cli {

/// `format`: the text of --format, which decides nothing before it was parsed.
void add_run_options(CLI::App& app, RunOptions& options, std::string& format);

}  // namespace gpucheck::cli
