// Reads what sysfs says of NVMe controllers and network functions; see drives_and_nics.h.
#include "agent/host/drives_and_nics.h"

#include "agent/host/pci_function.h"

namespace gpucheck::host {
namespace {

constexpr std::uint16_t kMellanox = 0x15b3, kAmazon = 0x1d0f;
constexpr std::uint32_t kInfiniband = 0x0207;

/// EFA: 1d0f:efa0 and on (drivers/infiniband/hw/efa/efa_main.c).
bool is_efa(std::uint16_t device) {
    return device >> 4 == 0xefa;
}

/// The only entry of a folder in which a driver shows what it made of the function.
Fact<std::string> made_of(const Sysroot& root, const std::string& folder) {
    const Fact<std::vector<std::string>> names = root.list(folder);
    if (!names.known()) return names.missing();
    if (names->empty()) return Missing{names.source(), "ENOENT"};
    return Fact<std::string>(names->front(), names.source());
}

/// Kinds of which every function has an RDMA device when its driver is there.
bool always_rdma(const Sysroot& root, const PciFunction& function) {
    if (function.vendor.is(kMellanox)) return true;
    if (!function.vendor.is(kAmazon)) return false;
    const Fact<std::uint16_t> device = root.read_hex16(pci_folder(function.bdf) + "/device");
    return device.known() && is_efa(*device);
}

}  // namespace

Fact<std::vector<NvmeDrive>> read_nvme_drives(const Sysroot& root, const PciInventory& pci) {
    if (!pci.functions.known()) return pci.functions.missing();
    std::vector<NvmeDrive> drives;
    for (const Bdf& bdf : pci.nvme) {
        NvmeDrive drive;
        drive.bdf = bdf;
        const std::string folder = pci_folder(bdf) + "/nvme";
        drive.controller = made_of(root, folder);
        if (drive.controller.known()) {
            drive.model = root.read_line(folder + "/" + *drive.controller + "/model");
        } else {
            drive.model = drive.controller.missing();
        }
        drives.push_back(std::move(drive));
    }
    return {std::move(drives), pci.functions.source()};
}

Fact<std::vector<RdmaNic>> read_rdma_nics(const Sysroot& root, const PciInventory& pci) {
    if (!pci.functions.known()) return pci.functions.missing();
    std::vector<RdmaNic> nics;
    for (const PciFunction& function : pci.network) {
        const std::string folder = pci_folder(function.bdf);
        Fact<std::string> device = made_of(root, folder + "/infiniband");
        if (device.absent() && !always_rdma(root, function)) continue;
        if (root.exists(folder + "/physfn").is(true)) continue;
        nics.push_back({function.bdf, *function.class_code >> 8 == kInfiniband, std::move(device)});
    }
    return {std::move(nics), pci.functions.source()};
}

}  // namespace gpucheck::host
