// Weighs what the processor, the firmware tables and the kernel say about a hypervisor; see virtualization.h.
#include "agent/host/virtualization.h"

#include <array>
#include <string_view>

namespace gpucheck::host {
namespace {

// What the processor's own flags say.
enum class CpuSays { guest, bare_metal, other_architecture, nothing };

bool has_word(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t') &&
            (end == text.size() || text[end] == ' '))
            return true;
    }
    return false;
}

// CPUID leaf 1, ecx bit 31: reserved for hypervisors, zero on bare metal. Linux prints it as the flag
// "hypervisor". A line that a truncated file cut short must not pass for one without the flag: it has to end
// in a newline and show the flags of every x86-64.
CpuSays cpu_says(std::string_view cpuinfo) {
    CpuSays says = CpuSays::nothing;
    while (!cpuinfo.empty()) {
        const std::size_t end = cpuinfo.find('\n');
        const std::string_view line = cpuinfo.substr(0, end);
        const std::size_t colon = line.find(':');
        const std::string_view key =
            colon == std::string_view::npos ? std::string_view{} : trim(line.substr(0, colon));
        if (key == "CPU implementer" && says == CpuSays::nothing) says = CpuSays::other_architecture;
        if (key == "flags") {
            const std::string_view flags = line.substr(colon + 1);
            if (has_word(flags, "hypervisor")) return CpuSays::guest;
            // Every x86-64 kernel prints these two; a line without its end was cut off.
            const bool whole =
                end != std::string_view::npos && has_word(flags, "fpu") && has_word(flags, "lm");
            if (!whole) return CpuSays::nothing;
            says = CpuSays::bare_metal;
        }
        if (end == std::string_view::npos) break;
        cpuinfo.remove_prefix(end + 1);
    }
    return says;
}

struct FirmwareRow {
    std::string_view text;  ///< beginning of a DMI field
    std::string_view hypervisor;
    bool hypervisor_only;  ///< no bare-metal machine carries it; the clouds' names also stand on their bare
                           ///< metal
};
// Beginnings as in the tables of systemd-detect-virt(1) and cloud-init's ds-identify.
constexpr std::array kFirmware{
    FirmwareRow{"QEMU", "kvm", true},
    FirmwareRow{"KVM", "kvm", true},
    FirmwareRow{"KubeVirt", "kvm", true},
    FirmwareRow{"OpenStack", "kvm", true},
    FirmwareRow{"Bochs", "kvm", true},
    FirmwareRow{"SeaBIOS", "kvm", true},
    FirmwareRow{"VMware", "vmware", true},
    FirmwareRow{"VMW", "vmware", true},
    FirmwareRow{"innotek", "virtualbox", true},
    FirmwareRow{"VirtualBox", "virtualbox", true},
    FirmwareRow{"Xen", "xen", true},
    FirmwareRow{"HVM domU", "xen", true},
    FirmwareRow{"Parallels", "parallels", true},
    FirmwareRow{"BHYVE", "bhyve", true},
    FirmwareRow{"Apple Virtualization", "apple", true},
    FirmwareRow{"Apple Inc. Virtual", "apple", true},
    FirmwareRow{"Amazon EC2", "kvm", false},
    FirmwareRow{"Google", "kvm", false},
    FirmwareRow{"DigitalOcean", "kvm", false},
    FirmwareRow{"Alibaba", "kvm", false},
    FirmwareRow{"Tencent Cloud", "kvm", false},
    FirmwareRow{"Hetzner", "kvm", false},
    FirmwareRow{"Scaleway", "kvm", false},
    FirmwareRow{"Vultr", "kvm", false},
    FirmwareRow{"Akamai", "kvm", false},
    FirmwareRow{"Linode", "kvm", false},
    FirmwareRow{"UpCloud", "kvm", false},
    FirmwareRow{"Exoscale", "kvm", false},
    FirmwareRow{"Nebius", "kvm", false},
    FirmwareRow{"Crusoe", "kvm", false},
    FirmwareRow{"e2e", "kvm", false},
};

// Makers of arm64 servers: there the processor has no flag, and the maker's own firmware is the evidence of
// bare metal.
constexpr std::array<std::string_view, 22> kServerMakers{
    "Supermicro", "Super Micro",     "NVIDIA",  "GIGABYTE", "Giga Computing", "Dell",
    "HPE",        "Hewlett Packard", "Lenovo",  "ASUS",     "Quanta",         "QCT",
    "Foxconn",    "Ingrasys",        "Wiwynn",  "Inventec", "Pegatron",       "Ampere",
    "ASRockRack", "Huawei",          "FUJITSU", "Cray"};

bool is(const Fact<std::string>& field, std::string_view prefix) {
    return field.known() && field->starts_with(prefix);
}

const FirmwareRow* firmware_row(const Dmi& dmi, bool hypervisor_only) {
    for (const FirmwareRow& row : kFirmware) {
        if (row.hypervisor_only != hypervisor_only) continue;
        for (const auto* field :
             {&dmi.product_name, &dmi.sys_vendor, &dmi.board_vendor, &dmi.bios_vendor, &dmi.chassis_vendor}) {
            if (is(*field, row.text)) return &row;
        }
    }
    return nullptr;
}

Fact<std::string> answer(std::string_view hypervisor, const std::string& source) {
    return Fact<std::string>(std::string(hypervisor), source);
}

// The name of a hypervisor whose presence is certain.
Fact<std::string> name_guest(const Sysroot& root, const Dmi& dmi) {
    const Fact<std::string> clocks =
        root.read_line("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    if (is(dmi.sys_vendor, "Microsoft")) return answer("hyperv", dmi.sys_vendor.source());
    if (const FirmwareRow* row = firmware_row(dmi, true)) return answer(row->hypervisor, "/sys/class/dmi/id");
    if (const FirmwareRow* row = firmware_row(dmi, false))
        return answer(row->hypervisor, "/sys/class/dmi/id");
    if (clocks.known()) {
        for (const auto& [clock, name] :
             {std::pair{"kvm-clock", "kvm"}, {"hyperv_clocksource_tsc_page", "hyperv"}, {"xen", "xen"}}) {
            if (has_word(*clocks, clock)) return answer(name, clocks.source());
        }
    }
    return answer("unknown", "/proc/cpuinfo");
}

// Evidence that needs no processor flag.
Fact<std::string> from_kernel(const Sysroot& root) {
    const Fact<std::string> type = root.read_line("/sys/hypervisor/type");
    if (type.is("xen")) {
        // The privileged domain of Xen drives the real hardware (xen/interface/features.h calls it the
        // control domain).
        const Fact<std::string> capabilities = root.read_line("/proc/xen/capabilities");
        if (capabilities.known() && capabilities->find("control_d") != std::string::npos) {
            return answer("none", capabilities.source());
        }
        return answer("xen", type.source());
    }
    const Fact<std::string> tree = root.read("/proc/device-tree/hypervisor/compatible");
    if (tree.known()) {  // NUL-separated names such as "linux,kvm"
        for (const auto& [text, name] : {std::pair{"kvm", "kvm"}, {"xen", "xen"}, {"vmware", "vmware"}}) {
            if (tree->find(text) != std::string::npos) return answer(name, tree.source());
        }
        return answer("unknown", tree.source());
    }
    return Missing{"/sys/hypervisor/type", type.why()};
}

// Without a processor flag to lean on: arm64.
Fact<std::string> from_maker(const Dmi& dmi) {
    if (is(dmi.sys_vendor, "Amazon EC2") && dmi.product_name.known()) {
        return answer(dmi.product_name->ends_with(".metal") ? "none" : "kvm", dmi.product_name.source());
    }
    if (const FirmwareRow* row = firmware_row(dmi, false))
        return answer(row->hypervisor, "/sys/class/dmi/id");
    if (!dmi.sys_vendor.known()) return dmi.sys_vendor.missing();
    for (const std::string_view maker : kServerMakers) {
        if (is(dmi.sys_vendor, maker)) return answer("none", dmi.sys_vendor.source());
    }
    return Missing{dmi.sys_vendor.source(), "neither a known server maker nor a known hypervisor"};
}

// On x86 without the flag: a cloud's name may stand on its bare metal, or the flag may be masked (as guests
// with GPUs do for drivers that refuse to run in them).
Fact<std::string> without_flag(const Dmi& dmi, const std::string& source) {
    const bool amazon = is(dmi.sys_vendor, "Amazon EC2");
    if (amazon && dmi.product_name.known() && dmi.product_name->ends_with(".metal"))
        return answer("none", source);
    if (firmware_row(dmi, false) != nullptr) {
        return Missing{source,
                       "no hypervisor flag, but the firmware names a cloud: bare metal or a masked flag"};
    }
    return answer("none", source);
}

}  // namespace

Fact<std::string> read_hypervisor(const Sysroot& root, const Dmi& dmi) {
    if (Fact<std::string> told = from_kernel(root); told.known()) return told;
    const Fact<std::string> cpuinfo = root.read("/proc/cpuinfo", kLargeFile);
    const CpuSays says = cpuinfo.known() ? cpu_says(*cpuinfo) : CpuSays::nothing;
    if (says == CpuSays::guest) return name_guest(root, dmi);
    if (is(dmi.sys_vendor, "Microsoft") && is(dmi.product_name, "Virtual Machine")) {
        return answer("hyperv", dmi.product_name.source());
    }
    if (const FirmwareRow* row = firmware_row(dmi, true)) return answer(row->hypervisor, "/sys/class/dmi/id");
    if (says == CpuSays::bare_metal) return without_flag(dmi, cpuinfo.source());
    if (says == CpuSays::other_architecture) return from_maker(dmi);
    if (!cpuinfo.known()) return cpuinfo.missing();
    return Missing{cpuinfo.source(),
                   cpuinfo->empty() ? "empty" : "no complete list of processor flags in it"};
}

}  // namespace gpucheck::host
