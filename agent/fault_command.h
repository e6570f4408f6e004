// `gpucheck report render` and `gpucheck report send --to`: a report in the words of a provider.
#pragma once

#include "agent/cli/options.h"

namespace gpucheck {

/// Prints the requests for `options.as`. The exit status: 0 also when the report has nothing to tell.
int render_fault(const cli::ReportOptions& options);

/// Sends them to `options.to` under this instance's identity: 0 when they were taken, or there was nothing to
/// send; 64 when they must not be sent; 75 when they could not be.
int send_fault(const cli::ReportOptions& options);

}  // namespace gpucheck
