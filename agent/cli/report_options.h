// `gpucheck report ...` on the command line.
#pragma once

#include "agent/cli/options.h"

namespace CLI {
class App;
}

namespace gpucheck::cli {

/// Adds the command and its subcommands to `app`; the one that was given sets `options.verb`.
CLI::App* add_report_command(CLI::App& app, ReportOptions& options);

}  // namespace gpucheck::cli
