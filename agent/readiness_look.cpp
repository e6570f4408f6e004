// From the snapshot that checks judge to what the wait has to know of it; see readiness.h.
#include <algorithm>
#include <string>
#include <utility>

#include "agent/readiness.h"

namespace gpucheck::readiness {
namespace {

VendorLook& vendor_of(Look& look, const Device& gpu) {
    return gpu.vendor == Vendor::amd ? look.amd : look.nvidia;
}

/// Held by another driver (vfio-pci, nouveau), or the function of a guest: not ours to wait for.
bool is_ours(const Device& gpu, std::string_view driver) {
    if (gpu.pci.has_physfn.is(true)) return false;
    return !gpu.pci.driver.known() || gpu.pci.driver->empty() || *gpu.pci.driver == driver;
}

void add_module(const Snapshot& snapshot, const Fact<std::string>& state, VendorLook& vendor) {
    vendor.module = state;
    const Module* module = snapshot.host.module(vendor.driver);
    if (module == nullptr) return;
    vendor.module_file = module->file;
    vendor.blocked_by = module->blacklisted_by;
}

void add_closed(const DeviceNode& node, VendorLook& vendor) {
    if (node.open_rw.is("ok")) return;
    vendor.closed.push_back(node.path + ": " + (node.open_rw.known() ? *node.open_rw : node.open_rw.why()));
}

/// What computing needs: KFD and a render node of each GPU; NVIDIA's control node and one of each GPU.
/// nvidia-uvm is made by the first CUDA program, and missing before it (nvidia-modprobe(1), -u).
void add_nodes(const Snapshot& snapshot, Look& look) {
    for (const DeviceNode& node : snapshot.host.nodes) {
        if (node.kind == NodeKind::kfd && look.amd.gpus > 0) add_closed(node, look.amd);
        if (node.kind == NodeKind::nvidia_ctl && look.nvidia.gpus > 0) add_closed(node, look.nvidia);
    }
    for (const Device& gpu : snapshot.gpus) {
        VendorLook& vendor = vendor_of(look, gpu);
        if (!gpu.pci.driver.is(vendor.driver) || gpu.pci.has_physfn.is(true)) continue;
        bool render = false;
        for (const DeviceNode& node : gpu.nodes) {
            render = render || node.kind == NodeKind::render;
            if (node.kind == NodeKind::render && gpu.vendor == Vendor::amd) add_closed(node, vendor);
            if (node.kind == NodeKind::nvidia_gpu) add_closed(node, vendor);
        }
        if (gpu.vendor == Vendor::amd && !render) vendor.closed.push_back(gpu.bdf.str() + ": no render node");
    }
}

/// Partitions of one GPU are several nodes of KFD and one GPU.
Fact<unsigned> counted_by_kfd(const Snapshot& snapshot) {
    const Kfd& kfd = snapshot.host.kfd;
    if (!kfd.nodes_total.known()) return kfd.nodes_total.missing();
    if (!kfd.unreadable.empty()) return Missing{kfd.nodes_total.source(), kfd.unreadable.front()};
    unsigned count = 0;
    for (const Device& gpu : snapshot.gpus) count += gpu.amd.kfd_nodes.empty() ? 0 : 1;
    return Fact<unsigned>(count, kfd.nodes_total.source());
}

Fact<unsigned> counted_by_nvml(const Snapshot& snapshot) {
    unsigned count = 0;
    Fact<bool> refused;
    for (const Device& gpu : snapshot.gpus) {
        if (gpu.vendor != Vendor::nvidia || !is_ours(gpu, "nvidia")) continue;
        const Fact<bool>& handle = gpu.telemetry.first.nvidia.identity.handle;
        if (handle.is(true)) {
            ++count;
        } else if (refused.why() == "not looked at") {
            refused = handle.known()
                          ? Fact<bool>()
                          : Fact<bool>(Missing{gpu.bdf.str() + ": " + handle.source(), handle.why()});
        }
    }
    if (count == 0) return refused.missing();
    return Fact<unsigned>(count, "NVML");
}

/// The fabric manager of a machine with NVSwitches of its own; nullptr: none to wait for. In a guest of a
/// shared NVSwitch the host runs it, and without switches it may be installed, enabled and failed for good.
const ServiceUnit* fabric_manager(const Host& host) {
    if (host.nvswitches.empty() || !host.units.known()) return nullptr;
    for (const ServiceUnit& unit : *host.units) {
        if (unit.name == "nvidia-fabricmanager.service" && unit.enabled.is(true)) return &unit;
    }
    return nullptr;
}

void add_fabric(const Snapshot& snapshot, Look& look) {
    const ServiceUnit* manager = fabric_manager(snapshot.host);
    const bool runs = manager != nullptr && manager->processes.known() && *manager->processes > 0;
    if (manager != nullptr && !runs && (manager->processes.known() || manager->processes.absent()))
        look.manager_absent = manager->name + " is enabled and has no process yet";
    for (const Device& gpu : snapshot.gpus) {
        const Fact<std::string>& state = gpu.telemetry.first.nvidia.fabric.state;
        if (state.is("in_progress") || (runs && state.is("not_started"))) ++look.fabric_pending;
    }
}

}  // namespace

Look look_of(const Snapshot& snapshot, const ModuleStates& modules, std::vector<Busy> busy) {
    Look look;
    look.promised = snapshot.expected.gpu_count;
    look.on_bus = snapshot.host.pci_functions;
    if (look.on_bus.known())
        look.on_bus = Fact<unsigned>(static_cast<unsigned>(snapshot.gpus.size()), look.on_bus.source());
    for (const Device& gpu : snapshot.gpus) {
        VendorLook& vendor = vendor_of(look, gpu);
        if (!is_ours(gpu, vendor.driver)) continue;
        ++vendor.gpus;
        vendor.bound += gpu.pci.driver.is(vendor.driver) ? 1 : 0;
    }
    add_module(snapshot, modules.amdgpu, look.amd);
    add_module(snapshot, modules.nvidia, look.nvidia);
    add_nodes(snapshot, look);
    look.amd.counted = counted_by_kfd(snapshot);
    look.nvidia.counted = counted_by_nvml(snapshot);
    add_fabric(snapshot, look);
    look.busy = std::move(busy);
    return look;
}

}  // namespace gpucheck::readiness
