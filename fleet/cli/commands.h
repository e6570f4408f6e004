// The commands of gpucheck-fleet; each returns the exit status.
#pragma once

#include "fleet/cli/options.h"

namespace gpucheck::fleet {

int summary(const SummaryOptions& options);
int baseline(const BaselineOptions& options);
int compare(const CompareOptions& options);
int html(const HtmlOptions& options);
int serve(const ServeCommand& options);

}  // namespace gpucheck::fleet
