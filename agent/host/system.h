// Facts about the machine around the GPUs: a healthy GPU on a wrong kernel, in a container without its
// devices or under a clock that nobody set is of no use to whoever pays for it.
#pragma once

#include "agent/host/sysroot.h"
#include "checks/model/host.h"

namespace gpucheck::host {

/// Fills what this folder knows of `host` apart from drivers, nodes, libraries and the PCI bus, which have
/// readers of their own.
void read_system(const Sysroot& root, Host& host);

}  // namespace gpucheck::host
