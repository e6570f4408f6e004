// Reads what amdgpu itself says about one GPU: partition mode, memory and firmware, where a machine that was
// sold whole shows that it is split, short or on old firmware.
#pragma once

#include "agent/host/sysroot.h"
#include "checks/model/device.h"

namespace gpucheck::host {

/// Fills gpu.amd, all but kfd_nodes, from the function's sysfs folder. `pcie_bw` is never read: it counts for
/// a second and blocks as long (amdgpu_pm.c).
void read_amdgpu(const Sysroot& root, Device& gpu);

}  // namespace gpucheck::host
