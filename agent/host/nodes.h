// Finds out whether this process may really open the GPUs: a driver can be loaded and every GPU listed while
// the one node that compute needs is absent, denied by group, or denied by a container's device rules, each
// with its own remedy.
#pragma once

#include "agent/host/node_probe.h"
#include "agent/host/sysroot.h"
#include "checks/model/snapshot.h"

namespace gpucheck::host {

/// Fills snapshot.host.nodes, the nodes of each GPU and snapshot.host.groups. Needs the GPUs with their KFD
/// nodes and NVIDIA minors, host.kfd, host.nvidia and host.modules. A node that the present driver should
/// have is listed even when absent; NVIDIA's drm nodes are listed for information, compute does not need
/// them. Without /proc/driver/nvidia the minor of an NVIDIA GPU is not known and its node is left out rather
/// than guessed.
void read_nodes(const Sysroot& root, Snapshot& snapshot, int deadline_ms = kNodeDeadlineMs);

}  // namespace gpucheck::host
