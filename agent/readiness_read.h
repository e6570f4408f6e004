// Reads what the wait for drivers looks at, again and again and from files alone: no command is run, and
// nothing is loaded or started by looking.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "agent/host/sysroot.h"
#include "agent/readiness.h"
#include "checks/model/snapshot.h"

namespace gpucheck::readiness {

/// Package managers, DKMS and modprobe at work: locks that a process holds (/proc/locks), command names of
/// processes, and the trees that DKMS builds in.
std::vector<Busy> read_busy(const host::Sysroot& root, const std::vector<DkmsTree>& trees);

/// The part of the snapshot that `look_of` needs, but what NVML says.
Snapshot read_snapshot(const host::Sysroot& root, std::chrono::milliseconds node_deadline);

ModuleStates read_module_states(const host::Sysroot& root);

}  // namespace gpucheck::readiness
