// What a run says, from what it found: a run that broke off must read as one that does not know, and never as
// a short one that found nothing wrong.
#pragma once

#include <optional>

#include "agent/cli/options.h"
#include "agent/report/report.h"
#include "agent/supervise/supervise.h"
#include "checks/model/finding.h"

namespace gpucheck {

/// The check "run": what the run itself has to say, so that every format shows it. Without findings: a pass.
report::CheckLine run_line(Findings findings);

/// A new report of a run with these options, about nothing yet: its verdict is unknown.
report::Report blank_report(const cli::RunOptions& options);

/// All checks on the report's snapshot, and the verdict.
void judge(report::Report& report);

/// What is left to say when no child could finish in time: no check was made. `before`: findings from before
/// the run.
report::Report out_of_time_report(const cli::RunOptions& options,
                                  const std::optional<report::Readiness>& readiness, const Findings& before,
                                  const Outcome& outcome, const Supervision& limits);

}  // namespace gpucheck
