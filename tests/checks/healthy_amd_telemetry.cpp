// Healthy AMD GPUs with telemetry; see healthy_amd_telemetry.h.
#include "tests/checks/healthy_amd_telemetry.h"

#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

using U64 = std::uint64_t;

HwmonTemperature sensor(const char* label, int celsius, int critical) {
    return {label, fact(celsius), fact(critical), fact(critical + 5)};
}

AmdMetrics metrics_of(const char* layout, unsigned index) {
    AmdMetrics metrics;
    metrics.layout = fact(layout);
    metrics.hotspot_c = fact(46 + static_cast<int>(index));
    metrics.memory_c = fact(39);
    metrics.vr_soc_c = fact(42);
    metrics.edge_c = Missing{"gpu_metrics", "not in layout"};
    metrics.socket_power_w = fact(132U + index);
    metrics.gfx_activity_percent = fact(0U);
    metrics.memory_activity_percent = fact(0U);
    metrics.gfxclk_lock_status = fact(U64{0});
    metrics.gfxclk_mhz = fact(std::vector<unsigned>(8, 132));
    metrics.uclk_mhz = fact(900U);
    AmdResidency& residency = metrics.residency;
    residency.accumulation_counter = fact(U64{5120774});
    residency.prochot = fact(U64{0});
    residency.ppt = fact(U64{731902});
    residency.socket_thermal = fact(U64{3344});
    residency.vr_thermal = fact(U64{0});
    residency.hbm_thermal = fact(U64{0});
    residency.throttle_status = Missing{"gpu_metrics", "not in layout"};
    residency.independent_throttle_status = Missing{"gpu_metrics", "not in layout"};
    AmdLinkCounters& links = metrics.links;
    links.pcie_width = fact(16U);
    links.pcie_speed_tenth_gts = fact(320U);
    links.xgmi_width = fact(16U);
    links.xgmi_speed_gbps = fact(32U);
    for (Fact<U64>* counter :
         {&links.pcie_l0_to_recovery, &links.pcie_replays, &links.pcie_replay_rollovers,
          &links.pcie_naks_sent, &links.pcie_naks_received, &links.pcie_other_end_recovery})
        *counter = fact(U64{0});
    links.pcie_l0_to_recovery = fact(U64{1});
    links.xgmi_link_up = fact(std::vector<unsigned>{1, 1, 1, 1, 1, 1, 1, 2});
    return metrics;
}

std::vector<RasBlock> quiet_blocks() {
    std::vector<RasBlock> blocks;
    for (const char* name : {"gfx", "mmhub", "sdma", "umc", "xgmi_wafl"})
        blocks.push_back({name, fact(U64{0}), fact(U64{0}), fact(U64{0})});
    return blocks;
}

AmdTelemetry reading_of(const char* layout, unsigned index, unsigned watts) {
    AmdTelemetry reading;
    reading.metrics = metrics_of(layout, index);
    reading.ecc_memory = fact(true);
    reading.ecc_sram = fact(true);
    reading.ras = fact(quiet_blocks());
    reading.bad_pages = fact(BadPages{fact(3U), fact(0U), fact(0U)});
    reading.bad_page_threshold = fact(U64{128});
    reading.temperatures = fact(std::vector<HwmonTemperature>{
        sensor("junction", 46 + static_cast<int>(index), 100), sensor("mem", 39, 105)});
    reading.power_uw = fact(U64{132000000});
    reading.power_cap_uw = fact(U64{watts} * 1000000);
    reading.power_cap_default_uw = fact(U64{watts} * 1000000);
    reading.sclk_max_mhz = fact(2100U);
    reading.performance_level = fact("auto");
    reading.gpu_busy_percent = fact(0U);
    // gfx942 and gfx950 answer EINVAL (ROCm/rocm-systems#11468).
    reading.xgmi_error = Missing{"xgmi_error", "EINVAL"};
    return reading;
}

/// 30 s later, under load: at the power limit for most of the time.
void read_again(Telemetry& telemetry) {
    telemetry.first.at_s = fact(0.4);
    telemetry.last = telemetry.first;
    telemetry.last.at_s = fact(30.4);
    AmdTelemetry& last = telemetry.last.amd;
    last.ras = Missing{"ras", "not looked at"};
    last.metrics.hotspot_c = fact(84);
    last.metrics.gfx_activity_percent = fact(100U);
    last.metrics.gfxclk_mhz = fact(std::vector<unsigned>(8, 1650));
    if (last.metrics.residency.accumulation_counter.known()) {
        last.metrics.residency.accumulation_counter = fact(U64{5150774});
        last.metrics.residency.ppt = fact(U64{760000});
    }
    if (last.temperatures.known())
        last.temperatures =
            fact(std::vector<HwmonTemperature>{sensor("junction", 84, 100), sensor("mem", 61, 105)});
}

void set_board(Device& gpu, unsigned links, unsigned watts) {
    Board board = *gpu.board;
    board.ecc = fact(true);
    board.links = fact(links);
    board.power_w = fact(watts);
    gpu.board = fact(board);
    for (KfdNode& node : gpu.amd.kfd_nodes) node.xgmi_links = fact(links);
}

void tell(Snapshot& machine, const char* layout, unsigned links, unsigned watts) {
    machine.measurements.vendor_telemetry = fact(true);
    unsigned index = 0;
    for (Device& gpu : machine.gpus) {
        set_board(gpu, links, watts);
        gpu.telemetry.first.amd = reading_of(layout, index++, watts);
        read_again(gpu.telemetry);
        gpu.amd.unique_id = fact("1f2e3d4c5b6a790" + std::to_string(index));
    }
}

}  // namespace

Snapshot telling_mi300x_x8() {
    Snapshot machine = healthy_mi300x_x8();
    tell(machine, "1.7", 7, 750);
    return machine;
}

Snapshot telling_mi300x_x8_cpx() {
    Snapshot machine = healthy_mi300x_x8_cpx();
    tell(machine, "1.7", 7, 750);
    for (Device& gpu : machine.gpus) {
        for (KfdNode& node : gpu.amd.kfd_nodes) node.xgmi_links = fact(63U);
    }
    return machine;
}

Snapshot telling_mi300x_vf() {
    Snapshot machine = healthy_mi300x_vf();
    tell(machine, "1.7", 7, 750);
    Device& gpu = machine.gpus.front();
    for (AmdTelemetry* reading : {&gpu.telemetry.first.amd, &gpu.telemetry.last.amd}) {
        reading->ras = Missing{"ras", "ENOENT"};
        reading->bad_pages = Missing{"ras/gpu_vram_bad_pages", "ENOENT"};
        reading->bad_page_threshold = Missing{"ras", "ENOENT"};
        AmdLinkCounters& links = reading->metrics.links;
        for (Fact<U64>* counter :
             {&links.pcie_l0_to_recovery, &links.pcie_replays, &links.pcie_replay_rollovers,
              &links.pcie_naks_sent, &links.pcie_naks_received, &links.pcie_other_end_recovery})
            *counter = Missing{"gpu_metrics", "not available"};
        links.xgmi_link_up = fact(std::vector<unsigned>(8, 0));  // all read as down in a guest
        // The host keeps the limits; UINT64_MAX means "not available" (amd/MxGPU-Virtualization#26).
        reading->power_cap_max_uw = fact(~U64{0});
        reading->performance_level = Missing{"power_dpm_force_performance_level", "ENOENT"};
    }
    return machine;
}

Snapshot telling_mi210_x2() {
    Snapshot machine = healthy_mi300x_x8();
    machine.gpus.resize(2);
    machine.host.kfd.gpu_nodes = fact(2U);
    machine.expected.gpu_count = Fact<unsigned>(2, "--expect");
    for (Device& gpu : machine.gpus) {
        Board board = *gpu.board;
        board.key = "mi210";
        board.name = "AMD Instinct MI210";
        board.form = FormFactor::pcie;
        board.arch = "gfx90a";
        board.pcie_speed = fact(LinkSpeed::gen4);
        board.partitions_max = Missing{"gpus.json", "no compute partitions"};
        gpu.board = fact(board);
        gpu.amd.compute_partition = Missing{"current_compute_partition", "ENOENT"};
        gpu.amd.kfd_nodes.front().gfx_target_version = fact(U64{90010});
    }
    tell(machine, "1.3", 3, 300);
    for (Device& gpu : machine.gpus) {
        gpu.amd.kfd_nodes.front().xgmi_links = fact(1U);
        for (AmdTelemetry* reading : {&gpu.telemetry.first.amd, &gpu.telemetry.last.amd}) {
            const Missing absent{"gpu_metrics", "not in layout"};
            AmdMetrics& metrics = reading->metrics;
            metrics.residency = AmdResidency{absent, absent, absent, absent, absent, absent, absent, absent};
            // PPT0 and TDC_GFX: the power and current limits of a GPU at work.
            metrics.residency.independent_throttle_status = fact(U64{0x10001});
            AmdLinkCounters none;
            for (Fact<U64>* counter :
                 {&none.pcie_l0_to_recovery, &none.pcie_replays, &none.pcie_replay_rollovers,
                  &none.pcie_naks_sent, &none.pcie_naks_received, &none.pcie_other_end_recovery})
                *counter = absent;
            none.xgmi_link_up = absent;
            none.xgmi_width = absent;
            none.xgmi_speed_gbps = absent;
            metrics.links = none;
            reading->xgmi_error = fact(0U);
            if (!reading->ras.known()) continue;
            std::vector<RasBlock> blocks = *reading->ras;
            for (RasBlock& block : blocks) block.deferred = Missing{"ras", "ENOENT"};
            reading->ras = fact(blocks);
        }
    }
    return machine;
}

Snapshot telling_mi350x_x8() {
    Snapshot machine = healthy_mi300x_x8();
    machine.host.rocm_version = fact("7.0.1-20");
    machine.host.modules.front().version = fact("6.14.14");
    for (Device& gpu : machine.gpus) {
        Board board = *gpu.board;
        board.key = "mi350x";
        board.name = "AMD Instinct MI350X";
        board.arch = "gfx950";
        board.compute_units = fact(256U);
        gpu.board = fact(board);
        gpu.amd.kfd_nodes.front().gfx_target_version = fact(U64{90500});
        gpu.amd.kfd_nodes.front().simd_count = fact(U64{1024});
    }
    tell(machine, "1.9", 7, 1000);
    return machine;
}

}  // namespace gpucheck
