// Whether anything sets the clock: a drifting one breaks TLS and tokens, and dates every finding wrongly.
#pragma once

#include "agent/host/sysroot.h"

namespace gpucheck::host {

/// True or false where something tells; Missing when no known service does.
Fact<bool> read_time_synchronized(const Sysroot& root);

}  // namespace gpucheck::host
