// Counts the GPUs that the compute driver really made usable: a PCI function that KFD skipped looks healthy
// everywhere else, and a partitioned GPU looks like eight.
#pragma once

#include <vector>

#include "agent/host/sysroot.h"
#include "checks/model/device.h"
#include "checks/model/host.h"

namespace gpucheck::host {

/// /sys/class/kfd/kfd/topology before its logical nodes are folded into physical GPUs.
struct KfdTopology {
    Kfd summary;
    std::vector<KfdNode> gpu_nodes;  ///< by folder number
};

/// Reads every node folder. A node that cannot be read (a device cgroup answers EPERM) goes to
/// summary.unreadable as "3: EPERM"; it is neither a GPU nor proof that there is none.
KfdTopology read_kfd(const Sysroot& root);

/// Gives each logical node to its PCI function in `gpus`, and the summary with what matched none to
/// `summary`.
void fold_kfd(KfdTopology&& topology, std::vector<Device>& gpus, Kfd& summary);

}  // namespace gpucheck::host
