// Finds every GPU that the PCI bus shows, whoever drives it: a GPU that no driver lists is still paid for,
// and one that cannot be read must be named instead of missed.
#pragma once

#include <vector>

#include "agent/host/sysroot.h"
#include "checks/model/pcie.h"

namespace gpucheck::host {

struct PciInventory {
    Fact<unsigned> functions;             ///< how many functions the kernel lists
    std::vector<PciFunction> gpus;        ///< NVIDIA and AMD: class 0300, 0302, 0380, 1200; by address
    std::vector<Bdf> nvswitches;          ///< class 0680 of 10de
    std::vector<Bdf> nvme;                ///< class 0108: NVMe controllers, whoever made them
    std::vector<PciFunction> network;     ///< class 02xx: bdf, class and vendor alone
    std::vector<PciFunction> unreadable;  ///< may be GPUs: vendor or class could not be read or read all ones
};

/// Reads /sys/bus/pci/devices. Of functions that cannot be ours only the class is read.
PciInventory read_pci(const Sysroot& root);

}  // namespace gpucheck::host
