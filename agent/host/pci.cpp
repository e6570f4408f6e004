// Tells GPUs from the other functions of the bus; see pci.h.
#include "agent/host/pci.h"

#include <algorithm>
#include <array>

#include "agent/host/pci_function.h"

namespace gpucheck::host {
namespace {

constexpr std::uint16_t kNvidia = 0x10de, kAmd = 0x1002;
constexpr std::uint16_t kNoVendor = 0xffff;  // what a read gives when nothing answers
constexpr std::uint32_t kNoClass = 0xffffff;
constexpr std::uint32_t kNvme = 0x0108, kNetwork = 0x02;
constexpr std::uint32_t kOtherBridge = 0x0680;  // NVSwitch, when the vendor is NVIDIA

// VGA, 3D and other display controllers, processing accelerators (PCI Code and ID Assignment Specification).
// H100 is 0302, MI200 0380, MI300 1200: looking for VGA or 3D alone misses some.
constexpr std::array<std::uint32_t, 4> kGpuClasses{0x0300, 0x0302, 0x0380, 0x1200};

// The one AMD display function that is a server's management console: RN50, sold as ES1000 (ids of the
// kernel's drivers/video/fbdev/aty/ati_ids.h).
constexpr std::uint16_t kAmdConsole = 0x515e;

enum class Kind : std::uint8_t { other, gpu, nvswitch, unreadable };

bool is_gpu_class(std::uint32_t class_code) {
    return std::find(kGpuClasses.begin(), kGpuClasses.end(), class_code >> 8) != kGpuClasses.end();
}

bool class_can_be_ours(const Fact<std::uint32_t>& class_code) {
    if (!class_code.known() || class_code.is(kNoClass)) return true;
    return is_gpu_class(class_code.value()) || class_code.value() >> 8 == kOtherBridge;
}

// Decides only on what was read: a function that cannot be ours for one known value needs no other.
Kind kind_of(const PciFunction& function) {
    if (!class_can_be_ours(function.class_code)) return Kind::other;
    if (!function.vendor.known() || function.vendor.is(kNoVendor)) return Kind::unreadable;
    const std::uint16_t vendor = function.vendor.value();
    if (vendor != kNvidia && vendor != kAmd) return Kind::other;
    if (!function.class_code.known() || function.class_code.is(kNoClass)) return Kind::unreadable;
    if (is_gpu_class(function.class_code.value())) return Kind::gpu;
    return vendor == kNvidia ? Kind::nvswitch : Kind::other;
}

bool is_console(const PciFunction& function) {
    return function.vendor.is(kAmd) && function.device.is(kAmdConsole);
}

// Worth the full reading although it may be no GPU: one of its values says GPU, or nothing answers any more.
bool may_be_gpu(const PciFunction& function) {
    if (function.vendor.known()) return true;
    return function.class_code.known() && function.class_code.value() >> 8 != kOtherBridge;
}

// What an instance type promises beside GPUs: drives and network functions.
bool is_neighbour(const Sysroot& root, const std::string& folder, PciFunction& function,
                  PciInventory& inventory) {
    if (!function.class_code.known() || function.class_code.is(kNoClass)) return false;
    if (function.class_code.value() >> 8 == kNvme) {
        inventory.nvme.push_back(function.bdf);
        return true;
    }
    if (function.class_code.value() >> 16 != kNetwork) return false;
    function.vendor = root.read_hex16(folder + "/vendor");
    inventory.network.push_back(function);
    return true;
}

void read_one(const Sysroot& root, const Bdf& bdf, PciBus& bus, PciInventory& inventory) {
    PciFunction function;
    function.bdf = bdf;
    const std::string folder = pci_folder(bdf);
    function.class_code = read_pci_class(root, folder);
    if (is_neighbour(root, folder, function, inventory)) return;
    if (!class_can_be_ours(function.class_code)) return;
    function.vendor = root.read_hex16(folder + "/vendor");
    switch (kind_of(function)) {
        case Kind::other:
            return;
        case Kind::nvswitch:
            inventory.nvswitches.push_back(bdf);
            return;
        case Kind::gpu:
            read_pci_identity(root, function);
            if (is_console(function)) return;
            read_pci_details(root, bus, function);
            inventory.gpus.push_back(std::move(function));
            return;
        case Kind::unreadable:
            read_pci_identity(root, function);
            if (may_be_gpu(function)) read_pci_details(root, bus, function);
            inventory.unreadable.push_back(std::move(function));
            return;
    }
}

}  // namespace

PciInventory read_pci(const Sysroot& root) {
    PciInventory inventory;
    const Fact<std::vector<std::string>> names = root.list("/sys/bus/pci/devices");
    if (!names.known()) {
        inventory.functions = names.missing();
        return inventory;
    }
    PciBus bus;
    for (const std::string& name : names.value()) {
        const std::optional<Bdf> bdf = Bdf::parse(name);
        if (bdf && bdf->str() == name)
            bus.listed.insert(*bdf);  // the kernel spells an address in one way only
    }
    for (const Bdf& bdf : bus.listed) read_one(root, bdf, bus, inventory);
    inventory.functions = Fact<unsigned>(static_cast<unsigned>(bus.listed.size()), names.source());
    return inventory;
}

}  // namespace gpucheck::host
