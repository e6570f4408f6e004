// Lists the local drives and the network functions for GPU traffic that an instance type promises beside its
// GPUs: a node that lacks one of eight trains at the pace of seven, and no GPU check sees it.
#pragma once

#include <vector>

#include "agent/host/pci.h"
#include "agent/host/sysroot.h"
#include "checks/model/host.h"

namespace gpucheck::host {

/// Missing when the bus could not be listed.
Fact<std::vector<NvmeDrive>> read_nvme_drives(const Sysroot& root, const PciInventory& pci);
/// InfiniBand, RoCE and EFA functions; virtual functions seen from their own host are left out.
Fact<std::vector<RdmaNic>> read_rdma_nics(const Sysroot& root, const PciInventory& pci);

}  // namespace gpucheck::host
