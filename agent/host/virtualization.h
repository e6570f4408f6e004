// Guest or bare metal: a guest cannot see the real PCIe path or set host options, and must not be blamed for
// either.
#pragma once

#include <string>

#include "agent/host/sysroot.h"
#include "checks/model/host.h"

namespace gpucheck::host {

/// "none" only on positive evidence of bare metal; "kvm", "vmware", "hyperv", "xen", "virtualbox",
/// "parallels", "bhyve", "apple" or "unknown" (a hypervisor that does not say its name) on evidence of a
/// guest; else Missing.
Fact<std::string> read_hypervisor(const Sysroot& root, const Dmi& dmi);

}  // namespace gpucheck::host
