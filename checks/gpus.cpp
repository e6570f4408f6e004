// Which GPUs may be judged; see gpus.h.
#include "checks/gpus.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace gpucheck {
namespace {

// A node that compute opens on this GPU exists in the judged process's /dev.
bool passed(const Device& gpu) {
    const NodeKind wanted = gpu.vendor == Vendor::amd ? NodeKind::render : NodeKind::nvidia_gpu;
    return std::any_of(gpu.nodes.begin(), gpu.nodes.end(),
                       [&](const DeviceNode& node) { return node.kind == wanted && node.stat.known(); });
}

std::string hex4(const Fact<std::uint16_t>& id) {
    if (!id.known()) return "????";
    std::array<char, 8> text{};
    const int length = std::snprintf(text.data(), text.size(), "%04x", static_cast<unsigned>(id.value()));
    return std::string(text.data(), static_cast<std::size_t>(length));
}

}  // namespace

bool guests_function(const Device& gpu) {
    return gpu.pci.has_physfn.is(true);
}

Gpus own_gpus(const Snapshot& snapshot) {
    Gpus own;
    for (const Device& gpu : snapshot.gpus) {
        if (!guests_function(gpu)) own.push_back(&gpu);
    }
    return own;
}

std::string_view native_driver(Vendor vendor) {
    return vendor == Vendor::amd ? "amdgpu" : "nvidia";
}

bool driven(const Device& gpu) {
    return gpu.pci.driver.is(native_driver(gpu.vendor));
}

Gpus driven_gpus(const Snapshot& snapshot, Vendor vendor) {
    Gpus result;
    for (const Device* gpu : own_gpus(snapshot)) {
        if (gpu->vendor == vendor && driven(*gpu)) result.push_back(gpu);
    }
    return result;
}

bool lent_to_guest(const Device& gpu) {
    if (!gpu.pci.driver.known()) return false;
    const std::string& driver = gpu.pci.driver.value();
    // vfio-pci, nvgrace-gpu-vfio-pci; older hypervisors use the two others.
    return driver.find("vfio") != std::string::npos || driver == "pci-stub" || driver == "xen-pciback" ||
           driver == "pciback";
}

bool split_by_gim(const Device& gpu) {
    return gpu.vendor == Vendor::amd && gpu.pci.driver.is("gim");
}

bool computes(const Device& gpu) {
    if (gpu.vendor == Vendor::nvidia || gpu.board.known()) return true;
    return gpu.pci.class_code.known() && (gpu.pci.class_code.value() >> 16) == 0x12;
}

bool left_outside(const Snapshot& snapshot, const Device& gpu) {
    if (!snapshot.host.in_container() || passed(gpu)) return false;
    const Gpus own = own_gpus(snapshot);
    const auto inside = static_cast<std::size_t>(
        std::count_if(own.begin(), own.end(), [](const Device* other) { return passed(*other); }));
    const Fact<unsigned>& promised = snapshot.expected.gpu_count;
    return promised.known() ? inside >= promised.value() : inside > 0;
}

bool dkms_tree_of(const DkmsTree& tree, Vendor vendor) {
    const std::string_view name = native_driver(vendor);
    return tree.module == name || tree.module.starts_with(std::string(name) + "-");
}

bool driver_is_building(const Snapshot& snapshot, Vendor vendor) {
    const Module* module = snapshot.host.module(native_driver(vendor));
    if (module != nullptr && module->loaded.is(true)) return false;
    const auto& trees = snapshot.host.dkms;
    return std::any_of(trees.begin(), trees.end(), [&](const DkmsTree& tree) {
        return dkms_tree_of(tree, vendor) && tree.state.is("building");
    });
}

NotApplicable without_gpus(const Snapshot& snapshot) {
    if (!own_gpus(snapshot).empty()) return std::nullopt;
    if (!snapshot.host.pci_functions.known()) return "no GPU is known: the PCI bus could not be read";
    return "no GPU on the PCI bus";
}

NotApplicable without_driven(const Snapshot& snapshot, Vendor vendor) {
    if (!driven_gpus(snapshot, vendor).empty()) return std::nullopt;
    return "no GPU is bound to " + std::string(native_driver(vendor));
}

NotApplicable without_driven_amd(const Snapshot& snapshot) {
    return without_driven(snapshot, Vendor::amd);
}
NotApplicable without_driven_nvidia(const Snapshot& snapshot) {
    return without_driven(snapshot, Vendor::nvidia);
}

NotApplicable without_any_driven(const Snapshot& snapshot) {
    if (NotApplicable none = without_gpus(snapshot)) return none;
    if (!without_driven_amd(snapshot) || !without_driven_nvidia(snapshot)) return std::nullopt;
    return "no GPU is bound to its vendor's driver";
}

std::string addresses(const Gpus& gpus) {
    std::string text;
    for (const Device* gpu : gpus) text += (text.empty() ? "" : ", ") + gpu->bdf.str();
    return text.empty() ? "none" : text;
}

std::string count_of(std::size_t number, std::string_view singular) {
    return std::to_string(number) + " " + std::string(singular) + (number == 1 ? "" : "s");
}

std::string pci_ids(const PciFunction& function) {
    return hex4(function.vendor) + ":" + hex4(function.device) + ", subsystem " + hex4(function.sub_vendor) +
           ":" + hex4(function.sub_device);
}

std::string board_name(const Device& gpu) {
    return gpu.board.known() ? gpu.board->name : "unknown board " + pci_ids(gpu.pci);
}

}  // namespace gpucheck
