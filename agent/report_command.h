// `gpucheck report`: what became of a report after the run that made it.
#pragma once

#include "agent/cli/options.h"

namespace gpucheck {

inline constexpr int kNotDelivered = 75;  ///< EX_TEMPFAIL: kept in the spool, not delivered

/// The exit status.
int report_command(const cli::ReportOptions& options);

}  // namespace gpucheck
