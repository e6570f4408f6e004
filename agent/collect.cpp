// One machine's files into one snapshot; see collect.h.
#include "agent/collect.h"

#include "agent/host/amdgpu.h"
#include "agent/host/cxl.h"
#include "agent/host/dkms.h"
#include "agent/host/drives_and_nics.h"
#include "agent/host/kernel_log/read.h"
#include "agent/host/kfd.h"
#include "agent/host/libraries.h"
#include "agent/host/modules.h"
#include "agent/host/nodes.h"
#include "agent/host/nvidia.h"
#include "agent/host/pci.h"
#include "agent/host/system.h"

namespace gpucheck {
namespace {

constexpr std::uint16_t kAmd = 0x1002;

Device device_of(PciFunction function) {
    Device device;
    device.bdf = function.bdf;
    device.vendor = function.vendor.is(kAmd) ? Vendor::amd : Vendor::nvidia;
    device.pci = std::move(function);
    return device;
}

}  // namespace

void collect_facts(const host::Sysroot& root, Snapshot& snapshot, int node_deadline_ms,
                   const std::string& kernel_log) {
    Host& machine = snapshot.host;
    host::read_system(root, machine);

    host::PciInventory pci = host::read_pci(root);
    machine.nvme_drives = host::read_nvme_drives(root, pci);
    machine.rdma_nics = host::read_rdma_nics(root, pci);
    machine.pci_functions = std::move(pci.functions);
    machine.nvswitches = std::move(pci.nvswitches);
    machine.unreadable_functions = std::move(pci.unreadable);
    machine.cxl = host::read_cxl(root);
    for (PciFunction& function : pci.gpus) snapshot.gpus.push_back(device_of(std::move(function)));

    machine.modules = host::read_modules(root, machine.kernel_release, machine.kernel_cmdline);
    machine.dkms = host::read_dkms(root, machine.kernel_release);
    machine.libraries = host::read_libraries(root);
    machine.nvidia = host::read_nvidia_driver(root);
    for (Device& gpu : snapshot.gpus) {
        if (gpu.vendor == Vendor::amd) {
            host::read_amdgpu(root, gpu);
        } else {
            host::read_nvidia_gpu(root, gpu);
        }
    }
    host::KfdTopology kfd = host::read_kfd(root);
    host::fold_kfd(std::move(kfd), snapshot.gpus, machine.kfd);
    host::read_nodes(root, snapshot, node_deadline_ms);
    machine.kernel_log = host::read_kernel_log(root, kernel_log);
}

void match_boards(const BoardTable& boards, Snapshot& snapshot) {
    for (Device& gpu : snapshot.gpus) gpu.board = boards.match(gpu.pci);
}

}  // namespace gpucheck
