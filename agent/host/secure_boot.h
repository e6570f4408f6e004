// Whether the kernel refuses unsigned modules: a driver that Secure Boot rejects looks like a machine without
// GPUs.
#pragma once

#include <string>

#include "agent/host/sysroot.h"

namespace gpucheck::host {

/// From the EFI variable; false without EFI. Missing where a container hides the firmware's folder.
Fact<bool> read_secure_boot(const Sysroot& root);
/// "none", "integrity" or "confidentiality": kernel_lockdown(7).
Fact<std::string> read_lockdown(const Sysroot& root);

}  // namespace gpucheck::host
