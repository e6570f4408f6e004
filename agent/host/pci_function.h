// Reads one PCI function and the ports above it, where a narrow or slow link hides behind a healthy endpoint.
#pragma once

#include <map>
#include <set>

#include "agent/host/sysroot.h"
#include "checks/model/pcie.h"

namespace gpucheck::host {

/// What the functions of one reading share.
struct PciBus {
    std::set<Bdf> listed;          ///< functions with an entry in /sys/bus/pci/devices
    std::map<Bdf, PciPort> ports;  ///< ports that were read already: GPUs behind one switch share them
};

/// Where the kernel shows the function.
std::string pci_folder(const Bdf& bdf);
/// The 24 bits of `class`.
Fact<std::uint32_t> read_pci_class(const Sysroot& root, const std::string& folder);

/// Ids and driver into `function`, whose `bdf`, `vendor` and `class_code` are set.
void read_pci_identity(const Sysroot& root, PciFunction& function);
/// All the rest: link, path, counters, config space, memory, power.
void read_pci_details(const Sysroot& root, PciBus& bus, PciFunction& function);

}  // namespace gpucheck::host
