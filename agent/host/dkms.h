// Tells whether the GPU driver was built for the kernel that runs: after a kernel upgrade the old build is
// still "installed", for another kernel, and the GPUs have no driver.
#pragma once

#include <vector>

#include "agent/host/sysroot.h"
#include "checks/model/host.h"

namespace gpucheck::host {

/// The GPU driver trees of /var/lib/dkms (amdgpu, gim, nvidia and its variants), each version judged for the
/// running kernel. When the folder exists but cannot be read, one entry "*" whose state says why.
std::vector<DkmsTree> read_dkms(const Sysroot& root, const Fact<std::string>& kernel_release);

}  // namespace gpucheck::host
