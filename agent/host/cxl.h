// Lists CXL memory devices: memory that an instance may count as its own although it answers several times
// slower.
#pragma once

#include <vector>

#include "agent/host/sysroot.h"
#include "checks/model/host.h"

namespace gpucheck::host {

/// /sys/bus/cxl/devices/mem*, by number. Empty when the kernel has no CXL bus or it could not be listed.
std::vector<CxlMemory> read_cxl(const Sysroot& root);

}  // namespace gpucheck::host
