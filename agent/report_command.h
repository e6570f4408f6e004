// `gpucheck report`: what became of a report after the run that made it.
#pragma once

#include "agent/cli/options.h"

namespace gpucheck {

/// The exit status.
int report_command(const cli::ReportOptions& options);

}  // namespace gpucheck
