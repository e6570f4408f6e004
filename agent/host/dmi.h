// Who made the machine, by its firmware tables: a cloud's name there decides which facts a guest cannot have.
#pragma once

#include "agent/host/sysroot.h"
#include "checks/model/host.h"

namespace gpucheck::host {

/// /sys/class/dmi/id. The folder is absent on many arm64 machines and in sandboxes: Missing, never an error.
Dmi read_dmi(const Sysroot& root);

}  // namespace gpucheck::host
