// `gpucheck fleet`: starts gpucheck-fleet, a program of its own, so that no GPU node carries a web server or
// a database client.
#pragma once

#include "agent/cli/options.h"

namespace gpucheck {

/// Does not return when it started the program; else the exit status, after a sentence on standard error.
int fleet_command(const cli::FleetOptions& options);

}  // namespace gpucheck
