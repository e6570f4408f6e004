// PCI Express speeds, widths and what a link can carry: table look-ups only, because dividing GT/s has made
// monitors call a Gen5 link Gen4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/model/bdf.h"
#include "checks/model/fact.h"
#include "checks/model/fields.h"

namespace gpucheck {

/// Generation of a link; `unknown` is what the kernel prints as "Unknown" (a known answer, not a Missing).
enum class LinkSpeed : std::uint8_t { unknown, gen1, gen2, gen3, gen4, gen5, gen6, gen7 };

/// "32.0 GT/s PCIe", "8 GT/s" (old kernels), "Unknown"; nullopt for anything else.
std::optional<LinkSpeed> link_speed_from(std::string_view text);
/// The encoding of LnkCap/LnkSta/LnkCtl2 speed fields (1 = 2.5 GT/s); 0 and reserved values are nullopt.
std::optional<LinkSpeed> link_speed_from_config(unsigned encoded);
/// 1 for gen1, 0 for unknown.
unsigned generation(LinkSpeed speed);
/// "2.5 GT/s" ... "128.0 GT/s", "Unknown".
std::string_view text_of(LinkSpeed speed);
/// "gen5"; "unknown".
std::string_view name_of(LinkSpeed speed);
std::optional<LinkSpeed> link_speed_named(std::string_view name);

/// Payload rate after line coding of `width` lanes, one direction, in GB/s (1e9 bytes): 8b/10b up to 5 GT/s,
/// 128b/130b up to 32 GT/s, 242/256 FLIT from 64 GT/s (PCI Express Base 6.0). nullopt for an unknown speed,
/// width 0 or a width that no link can have (63 is what reads of all ones give).
std::optional<double> link_bandwidth_gb_s(LinkSpeed speed, unsigned width);
bool is_link_width(unsigned width);  ///< 1, 2, 4, 8, 12, 16, 32

/// Speed and width as sysfs shows them; current values drop while a link idles.
struct PciLink {
    Fact<LinkSpeed> current_speed, max_speed;
    Fact<unsigned> current_width, max_width;  ///< lanes; 0, 63 and 255 are kept as the kernel printed them
    bool operator==(const PciLink&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(PciLink, current_speed), GPUCHECK_FIELD(PciLink, max_speed),
                     GPUCHECK_FIELD(PciLink, current_width), GPUCHECK_FIELD(PciLink, max_width));
    }
};

/// What the PCI Express capability in config space says (root reads 256 bytes or more; others only 64).
struct PcieConfig {
    LinkSpeed cap_speed = LinkSpeed::unknown;     ///< LnkCap
    unsigned cap_width = 0;                       ///< LnkCap
    LinkSpeed status_speed = LinkSpeed::unknown;  ///< LnkSta
    unsigned status_width = 0;                    ///< LnkSta
    LinkSpeed target_speed =
        LinkSpeed::unknown;  ///< LnkCtl2 target link speed; unknown when capability version < 2
    bool autonomous_speed_disabled = false;  ///< LnkCtl2 bit 5: somebody pinned the link (setpci)
    bool link_disabled = false;              ///< LnkCtl bit 4
    bool operator==(const PcieConfig&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(PcieConfig, cap_speed), GPUCHECK_FIELD(PcieConfig, cap_width),
                     GPUCHECK_FIELD(PcieConfig, status_speed), GPUCHECK_FIELD(PcieConfig, status_width),
                     GPUCHECK_FIELD(PcieConfig, target_speed),
                     GPUCHECK_FIELD(PcieConfig, autonomous_speed_disabled),
                     GPUCHECK_FIELD(PcieConfig, link_disabled));
    }
};

struct NamedCount {
    std::string name;
    std::uint64_t count = 0;
    bool operator==(const NamedCount&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(NamedCount, name), GPUCHECK_FIELD(NamedCount, count));
    }
};

/// One aer_dev_* file: its TOTAL_ERR line and the error names that are not zero. Counted since boot (or hot
/// plug).
struct AerCounters {
    std::uint64_t total = 0;
    std::vector<NamedCount> nonzero;
    bool operator==(const AerCounters&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(AerCounters, total), GPUCHECK_FIELD(AerCounters, nonzero));
    }
};

struct Aer {
    Fact<AerCounters> correctable, nonfatal, fatal;
    bool operator==(const Aer&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(Aer, correctable), GPUCHECK_FIELD(Aer, nonfatal),
                     GPUCHECK_FIELD(Aer, fatal));
    }
};

/// A port above a GPU: switch ports and the root port.
struct PciPort {
    Bdf bdf;
    Fact<std::uint16_t> vendor, device;
    PciLink link;
    Aer aer;
    Fact<PcieConfig> config;
    bool operator==(const PciPort&) const = default;
    /// Ports that a hypervisor emulates (QEMU's 1b36): their link values mean nothing.
    bool emulated() const { return vendor.is(0x1b36); }
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(PciPort, bdf), GPUCHECK_FIELD(PciPort, vendor),
                     GPUCHECK_FIELD(PciPort, device), GPUCHECK_FIELD(PciPort, link),
                     GPUCHECK_FIELD(PciPort, aer), GPUCHECK_FIELD(PciPort, config));
    }
};

/// One base address register; `size` 0 never appears (unassigned BARs are listed with start 0 and their
/// size).
struct Bar {
    unsigned index = 0;
    std::uint64_t start = 0, size = 0, flags = 0;  ///< bytes; flags as in linux/ioport.h
    bool operator==(const Bar&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(Bar, index), GPUCHECK_FIELD(Bar, start), GPUCHECK_FIELD(Bar, size),
                     GPUCHECK_FIELD(Bar, flags));
    }
};

/// One PCI function as the kernel shows it.
struct PciFunction {
    Bdf bdf;
    Fact<std::uint16_t> vendor, device, sub_vendor, sub_device;
    Fact<std::uint32_t> class_code;  ///< 24 bits: 0x030200
    Fact<std::uint8_t> revision;
    Fact<std::string> driver;  ///< "" when no driver is bound
    Fact<bool> has_physfn;     ///< a `physfn` link: an SR-IOV virtual function seen from its host
    PciLink link;
    Aer aer;
    Fact<PcieConfig> config;
    std::vector<PciPort> path;  ///< ports above it, nearest first, root port last
    Fact<int> numa_node;        ///< -1: the firmware or hypervisor gave none
    Fact<std::string> iommu_group;
    Fact<std::string> iommu_type;  ///< of that group: "identity" (pass-through), "DMA", "DMA-FQ" (translated)
    Fact<std::string> local_cpulist;
    Fact<std::vector<Bar>> bars;
    Fact<std::string> runtime_status;  ///< "active", "suspended" (then link and config reads mean nothing)
    Fact<std::string> power_state;     ///< "D0", "D3cold"
    Fact<bool> enabled;
    bool operator==(const PciFunction&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(PciFunction, bdf), GPUCHECK_FIELD(PciFunction, vendor),
                     GPUCHECK_FIELD(PciFunction, device), GPUCHECK_FIELD(PciFunction, sub_vendor),
                     GPUCHECK_FIELD(PciFunction, sub_device), GPUCHECK_FIELD(PciFunction, class_code),
                     GPUCHECK_FIELD(PciFunction, revision), GPUCHECK_FIELD(PciFunction, driver),
                     GPUCHECK_FIELD(PciFunction, has_physfn), GPUCHECK_FIELD(PciFunction, link),
                     GPUCHECK_FIELD(PciFunction, aer), GPUCHECK_FIELD(PciFunction, config),
                     GPUCHECK_FIELD(PciFunction, path), GPUCHECK_FIELD(PciFunction, numa_node),
                     GPUCHECK_FIELD(PciFunction, iommu_group), GPUCHECK_FIELD(PciFunction, iommu_type),
                     GPUCHECK_FIELD(PciFunction, local_cpulist), GPUCHECK_FIELD(PciFunction, bars),
                     GPUCHECK_FIELD(PciFunction, runtime_status), GPUCHECK_FIELD(PciFunction, power_state),
                     GPUCHECK_FIELD(PciFunction, enabled));
    }
};

/// The slowest stretch between a GPU and its root port.
struct PathBandwidth {
    double gb_s = 0;  ///< one direction, after line coding
    Bdf limited_by;   ///< whose link it is
    LinkSpeed speed = LinkSpeed::unknown;
    unsigned width = 0;
    bool complete = false;  ///< every port up to the root was readable and real
    bool operator==(const PathBandwidth&) const = default;
};
/// Minimum over the function and the ports above it of the current link (`use_max` false) or of what both
/// sides could do
/// (`use_max` true). Emulated ports and links with speed Unknown are skipped and make `complete` false.
/// nullopt when no link on the path could be read.
std::optional<PathBandwidth> path_bandwidth(const PciFunction& function, bool use_max);

}  // namespace gpucheck
