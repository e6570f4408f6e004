// What amdgpu's sysfs files say of one AMD GPU's health, beside the identity in AmdGpu: gpu_metrics, RAS,
// sensors. All-ones in gpu_metrics is "not available" and becomes Missing, never a number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/model/fact.h"
#include "checks/model/fields.h"

namespace gpucheck {

/// Throttle residencies of gpu_metrics: running totals, to be divided by the delta of accumulation_counter.
struct AmdResidency {
    Fact<std::uint64_t> accumulation_counter, prochot, ppt, socket_thermal, vr_thermal, hbm_thermal;
    Fact<std::uint64_t> throttle_status, independent_throttle_status;  ///< layouts 1.3 to 1.5: bits now
    bool operator==(const AmdResidency&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(AmdResidency, accumulation_counter),
                     GPUCHECK_FIELD(AmdResidency, prochot), GPUCHECK_FIELD(AmdResidency, ppt),
                     GPUCHECK_FIELD(AmdResidency, socket_thermal), GPUCHECK_FIELD(AmdResidency, vr_thermal),
                     GPUCHECK_FIELD(AmdResidency, hbm_thermal), GPUCHECK_FIELD(AmdResidency, throttle_status),
                     GPUCHECK_FIELD(AmdResidency, independent_throttle_status));
    }
};

/// Link state and counters of gpu_metrics.
struct AmdLinkCounters {
    Fact<unsigned> pcie_width, pcie_speed_tenth_gts;  ///< tenths of GT/s: 320 = 32.0
    Fact<unsigned> xgmi_width, xgmi_speed_gbps;
    Fact<std::uint64_t> pcie_l0_to_recovery, pcie_replays, pcie_replay_rollovers, pcie_naks_sent,
        pcie_naks_received, pcie_other_end_recovery;
    Fact<std::vector<std::uint64_t>> xgmi_read_kb, xgmi_write_kb;  ///< one a link
    Fact<std::vector<unsigned>> xgmi_link_up;  ///< one a link: 1 up, 0 down (layout 1.7 and later)
    bool operator==(const AmdLinkCounters&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(
            GPUCHECK_FIELD(AmdLinkCounters, pcie_width),
            GPUCHECK_FIELD(AmdLinkCounters, pcie_speed_tenth_gts),
            GPUCHECK_FIELD(AmdLinkCounters, xgmi_width), GPUCHECK_FIELD(AmdLinkCounters, xgmi_speed_gbps),
            GPUCHECK_FIELD(AmdLinkCounters, pcie_l0_to_recovery),
            GPUCHECK_FIELD(AmdLinkCounters, pcie_replays),
            GPUCHECK_FIELD(AmdLinkCounters, pcie_replay_rollovers),
            GPUCHECK_FIELD(AmdLinkCounters, pcie_naks_sent),
            GPUCHECK_FIELD(AmdLinkCounters, pcie_naks_received),
            GPUCHECK_FIELD(AmdLinkCounters, pcie_other_end_recovery),
            GPUCHECK_FIELD(AmdLinkCounters, xgmi_read_kb), GPUCHECK_FIELD(AmdLinkCounters, xgmi_write_kb),
            GPUCHECK_FIELD(AmdLinkCounters, xgmi_link_up));
    }
};

/// gpu_metrics, layouts 1.3 to 1.9.
struct AmdMetrics {
    Fact<std::string> layout;  ///< "1.5"
    Fact<int> hotspot_c, memory_c, vr_soc_c, edge_c;
    Fact<unsigned> socket_power_w, gfx_activity_percent, memory_activity_percent;
    Fact<std::uint64_t> energy_uj;              ///< energy_accumulator, 15.259 uJ a step
    Fact<std::uint64_t> firmware_timestamp_ns;  ///< 10 ns a step
    Fact<std::uint64_t> gfxclk_lock_status;
    Fact<std::vector<unsigned>> gfxclk_mhz, socclk_mhz;  ///< one an XCD or AID
    Fact<unsigned> uclk_mhz, partitions;
    AmdResidency residency;
    AmdLinkCounters links;
    bool operator==(const AmdMetrics&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(AmdMetrics, layout), GPUCHECK_FIELD(AmdMetrics, hotspot_c),
                     GPUCHECK_FIELD(AmdMetrics, memory_c), GPUCHECK_FIELD(AmdMetrics, vr_soc_c),
                     GPUCHECK_FIELD(AmdMetrics, edge_c), GPUCHECK_FIELD(AmdMetrics, socket_power_w),
                     GPUCHECK_FIELD(AmdMetrics, gfx_activity_percent),
                     GPUCHECK_FIELD(AmdMetrics, memory_activity_percent),
                     GPUCHECK_FIELD(AmdMetrics, energy_uj), GPUCHECK_FIELD(AmdMetrics, firmware_timestamp_ns),
                     GPUCHECK_FIELD(AmdMetrics, gfxclk_lock_status), GPUCHECK_FIELD(AmdMetrics, gfxclk_mhz),
                     GPUCHECK_FIELD(AmdMetrics, socclk_mhz), GPUCHECK_FIELD(AmdMetrics, uclk_mhz),
                     GPUCHECK_FIELD(AmdMetrics, partitions), GPUCHECK_FIELD(AmdMetrics, residency),
                     GPUCHECK_FIELD(AmdMetrics, links));
    }
};

/// Error counts of one RAS block (ras/NAME_err_count).
struct RasBlock {
    std::string name;  ///< "umc", "gfx"
    Fact<std::uint64_t> uncorrectable, correctable,
        deferred;  ///< Missing ENOENT: the kernel does not print this kind
    bool operator==(const RasBlock&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(RasBlock, name), GPUCHECK_FIELD(RasBlock, uncorrectable),
                     GPUCHECK_FIELD(RasBlock, correctable), GPUCHECK_FIELD(RasBlock, deferred));
    }
};

/// ras/gpu_vram_bad_pages, counted by flag.
struct BadPages {
    Fact<unsigned> retired, pending, failed;  ///< lines flagged R, P, F
    bool operator==(const BadPages&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(BadPages, retired), GPUCHECK_FIELD(BadPages, pending),
                     GPUCHECK_FIELD(BadPages, failed));
    }
};

/// One hwmon temperature, by label.
struct HwmonTemperature {
    std::string label;  ///< "edge", "junction", "mem"
    Fact<int> celsius, critical_c, emergency_c;
    bool operator==(const HwmonTemperature&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(HwmonTemperature, label), GPUCHECK_FIELD(HwmonTemperature, celsius),
                     GPUCHECK_FIELD(HwmonTemperature, critical_c),
                     GPUCHECK_FIELD(HwmonTemperature, emergency_c));
    }
};

/// One reading of one GPU.
struct AmdTelemetry {
    AmdMetrics metrics;
    Fact<bool> ecc_memory, ecc_sram;  ///< KFD capability MEM_EDC 0x100000, SRAM_EDC 0x04000000
    Fact<std::vector<RasBlock>> ras;  ///< Missing ENOENT: no RAS here (a VF, or a board without it). Read
                                      ///< once a run: on MI200 reading resets the counts
    Fact<BadPages> bad_pages;
    Fact<std::string> ras_features;
    Fact<std::uint64_t>
        bad_page_threshold;  ///< what the driver works with, from its module parameter and log
    Fact<std::vector<HwmonTemperature>> temperatures;
    Fact<std::uint64_t> power_uw, power_cap_uw, power_cap_default_uw, power_cap_max_uw,
        power_cap_min_uw;  ///< power1_input, or power1_average where only that exists
    Fact<unsigned> sclk_mhz, sclk_max_mhz, mclk_mhz,
        mclk_max_mhz;                     ///< pp_dpm: the line with the star, the highest line
    Fact<std::string> performance_level;  ///< power_dpm_force_performance_level: "auto"
    Fact<unsigned> gpu_busy_percent, memory_busy_percent;
    Fact<std::uint64_t> pcie_replays;  ///< pcie_replay_count
    Fact<unsigned> xgmi_error;         ///< xgmi_error: 0 none
    Fact<std::uint64_t> xgmi_physical_id;
    Fact<std::string> xgmi_hive_id;  ///< xgmi_hive_info/xgmi_hive_id
    Fact<std::string> available_memory_partition;
    Fact<std::string> board_power_state;  ///< power/runtime_status
    bool operator==(const AmdTelemetry&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(
            GPUCHECK_FIELD(AmdTelemetry, metrics), GPUCHECK_FIELD(AmdTelemetry, ecc_memory),
            GPUCHECK_FIELD(AmdTelemetry, ecc_sram), GPUCHECK_FIELD(AmdTelemetry, ras),
            GPUCHECK_FIELD(AmdTelemetry, bad_pages), GPUCHECK_FIELD(AmdTelemetry, ras_features),
            GPUCHECK_FIELD(AmdTelemetry, bad_page_threshold), GPUCHECK_FIELD(AmdTelemetry, temperatures),
            GPUCHECK_FIELD(AmdTelemetry, power_uw), GPUCHECK_FIELD(AmdTelemetry, power_cap_uw),
            GPUCHECK_FIELD(AmdTelemetry, power_cap_default_uw),
            GPUCHECK_FIELD(AmdTelemetry, power_cap_max_uw), GPUCHECK_FIELD(AmdTelemetry, power_cap_min_uw),
            GPUCHECK_FIELD(AmdTelemetry, sclk_mhz), GPUCHECK_FIELD(AmdTelemetry, sclk_max_mhz),
            GPUCHECK_FIELD(AmdTelemetry, mclk_mhz), GPUCHECK_FIELD(AmdTelemetry, mclk_max_mhz),
            GPUCHECK_FIELD(AmdTelemetry, performance_level), GPUCHECK_FIELD(AmdTelemetry, gpu_busy_percent),
            GPUCHECK_FIELD(AmdTelemetry, memory_busy_percent), GPUCHECK_FIELD(AmdTelemetry, pcie_replays),
            GPUCHECK_FIELD(AmdTelemetry, xgmi_error), GPUCHECK_FIELD(AmdTelemetry, xgmi_physical_id),
            GPUCHECK_FIELD(AmdTelemetry, xgmi_hive_id),
            GPUCHECK_FIELD(AmdTelemetry, available_memory_partition),
            GPUCHECK_FIELD(AmdTelemetry, board_power_state));
    }
};
}  // namespace gpucheck
