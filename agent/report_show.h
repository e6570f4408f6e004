// What waits in the spool, for people and programs: a report that was refused for good must not be found by
// nobody.
#pragma once

#include "agent/cli/options.h"
#include "agent/delivery.h"

namespace gpucheck {

int list_reports(const DeliveryPlan& plan, bool json);
/// One report, or the key of this machine.
int show_report(const DeliveryPlan& plan, const cli::ReportOptions& options);

}  // namespace gpucheck
