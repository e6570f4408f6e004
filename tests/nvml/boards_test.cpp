// Healthy boards of every kind: what NVML knows is read exactly, and what it does not know stays unknown.
#include <gtest/gtest.h>

#include "fake_machine.h"

namespace gpucheck {
namespace {

TEST(NvmlBoards, AHealthyH100IsReadWhole) {
    FakeMachine machine;
    const Snapshot read = machine.read();
    ASSERT_TRUE(read.host.vendor_troubles.known());
    EXPECT_TRUE(read.host.vendor_troubles->empty());
    const NvmlSystem& system = read.host.nvml;
    EXPECT_TRUE(system.library.is(machine.folder + "/libnvidia-ml.so.1"));
    EXPECT_TRUE(system.driver_version.is("570.133.20"));
    EXPECT_TRUE(system.nvml_version.is("12.570.133.20"));
    EXPECT_TRUE(system.cuda_driver_version.is(12080U));
    EXPECT_TRUE(system.gpu_count.is(8U));
    EXPECT_TRUE(system.listed.is(kAddresses));
    EXPECT_TRUE(system.excluded.is(std::vector<std::string>{}));
    EXPECT_TRUE(system.confidential_compute.is(false));
    EXPECT_FALSE(system.confidential_compute_ready.known());

    const NvidiaTelemetry gpu = first_of(read, "0000:49:00.0");
    EXPECT_TRUE(gpu.identity.handle.is(true));
    EXPECT_TRUE(gpu.identity.name.is("NVIDIA H100 80GB HBM3"));
    EXPECT_EQ(gpu.identity.name.source(), "nvmlDeviceGetName");
    EXPECT_TRUE(gpu.identity.uuid.is("GPU-00000000-0000-4000-8000-000000000004"));
    EXPECT_TRUE(gpu.identity.minor.is(3U));
    EXPECT_TRUE(gpu.identity.memory_total_bytes.is(std::uint64_t{81559} << 20));
    EXPECT_EQ(gpu.identity.sm_count.why(), "NOT_SUPPORTED");
    EXPECT_TRUE(gpu.state.persistence_mode.is(true));
    EXPECT_TRUE(gpu.state.compute_mode.is("default"));
    EXPECT_TRUE(gpu.state.mig_current.is(false));
    EXPECT_EQ(gpu.state.mig_instances.why(), "MIG is off");
    EXPECT_TRUE(gpu.state.recovery_action.is("none"));
    EXPECT_EQ(gpu.state.recovery_action.source(), "nvmlDeviceGetFieldValues FI 230");
    EXPECT_TRUE(gpu.state.inforom_valid.is(true));
    EXPECT_TRUE(gpu.state.compute_processes.is(0U));
    EXPECT_TRUE(gpu.ecc.current.is(true));
    EXPECT_TRUE(gpu.ecc.volatile_uncorrectable.is(0U));
    EXPECT_TRUE(gpu.ecc.sram_threshold_exceeded.is(false));
    EXPECT_TRUE(gpu.repair.row_remap_pending.is(false));
    EXPECT_TRUE(gpu.repair.banks_max.is(2560U));
    EXPECT_TRUE(gpu.repair.memory_unrepairable.is(false));
    EXPECT_EQ(gpu.repair.retired_pages_dbe.why(), "NOT_SUPPORTED");
    EXPECT_TRUE(gpu.fabric.state.is("completed"));
    EXPECT_TRUE(gpu.fabric.status.is("SUCCESS"));
    EXPECT_TRUE(gpu.fabric.health_summary.is("healthy"));
    EXPECT_TRUE(gpu.fabric.cluster_uuid.is("b85e8d6c-9a7b-4e9b-ae5a-1c1d0f4f7a10"));
    EXPECT_TRUE(gpu.pcie.generation.is(5U));
    EXPECT_TRUE(gpu.pcie.naks_sent.is(0U));
    EXPECT_TRUE(gpu.clocks.sm_mhz.is(345U));
    EXPECT_TRUE(gpu.clocks.event_reasons.is(1U));
    EXPECT_TRUE(gpu.clocks.power_brake_ns.is(0U));
    EXPECT_TRUE(gpu.power.limit_default_mw.is(700000U));
    EXPECT_TRUE(gpu.power.temperature_c.is(31));
    EXPECT_TRUE(gpu.power.margin_c.is(54));
    EXPECT_TRUE(gpu.power.memory_temperature_c.is(33));
    EXPECT_EQ(gpu.power.slowdown_c.why(), "NOT_SUPPORTED");
}

TEST(NvmlBoards, LinksOfNvLink4HaveTheOldCountersOnly) {
    FakeMachine machine("h100-sxm", 1);
    machine.value(kAddresses[0], "nvmlDeviceGetNvLinkErrorCounter/7/2", 42);
    const Snapshot read = machine.read();
    const auto& links = first_of(read, kAddresses[0]).nvlinks;
    ASSERT_TRUE(links.known());
    ASSERT_EQ(links->size(), 18U);
    const NvLink& link = links.value()[7];
    EXPECT_EQ(link.link, 7U);
    EXPECT_TRUE(link.active.is(true));
    EXPECT_TRUE(link.version.is(6U));
    EXPECT_TRUE(link.speed_mbps.is(26562U));
    EXPECT_TRUE(link.remote.is("0000:83:00.0"));
    EXPECT_TRUE(link.remote_type.is("switch"));
    EXPECT_TRUE(link.crc_errors.is(42U));
    EXPECT_TRUE(link.replays.is(0U));
    EXPECT_EQ(link.malformed_packets.why(), "NOT_SUPPORTED");
    EXPECT_TRUE(links.value()[6].crc_errors.is(0U));
}

TEST(NvmlBoards, LinksOfNvLink5HaveTheNewCountersOnly) {
    FakeMachine machine("b200-sxm", 1);
    machine.value(kAddresses[0], "FI 220/3", 0x50b);  // 5e-11
    machine.value(kAddresses[0], "FI 214/3", 2);
    const Snapshot read = machine.read();
    const auto& links = first_of(read, kAddresses[0]).nvlinks;
    ASSERT_TRUE(links.known());
    const NvLink& link = links.value()[3];
    EXPECT_EQ(link.crc_errors.why(), "NOT_SUPPORTED");
    EXPECT_TRUE(link.malformed_packets.is(0U));
    EXPECT_TRUE(link.recoveries_failed.is(2U));
    ASSERT_TRUE(link.effective_ber.known());
    EXPECT_DOUBLE_EQ(*link.effective_ber, 5e-11);
    EXPECT_LT(*link.symbol_ber, 1e-100);
}

TEST(NvmlBoards, NoNvLinkIsNotZeroLinks) {
    const Snapshot pcie = FakeMachine("h100-pcie", 1).read();
    EXPECT_EQ(first_of(pcie, kAddresses[0]).nvlinks.why(), "NOT_SUPPORTED");
    EXPECT_EQ(first_of(pcie, kAddresses[0]).fabric.state.why(), "NOT_SUPPORTED");
    const Snapshot unbridged = FakeMachine("a100-pcie", 1).read();
    const auto& links = first_of(unbridged, kAddresses[0]).nvlinks;
    ASSERT_TRUE(links.known());
    EXPECT_TRUE(links.value()[0].active.is(false));
    EXPECT_FALSE(links.value()[0].version.known());
}

TEST(NvmlBoards, OldAndSlicedBoardsKeepTheirGaps) {
    const Snapshot turing = FakeMachine("t4", 1).read();
    const NvidiaTelemetry& t4 = first_of(turing, kAddresses[0]);
    EXPECT_TRUE(t4.repair.retired_pages_dbe.is(0U));
    EXPECT_EQ(t4.repair.row_remap_pending.why(), "NOT_SUPPORTED");
    EXPECT_TRUE(t4.power.temperature_c.is(31));
    EXPECT_EQ(t4.power.temperature_c.source(), "nvmlDeviceGetTemperature");
    EXPECT_TRUE(t4.power.slowdown_c.is(93));
    EXPECT_EQ(t4.state.mig_current.why(), "NOT_SUPPORTED");

    const Snapshot sliced = FakeMachine("a100-sxm-mig", 1).read();
    const NvidiaTelemetry& mig = first_of(sliced, kAddresses[0]);
    EXPECT_TRUE(mig.state.mig_current.is(true));
    EXPECT_TRUE(mig.state.mig_instances.is(2U));
    EXPECT_EQ(mig.repair.row_remap_pending.why(), "NOT_SUPPORTED");
    EXPECT_EQ(mig.power.gpu_busy_percent.why(), "NOT_SUPPORTED");

    const Snapshot guest = FakeMachine("a100-vgpu", 1).read();
    const NvidiaTelemetry& vgpu = first_of(guest, kAddresses[0]);
    EXPECT_TRUE(vgpu.state.virtualization.is("vgpu"));
    for (const auto* fact : {&vgpu.ecc.volatile_uncorrectable, &vgpu.pcie.replays, &vgpu.power.power_mw})
        EXPECT_EQ(fact->why(), "NOT_SUPPORTED");
}

TEST(NvmlBoards, TheFabricManagerIsAbsent) {
    FakeMachine machine("h100-sxm", 2);
    machine.value("", "nvmlDeviceGetGpuFabricInfoV", {{"state", 1}, {"status", "NOT_READY"}, {"newest", 2}});
    const Snapshot read = machine.read();
    const NvFabric& fabric = first_of(read, kAddresses[1]).fabric;
    EXPECT_TRUE(fabric.state.is("not_started"));
    EXPECT_TRUE(fabric.status.is("NOT_READY"));
    EXPECT_TRUE(fabric.health_mask.is(0U));
    EXPECT_EQ(fabric.health_summary.why(), "not in this version");
}

TEST(NvmlBoards, CountersOfTwoReadingsAreApart) {
    FakeMachine machine("h100-sxm", 2);
    machine.value(kAddresses[1], "nvmlDeviceGetTotalEccErrors/0/0", {{"first", 10}, {"step", 17000}});
    Snapshot snapshot = machine.read();
    machine.read(snapshot, true);
    EXPECT_TRUE(snapshot.gpus[1].telemetry.first.nvidia.ecc.volatile_correctable.is(10U));
    EXPECT_TRUE(snapshot.gpus[1].telemetry.last.nvidia.ecc.volatile_correctable.is(17010U));
    EXPECT_TRUE(snapshot.gpus[0].telemetry.last.nvidia.ecc.volatile_correctable.is(0U));
    EXPECT_TRUE(snapshot.host.nvml.gpu_count.is(2U));
}

TEST(NvmlBoards, ARepairThatWaitsForAResetIsNotOneThatFailed) {
    FakeMachine machine("h100-sxm", 2);
    machine.value(kAddresses[0], "nvmlDeviceGetRemappedRows", {0, 1, 1, 0});
    machine.value(kAddresses[1], "nvmlDeviceGetRemappedRows", {0, 9, 0, 1});
    machine.value(kAddresses[1], "nvmlDeviceGetUnrepairableMemoryFlag_v1", {{"version_and_flag", 1}});
    const Snapshot read = machine.read();
    EXPECT_TRUE(first_of(read, kAddresses[0]).repair.row_remap_pending.is(true));
    EXPECT_TRUE(first_of(read, kAddresses[0]).repair.row_remap_failure.is(false));
    EXPECT_TRUE(first_of(read, kAddresses[1]).repair.row_remap_failure.is(true));
    EXPECT_TRUE(first_of(read, kAddresses[1]).repair.rows_uncorrectable.is(9U));
    EXPECT_TRUE(first_of(read, kAddresses[1]).repair.memory_unrepairable.is(true));
}

TEST(NvmlBoards, ThrottleCountersAreFoundUnderEitherNumber) {
    FakeMachine machine("h100-sxm", 3);
    const nlohmann::json gone = {{"error", "NOT_SUPPORTED"}};
    machine.value(kAddresses[0], "FI 271", gone);  // nvml.h 12.9
    machine.value(kAddresses[0], "FI 253", 5000);
    machine.value(kAddresses[1], "FI 271", {{"uint", 3}});  // a power-smoothing setting, not a counter
    machine.value(kAddresses[2], "FI 253", 5000);           // both claim it
    const Snapshot read = machine.read();
    EXPECT_TRUE(first_of(read, kAddresses[0]).clocks.power_brake_ns.is(5000U));
    EXPECT_EQ(first_of(read, kAddresses[1]).clocks.power_brake_ns.why(), "NOT_SUPPORTED");
    EXPECT_EQ(first_of(read, kAddresses[2]).clocks.power_brake_ns.why(), "two fields claim to be it");
}

}  // namespace
}  // namespace gpucheck
