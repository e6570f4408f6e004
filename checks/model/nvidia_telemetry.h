// What NVML says of one NVIDIA GPU: what no file shows. Each fact that could not be read keeps NVML's own
// reason in `why` ("NOT_SUPPORTED", "NO_PERMISSION", "GPU_IS_LOST", "RESET_REQUIRED", "symbol absent", "did
// not return within 800 ms") and the call in its source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/model/fact.h"
#include "checks/model/fields.h"

namespace gpucheck {

/// One NVLink of a GPU. Counters since the driver was loaded; which exist depends on the NVLink version.
struct NvLink {
    unsigned link = 0;  ///< number on the GPU
    Fact<bool> active;  ///< nvmlDeviceGetNvLinkState
    Fact<unsigned> version;
    Fact<unsigned> speed_mbps;      ///< megabytes per second one way, FI 164/84-90
    Fact<std::string> remote;       ///< sysfs spelling of the other end's PCI address
    Fact<std::string> remote_type;  ///< "gpu", "switch", "cpu"
    Fact<std::uint64_t> crc_errors, replays, recoveries, ecc_errors;  ///< NVLink 2 to 4
    Fact<std::uint64_t> malformed_packets, buffer_overruns, receive_errors,
        integrity_errors;                                  ///< NVLink 5: FI 206, 207, 208, 211
    Fact<std::uint64_t> recoveries_ok, recoveries_failed;  ///< NVLink 5: FI 213, 214
    Fact<double> effective_ber, symbol_ber;  ///< NVLink 5: FI 220, 222, decoded to errors per bit
    bool operator==(const NvLink&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(NvLink, link), GPUCHECK_FIELD(NvLink, active),
                     GPUCHECK_FIELD(NvLink, version), GPUCHECK_FIELD(NvLink, speed_mbps),
                     GPUCHECK_FIELD(NvLink, remote), GPUCHECK_FIELD(NvLink, remote_type),
                     GPUCHECK_FIELD(NvLink, crc_errors), GPUCHECK_FIELD(NvLink, replays),
                     GPUCHECK_FIELD(NvLink, recoveries), GPUCHECK_FIELD(NvLink, ecc_errors),
                     GPUCHECK_FIELD(NvLink, malformed_packets), GPUCHECK_FIELD(NvLink, buffer_overruns),
                     GPUCHECK_FIELD(NvLink, receive_errors), GPUCHECK_FIELD(NvLink, integrity_errors),
                     GPUCHECK_FIELD(NvLink, recoveries_ok), GPUCHECK_FIELD(NvLink, recoveries_failed),
                     GPUCHECK_FIELD(NvLink, effective_ber), GPUCHECK_FIELD(NvLink, symbol_ber));
    }
};

/// nvmlDeviceGetGpuFabricInfoV: the GPU's registration with the NVSwitch fabric (Hopper and later).
struct NvFabric {
    Fact<std::string> state;   ///< "not_supported", "not_started", "in_progress", "completed"
    Fact<std::string> status;  ///< NVML's return code of the registration by name, "SUCCESS" when completed
    Fact<std::string> cluster_uuid;
    Fact<unsigned> clique_id;
    Fact<std::string> health_summary;  ///< "not_available", "healthy", "unhealthy", "limited_capacity"
    Fact<std::uint64_t>
        health_mask;  ///< as NVML gives it; 2-bit fields, see nvml.h NVML_GPU_FABRIC_HEALTH_MASK_*
    bool operator==(const NvFabric&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(NvFabric, state), GPUCHECK_FIELD(NvFabric, status),
                     GPUCHECK_FIELD(NvFabric, cluster_uuid), GPUCHECK_FIELD(NvFabric, clique_id),
                     GPUCHECK_FIELD(NvFabric, health_summary), GPUCHECK_FIELD(NvFabric, health_mask));
    }
};

/// Who NVML says it is.
struct NvIdentity {
    Fact<bool> handle;  ///< Missing with the reason when NVML gives no handle for this PCI address; every
                        ///< other fact is Missing then
    Fact<std::string> name, uuid, serial, vbios_version, inforom_image, gsp_firmware;
    Fact<unsigned> minor;     ///< N of /dev/nvidiaN
    Fact<unsigned> sm_count;  ///< Missing where NVML does not tell; CUDA does
    Fact<std::uint64_t> memory_total_bytes, memory_used_bytes, memory_reserved_bytes;
    bool operator==(const NvIdentity&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(NvIdentity, handle), GPUCHECK_FIELD(NvIdentity, name),
                     GPUCHECK_FIELD(NvIdentity, uuid), GPUCHECK_FIELD(NvIdentity, serial),
                     GPUCHECK_FIELD(NvIdentity, vbios_version), GPUCHECK_FIELD(NvIdentity, inforom_image),
                     GPUCHECK_FIELD(NvIdentity, gsp_firmware), GPUCHECK_FIELD(NvIdentity, minor),
                     GPUCHECK_FIELD(NvIdentity, sm_count), GPUCHECK_FIELD(NvIdentity, memory_total_bytes),
                     GPUCHECK_FIELD(NvIdentity, memory_used_bytes),
                     GPUCHECK_FIELD(NvIdentity, memory_reserved_bytes));
    }
};

/// Modes, and what NVML itself wants done.
struct NvState {
    Fact<bool> persistence_mode;
    Fact<std::string> compute_mode;    ///< "default", "exclusive_thread", "prohibited", "exclusive_process"
    Fact<std::string> virtualization;  ///< "none", "passthrough", "vgpu", "host_vgpu", "host_vsga"
    Fact<bool> mig_current, mig_pending;
    Fact<unsigned> mig_instances;       ///< MIG devices that exist
    Fact<std::string> recovery_action;  ///< FI 230: "none", "reset", "reboot", "drain_p2p",
                                        ///< "drain_and_reset", "recover_imex"
    Fact<bool> inforom_valid;           ///< false: CORRUPTED_INFOROM
    Fact<unsigned> compute_processes,
        graphics_processes;  ///< how many NVML lists; names and ids are not kept
    bool operator==(const NvState&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(NvState, persistence_mode), GPUCHECK_FIELD(NvState, compute_mode),
                     GPUCHECK_FIELD(NvState, virtualization), GPUCHECK_FIELD(NvState, mig_current),
                     GPUCHECK_FIELD(NvState, mig_pending), GPUCHECK_FIELD(NvState, mig_instances),
                     GPUCHECK_FIELD(NvState, recovery_action), GPUCHECK_FIELD(NvState, inforom_valid),
                     GPUCHECK_FIELD(NvState, compute_processes), GPUCHECK_FIELD(NvState, graphics_processes));
    }
};

/// ECC. Volatile counts start when the driver is loaded, aggregate ones are the board's life.
struct NvEcc {
    Fact<bool> current, pending,
        is_default;  ///< is_default: nvmlDeviceGetDefaultEccMode, ECC is on by default
    Fact<std::uint64_t> volatile_correctable, volatile_uncorrectable, aggregate_correctable,
        aggregate_uncorrectable;
    Fact<std::uint64_t> dram_volatile_correctable, dram_volatile_uncorrectable, sram_volatile_correctable,
        sram_volatile_uncorrectable, sram_aggregate_uncorrectable;
    Fact<bool> sram_threshold_exceeded;
    bool operator==(const NvEcc&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(
            GPUCHECK_FIELD(NvEcc, current), GPUCHECK_FIELD(NvEcc, pending), GPUCHECK_FIELD(NvEcc, is_default),
            GPUCHECK_FIELD(NvEcc, volatile_correctable), GPUCHECK_FIELD(NvEcc, volatile_uncorrectable),
            GPUCHECK_FIELD(NvEcc, aggregate_correctable), GPUCHECK_FIELD(NvEcc, aggregate_uncorrectable),
            GPUCHECK_FIELD(NvEcc, dram_volatile_correctable),
            GPUCHECK_FIELD(NvEcc, dram_volatile_uncorrectable),
            GPUCHECK_FIELD(NvEcc, sram_volatile_correctable),
            GPUCHECK_FIELD(NvEcc, sram_volatile_uncorrectable),
            GPUCHECK_FIELD(NvEcc, sram_aggregate_uncorrectable),
            GPUCHECK_FIELD(NvEcc, sram_threshold_exceeded));
    }
};

/// What the board did about bad memory, and what is left to do.
struct NvRepair {
    Fact<std::uint64_t> rows_correctable, rows_uncorrectable;  ///< rows remapped; Ampere and later
    Fact<bool> row_remap_pending, row_remap_failure;
    Fact<unsigned> banks_max, banks_high, banks_partial, banks_low,
        banks_none;  ///< banks by how much of their reserve of rows is left
    Fact<std::uint64_t> retired_pages_sbe, retired_pages_dbe;  ///< Volta, Turing
    Fact<bool> retired_pages_pending;
    Fact<bool> memory_unrepairable;  ///< Hopper and later
    Fact<bool> channel_repair_pending, tpc_repair_pending;
    bool operator==(const NvRepair&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(
            GPUCHECK_FIELD(NvRepair, rows_correctable), GPUCHECK_FIELD(NvRepair, rows_uncorrectable),
            GPUCHECK_FIELD(NvRepair, row_remap_pending), GPUCHECK_FIELD(NvRepair, row_remap_failure),
            GPUCHECK_FIELD(NvRepair, banks_max), GPUCHECK_FIELD(NvRepair, banks_high),
            GPUCHECK_FIELD(NvRepair, banks_partial), GPUCHECK_FIELD(NvRepair, banks_low),
            GPUCHECK_FIELD(NvRepair, banks_none), GPUCHECK_FIELD(NvRepair, retired_pages_sbe),
            GPUCHECK_FIELD(NvRepair, retired_pages_dbe), GPUCHECK_FIELD(NvRepair, retired_pages_pending),
            GPUCHECK_FIELD(NvRepair, memory_unrepairable), GPUCHECK_FIELD(NvRepair, channel_repair_pending),
            GPUCHECK_FIELD(NvRepair, tpc_repair_pending));
    }
};

/// The host link as NVML sees it. Counters since the driver was loaded.
struct NvPcie {
    Fact<unsigned> generation, width, generation_max, width_max,
        generation_device_max;  ///< now; min(device, slot); the device alone
    Fact<std::uint64_t> replays, replay_rollovers, l0_to_recovery, correctable, naks_received, naks_sent,
        nonfatal, fatal;
    bool operator==(const NvPcie&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(NvPcie, generation), GPUCHECK_FIELD(NvPcie, width),
                     GPUCHECK_FIELD(NvPcie, generation_max), GPUCHECK_FIELD(NvPcie, width_max),
                     GPUCHECK_FIELD(NvPcie, generation_device_max), GPUCHECK_FIELD(NvPcie, replays),
                     GPUCHECK_FIELD(NvPcie, replay_rollovers), GPUCHECK_FIELD(NvPcie, l0_to_recovery),
                     GPUCHECK_FIELD(NvPcie, correctable), GPUCHECK_FIELD(NvPcie, naks_received),
                     GPUCHECK_FIELD(NvPcie, naks_sent), GPUCHECK_FIELD(NvPcie, nonfatal),
                     GPUCHECK_FIELD(NvPcie, fatal));
    }
};

/// Clocks now, and why they are not higher.
struct NvClocks {
    Fact<unsigned> pstate;  ///< 0 fastest
    Fact<unsigned> sm_mhz, memory_mhz, sm_max_mhz, memory_max_mhz, sm_application_mhz;
    Fact<std::uint64_t> event_reasons, event_reasons_supported;  ///< bits of nvmlClocksEventReason*
    Fact<std::uint64_t> power_cap_ns, thermal_ns, sync_boost_ns, board_limit_ns, sw_thermal_ns, hw_thermal_ns,
        power_brake_ns;  ///< FI 74, 75, 76, 77, 269, 270, 271: running totals
    bool operator==(const NvClocks&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(NvClocks, pstate), GPUCHECK_FIELD(NvClocks, sm_mhz),
                     GPUCHECK_FIELD(NvClocks, memory_mhz), GPUCHECK_FIELD(NvClocks, sm_max_mhz),
                     GPUCHECK_FIELD(NvClocks, memory_max_mhz), GPUCHECK_FIELD(NvClocks, sm_application_mhz),
                     GPUCHECK_FIELD(NvClocks, event_reasons),
                     GPUCHECK_FIELD(NvClocks, event_reasons_supported),
                     GPUCHECK_FIELD(NvClocks, power_cap_ns), GPUCHECK_FIELD(NvClocks, thermal_ns),
                     GPUCHECK_FIELD(NvClocks, sync_boost_ns), GPUCHECK_FIELD(NvClocks, board_limit_ns),
                     GPUCHECK_FIELD(NvClocks, sw_thermal_ns), GPUCHECK_FIELD(NvClocks, hw_thermal_ns),
                     GPUCHECK_FIELD(NvClocks, power_brake_ns));
    }
};

/// Power, temperature, load.
struct NvPower {
    Fact<std::uint64_t> power_mw, limit_mw, limit_enforced_mw, limit_default_mw, limit_min_mw, limit_max_mw;
    Fact<std::uint64_t> energy_mj;  ///< since the driver was loaded
    Fact<int> temperature_c, memory_temperature_c,
        margin_c;  ///< margin: degrees left to the first slowdown, <= 0 at the limit
    Fact<int> slowdown_c, shutdown_c, memory_max_c, gpu_max_c;  ///< thresholds
    Fact<unsigned> fan_percent, gpu_busy_percent, memory_busy_percent;
    bool operator==(const NvPower&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(NvPower, power_mw), GPUCHECK_FIELD(NvPower, limit_mw),
                     GPUCHECK_FIELD(NvPower, limit_enforced_mw), GPUCHECK_FIELD(NvPower, limit_default_mw),
                     GPUCHECK_FIELD(NvPower, limit_min_mw), GPUCHECK_FIELD(NvPower, limit_max_mw),
                     GPUCHECK_FIELD(NvPower, energy_mj), GPUCHECK_FIELD(NvPower, temperature_c),
                     GPUCHECK_FIELD(NvPower, memory_temperature_c), GPUCHECK_FIELD(NvPower, margin_c),
                     GPUCHECK_FIELD(NvPower, slowdown_c), GPUCHECK_FIELD(NvPower, shutdown_c),
                     GPUCHECK_FIELD(NvPower, memory_max_c), GPUCHECK_FIELD(NvPower, gpu_max_c),
                     GPUCHECK_FIELD(NvPower, fan_percent), GPUCHECK_FIELD(NvPower, gpu_busy_percent),
                     GPUCHECK_FIELD(NvPower, memory_busy_percent));
    }
};

/// One reading of one GPU through NVML.
struct NvidiaTelemetry {
    NvIdentity identity;
    NvState state;
    NvEcc ecc;
    NvRepair repair;
    Fact<std::vector<NvLink>> nvlinks;  ///< Missing NOT_SUPPORTED: no NVLink on this board
    NvFabric fabric;
    Fact<unsigned> c2c_links, c2c_links_active;  ///< Grace superchips: FI 170, 171
    NvPcie pcie;
    NvClocks clocks;
    NvPower power;
    bool operator==(const NvidiaTelemetry&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(NvidiaTelemetry, identity), GPUCHECK_FIELD(NvidiaTelemetry, state),
                     GPUCHECK_FIELD(NvidiaTelemetry, ecc), GPUCHECK_FIELD(NvidiaTelemetry, repair),
                     GPUCHECK_FIELD(NvidiaTelemetry, nvlinks), GPUCHECK_FIELD(NvidiaTelemetry, fabric),
                     GPUCHECK_FIELD(NvidiaTelemetry, c2c_links),
                     GPUCHECK_FIELD(NvidiaTelemetry, c2c_links_active), GPUCHECK_FIELD(NvidiaTelemetry, pcie),
                     GPUCHECK_FIELD(NvidiaTelemetry, clocks), GPUCHECK_FIELD(NvidiaTelemetry, power));
    }
};

/// What NVML says of the driver as a whole.
struct NvmlSystem {
    Fact<std::string> library;  ///< path it was loaded from; Missing: absent, required symbol absent, or why
                                ///< nvmlInit failed
    Fact<std::string> driver_version, nvml_version;
    Fact<unsigned> cuda_driver_version;       ///< 12080 = 12.8
    Fact<unsigned> gpu_count;                 ///< nvmlDeviceGetCount_v2
    Fact<std::vector<std::string>> excluded;  ///< PCI addresses of GPUs that the driver was told to leave out
    Fact<std::vector<std::string>>
        listed;                       ///< PCI addresses of the GPUs that NVML enumerates, sysfs spelling
    Fact<bool> confidential_compute;  ///< a CC feature is on
    Fact<bool> confidential_compute_ready;  ///< GPUs accept work; Missing where CC is off
    bool operator==(const NvmlSystem&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(NvmlSystem, library), GPUCHECK_FIELD(NvmlSystem, driver_version),
                     GPUCHECK_FIELD(NvmlSystem, nvml_version),
                     GPUCHECK_FIELD(NvmlSystem, cuda_driver_version), GPUCHECK_FIELD(NvmlSystem, gpu_count),
                     GPUCHECK_FIELD(NvmlSystem, excluded), GPUCHECK_FIELD(NvmlSystem, listed),
                     GPUCHECK_FIELD(NvmlSystem, confidential_compute),
                     GPUCHECK_FIELD(NvmlSystem, confidential_compute_ready));
    }
};
}  // namespace gpucheck
