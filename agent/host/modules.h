// Says why no driver took the GPUs: not built for the running kernel, forbidden by a line somebody forgot, or
// another module there first.
#pragma once

#include <string>
#include <vector>

#include "agent/host/sysroot.h"
#include "checks/model/host.h"

namespace gpucheck::host {

/// One entry for each module that matters (amdgpu, nvidia and its companions, nouveau, vfio_pci, gim ...),
/// loaded or not, in a fixed order. `kernel_release` chooses the tree below /lib/modules; `cmdline` is
/// searched for blacklists.
std::vector<Module> read_modules(const Sysroot& root, const Fact<std::string>& kernel_release,
                                 const Fact<std::string>& cmdline);

}  // namespace gpucheck::host
