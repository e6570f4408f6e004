// What NVML says of healthy GPUs; see healthy_telemetry.h.
#include "tests/checks/healthy_telemetry.h"

namespace gpucheck {
namespace {

const Missing kNotSupported{"NVML", "NOT_SUPPORTED"};

Fact<std::uint64_t> number(std::uint64_t value) {
    return fact(value);
}

NvLink link(unsigned i, bool active) {
    NvLink result;
    result.link = i;
    result.active = fact(active);
    result.version = fact(4U);
    result.speed_mbps = fact(active ? 26562U : 0U);
    result.crc_errors = result.replays = result.recoveries = result.ecc_errors = number(0);
    for (auto* absent : {&result.malformed_packets, &result.buffer_overruns, &result.receive_errors,
                         &result.integrity_errors, &result.recoveries_ok, &result.recoveries_failed}) {
        *absent = kNotSupported;
    }
    result.effective_ber = result.symbol_ber = kNotSupported;
    return result;
}

NvidiaTelemetry reading(const Device& gpu, double at_s) {
    NvidiaTelemetry t;
    const auto run = static_cast<std::uint64_t>(at_s);
    t.identity.handle = fact(true);
    t.identity.gsp_firmware = fact("570.133.20");
    t.identity.vbios_version = fact("96.00.74.00.01");
    t.identity.inforom_image = fact("G520.0200.00.05");
    t.state.persistence_mode = fact(true);
    t.state.compute_mode = fact("default");
    t.state.virtualization = fact("none");
    t.state.mig_current = t.state.mig_pending = fact(false);
    t.state.mig_instances = fact(0U);
    t.state.recovery_action = fact("none");
    t.state.inforom_valid = fact(true);
    t.state.compute_processes = t.state.graphics_processes = fact(0U);
    t.ecc.current = t.ecc.pending = t.ecc.is_default = fact(true);
    t.ecc.volatile_correctable = number(3 + run / 30);
    t.ecc.dram_volatile_correctable = number(3 + run / 30);
    t.ecc.aggregate_correctable = number(120);
    t.ecc.volatile_uncorrectable = t.ecc.aggregate_uncorrectable = t.ecc.dram_volatile_uncorrectable =
        t.ecc.sram_volatile_correctable = t.ecc.sram_volatile_uncorrectable =
            t.ecc.sram_aggregate_uncorrectable = number(0);
    t.ecc.sram_threshold_exceeded = fact(false);
    t.repair.rows_correctable = t.repair.rows_uncorrectable = number(1);
    t.repair.row_remap_pending = t.repair.row_remap_failure = fact(false);
    t.repair.banks_max = fact(639U);
    t.repair.banks_high = fact(1U);
    t.repair.banks_partial = t.repair.banks_low = t.repair.banks_none = fact(0U);
    t.repair.retired_pages_sbe = t.repair.retired_pages_dbe = kNotSupported;
    t.repair.retired_pages_pending = kNotSupported;
    t.repair.memory_unrepairable = t.repair.channel_repair_pending = t.repair.tpc_repair_pending =
        fact(false);
    std::vector<NvLink> links;
    if (gpu.board->links.known()) {
        for (unsigned i = 0; i < *gpu.board->links; ++i) links.push_back(link(i, true));
        t.nvlinks = fact(links);
    } else {
        t.nvlinks = kNotSupported;
    }
    t.fabric.state = fact("completed");
    t.fabric.status = fact("SUCCESS");
    t.fabric.health_summary = fact("healthy");
    // Degraded, recovery, unhealthy, access time-out: false (2); configuration: correct (1); partition: true.
    t.fabric.health_mask = number(0x11aa);
    t.c2c_links = t.c2c_links_active = kNotSupported;
    t.pcie.generation = t.pcie.generation_max = t.pcie.generation_device_max = fact(5U);
    t.pcie.width = t.pcie.width_max = fact(16U);
    t.pcie.replays = number(4 + run / 20);
    t.pcie.l0_to_recovery = number(40 + run / 2);
    t.pcie.naks_received = t.pcie.naks_sent = number(run / 30);
    t.pcie.replay_rollovers = t.pcie.correctable = t.pcie.nonfatal = t.pcie.fatal = number(0);
    t.clocks.pstate = fact(0U);
    t.clocks.sm_mhz = t.clocks.sm_max_mhz = t.clocks.sm_application_mhz = fact(1980U);
    t.clocks.memory_mhz = t.clocks.memory_max_mhz = fact(2619U);
    t.clocks.event_reasons = number(0x1 | 0x4);  // idle and power cap: both ordinary, and no single value
    t.clocks.event_reasons_supported = number(0x1ff);
    t.clocks.power_cap_ns = number(run * 900'000'000);
    t.clocks.thermal_ns = t.clocks.sw_thermal_ns = t.clocks.hw_thermal_ns = number(7'000'000'000);
    t.clocks.power_brake_ns = t.clocks.sync_boost_ns = t.clocks.board_limit_ns = number(5'000'000'000);
    t.power.power_mw = number(690'000);
    t.power.limit_mw = t.power.limit_enforced_mw = t.power.limit_default_mw = number(700'000);
    t.power.temperature_c = fact(61);
    t.power.memory_temperature_c = fact(74);
    t.power.margin_c = fact(26);
    t.power.slowdown_c = fact(-2);  // Hopper: a margin, not a temperature
    t.power.shutdown_c = fact(-8);
    t.power.memory_max_c = fact(95);
    t.power.gpu_busy_percent = fact(99U);
    return t;
}

Board board(const char* key, const char* name, FormFactor form, const char* arch) {
    Board result;
    result.key = key;
    result.name = name;
    result.form = form;
    result.arch = arch;
    result.ecc = fact(true);
    result.links = result.link_gb_s = result.power_w = Missing{"gpus.json", "no sourced figure"};
    return result;
}

/// `count` GPUs of this board in place of the eight H100.
Snapshot machine_of(const Board& board, unsigned count, bool guest) {
    Snapshot snapshot = healthy_h100_x8();
    snapshot.gpus.resize(count, snapshot.gpus.front());
    for (Device& gpu : snapshot.gpus) gpu.board = fact(board);
    if (guest) snapshot.host.hypervisor = fact("kvm");
    give_healthy_telemetry(snapshot);
    for (Device& gpu : snapshot.gpus) {
        for (Reading* each : {&gpu.telemetry.first, &gpu.telemetry.last}) {
            if (!board.links.known()) each->nvidia.nvlinks = kNotSupported;
            each->nvidia.fabric.state = kNotSupported;
        }
    }
    if (guest)
        snapshot.host.units = fact(std::vector<ServiceUnit>{
            {"nvidia-fabricmanager.service", fact(false), fact(false), Missing{"cgroup", "ENOENT"}}});
    return snapshot;
}

template <class Change>
void both(Snapshot& snapshot, Change change) {
    for (Device& gpu : snapshot.gpus) {
        change(gpu.telemetry.first.nvidia);
        change(gpu.telemetry.last.nvidia);
    }
}

void no_links_up(NvidiaTelemetry& t) {
    std::vector<NvLink> links;
    for (unsigned i = 0; i < 12; ++i) links.push_back(link(i, false));
    t.nvlinks = fact(links);
}

void without_remapping(NvidiaTelemetry& t) {
    t.repair.row_remap_pending = t.repair.row_remap_failure = kNotSupported;
    t.repair.rows_correctable = t.repair.rows_uncorrectable = kNotSupported;
    t.repair.banks_low = t.repair.banks_none = t.repair.banks_max = kNotSupported;
    t.repair.memory_unrepairable = t.repair.channel_repair_pending = t.repair.tpc_repair_pending =
        kNotSupported;
}

}  // namespace

void give_healthy_telemetry(Snapshot& snapshot) {
    std::vector<std::string> listed;
    for (Device& gpu : snapshot.gpus) {
        if (gpu.vendor != Vendor::nvidia) continue;
        gpu.telemetry.first.at_s = fact(0.5);
        gpu.telemetry.first.nvidia = reading(gpu, 0);
        gpu.telemetry.last.at_s = fact(60.5);
        gpu.telemetry.last.nvidia = reading(gpu, 60);
        listed.push_back(gpu.bdf.str());
    }
    NvmlSystem& nvml = snapshot.host.nvml;
    nvml.library = fact("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.133.20");
    nvml.driver_version = fact("570.133.20");
    nvml.nvml_version = fact("12.570.133.20");
    nvml.cuda_driver_version = fact(12080U);
    nvml.gpu_count = fact(static_cast<unsigned>(listed.size()));
    nvml.listed = fact(listed);
    nvml.excluded = fact(std::vector<std::string>{});
    nvml.confidential_compute = fact(false);
    nvml.confidential_compute_ready = kNotSupported;
    snapshot.host.vendor_troubles = fact(std::vector<VendorTrouble>{});
    snapshot.host.units =
        fact(std::vector<ServiceUnit>{{"nvidia-fabricmanager.service", fact(true), fact(true), fact(1U)},
                                      {"nvidia-persistenced.service", fact(true), fact(true), fact(1U)}});
    snapshot.measurements.vendor_telemetry = fact(true);
}

Snapshot telling_h100_x8() {
    Snapshot snapshot = healthy_h100_x8();
    for (unsigned bus : {5U, 6U, 7U, 8U}) {
        snapshot.host.nvswitches.push_back(Bdf{0, static_cast<std::uint8_t>(bus), 0, 0});
    }
    Board h100 = *snapshot.gpus.front().board;
    h100.links = fact(18U);
    h100.link_gb_s = fact(900U);
    h100.power_w = fact(700U);
    h100.ecc = fact(true);
    for (Device& gpu : snapshot.gpus) gpu.board = fact(h100);
    give_healthy_telemetry(snapshot);
    return snapshot;
}

Snapshot telling_h100_mig() {
    Snapshot snapshot = telling_h100_x8();
    both(snapshot, [](NvidiaTelemetry& t) {
        t.state.mig_current = t.state.mig_pending = fact(true);
        t.state.mig_instances = fact(7U);
        t.state.recovery_action = fact("none");
        t.nvlinks = kNotSupported;
        without_remapping(t);
        t.power.gpu_busy_percent = kNotSupported;
    });
    return snapshot;
}

Snapshot telling_vgpu() {
    Board l40s = board("l40s", "NVIDIA L40S", FormFactor::pcie, "sm_89");
    l40s.power_w = fact(350U);
    Snapshot snapshot = machine_of(l40s, 1, true);
    both(snapshot, [](NvidiaTelemetry& t) {
        t.state.virtualization = fact("vgpu");
        t.state.persistence_mode = fact(false);
        t.state.inforom_valid = t.state.mig_current = t.state.mig_pending = kNotSupported;
        t.state.recovery_action = kNotSupported;
        t.ecc = {};
        for (auto* mode : {&t.ecc.current, &t.ecc.pending, &t.ecc.is_default, &t.ecc.sram_threshold_exceeded})
            *mode = kNotSupported;
        for (auto* count : {&t.ecc.volatile_correctable, &t.ecc.volatile_uncorrectable,
                            &t.ecc.aggregate_uncorrectable, &t.ecc.sram_aggregate_uncorrectable})
            *count = kNotSupported;
        without_remapping(t);
        for (auto* count : {&t.pcie.replays, &t.pcie.l0_to_recovery, &t.pcie.naks_received, &t.pcie.naks_sent,
                            &t.pcie.fatal, &t.pcie.nonfatal})
            *count = kNotSupported;
        t.power.limit_enforced_mw = t.power.limit_default_mw = kNotSupported;
        t.power.temperature_c = t.power.margin_c = t.power.memory_temperature_c = kNotSupported;
        t.clocks.event_reasons = kNotSupported;
    });
    return snapshot;
}

Snapshot telling_gh200() {
    Board gh200 = board("gh200-96gb", "NVIDIA GH200", FormFactor::superchip, "sm_90");
    gh200.link_gb_s = fact(900U);
    Snapshot snapshot = machine_of(gh200, 1, false);
    both(snapshot, [](NvidiaTelemetry& t) {
        no_links_up(t);
        t.c2c_links = t.c2c_links_active = fact(10U);
        t.pcie.generation = t.pcie.width = fact(1U);
    });
    return snapshot;
}

Snapshot telling_a100_pcie() {
    Board a100 = board("a100-pcie-80gb", "NVIDIA A100 PCIe 80GB", FormFactor::pcie, "sm_80");
    a100.links = fact(12U);
    a100.link_gb_s = fact(600U);
    a100.power_w = fact(300U);
    Snapshot snapshot = machine_of(a100, 2, false);
    both(snapshot, [](NvidiaTelemetry& t) {
        no_links_up(t);
        t.power.limit_enforced_mw = t.power.limit_default_mw = number(300'000);
        t.power.slowdown_c = fact(89);
        t.power.margin_c = kNotSupported;
        t.clocks.sm_application_mhz = fact(1095U);
        t.state.mig_current = t.state.mig_pending = fact(false);
    });
    return snapshot;
}

Snapshot telling_t4() {
    const Board t4 = board("t4", "NVIDIA T4", FormFactor::pcie, "sm_75");
    Snapshot snapshot = machine_of(t4, 1, false);
    both(snapshot, [](NvidiaTelemetry& t) {
        without_remapping(t);
        t.repair.retired_pages_sbe = t.repair.retired_pages_dbe = number(0);
        t.repair.retired_pages_pending = fact(false);
        t.state.mig_current = t.state.mig_pending = kNotSupported;
        t.state.recovery_action = Missing{"NVML", "symbol absent"};
        t.clocks.sm_application_mhz = fact(585U);
        t.power.limit_enforced_mw = t.power.limit_default_mw = number(70'000);
        t.power.slowdown_c = fact(93);
        t.power.margin_c = kNotSupported;
    });
    return snapshot;
}

Snapshot telling_h200_guest() {
    Board h200 = board("h200-sxm-141gb", "NVIDIA H200 SXM", FormFactor::sxm, "sm_90");
    h200.links = fact(18U);
    h200.link_gb_s = fact(900U);
    h200.power_w = fact(700U);
    h200.needs_nvswitch = true;
    Snapshot snapshot = machine_of(h200, 1, true);
    both(snapshot, [](NvidiaTelemetry& t) {
        t.state.virtualization = fact("passthrough");
        no_links_up(t);
    });
    return snapshot;
}

}  // namespace gpucheck
