// The commands of gpucheck-fleet; each returns the exit status.
#pragma once

#include "fleet/cli/options.h"

namespace gpucheck::fleet {

int summary(const SummaryOptions& options);

}  // namespace gpucheck::fleet
