// ECC, row remapping, retired pages and repairs: what is broken, what waits, and what is history.
#include <gtest/gtest.h>

#include "tests/nvidia_checks/change.h"

namespace gpucheck {
namespace {

TEST(NvidiaEcc, OffIsJudgedByWhoSaysThatItShouldBeOn) {
    const auto off = [](NvidiaTelemetry& t) { t.ecc.current = t.ecc.pending = fact(false); };
    EXPECT_EQ(said_with(kNvidiaEccCheck, off), "nvidia.ecc.off 0000:19:00.0 fail");
    Snapshot machine = with(off);
    machine.expected.ecc = fact(false);
    for (std::size_t i = 1; i < 8; ++i) off(first(machine, i)), off(last(machine, i));
    EXPECT_EQ(said(kNvidiaEccCheck, machine), "");
    // Only the GPU itself says so.
    machine = with(off);
    machine.gpus[0].board = Missing{"gpus.json", "no row"};
    EXPECT_EQ(said(kNvidiaEccCheck, machine), "nvidia.ecc.off 0000:19:00.0 warn");
    first(machine).ecc.is_default = last(machine).ecc.is_default = fact(false);
    EXPECT_EQ(said(kNvidiaEccCheck, machine), "");
    machine = telling_h100_x8();
    machine.gpus.resize(1);
    machine.expected.ecc = fact(false);
    EXPECT_EQ(said(kNvidiaEccCheck, machine), "nvidia.ecc.on 0000:19:00.0 warn");
}

TEST(NvidiaEcc, PendingAndUnknown) {
    EXPECT_EQ(said_with(kNvidiaEccCheck, [](NvidiaTelemetry& t) { t.ecc.pending = fact(false); }),
              "nvidia.ecc.pending 0000:19:00.0 warn");
    // "Unknown Error" after a double-bit error is not "disabled".
    EXPECT_EQ(said_with(kNvidiaEccCheck,
                        [](NvidiaTelemetry& t) {
                            t.ecc.current = Missing{"nvmlDeviceGetEccMode", "UNKNOWN"};
                        }),
              "telemetry.unread 0000:19:00.0 unknown");
    EXPECT_EQ(said_with(kNvidiaEccCheck,
                        [](NvidiaTelemetry& t) {
                            t.ecc.current = Missing{"nvmlDeviceGetEccMode", "NOT_SUPPORTED"};
                        }),
              "telemetry.unread 0000:19:00.0 unknown");
}

TEST(NvidiaEccErrors, UncorrectableNowFailsAndHistoryWarns) {
    EXPECT_EQ(said_with(kNvidiaEccErrorsCheck,
                        [](NvidiaTelemetry& t) { t.ecc.volatile_uncorrectable = number(1); }),
              "nvidia.ecc.uncorrectable 0000:19:00.0 fail");
    EXPECT_EQ(said_with(kNvidiaEccErrorsCheck,
                        [](NvidiaTelemetry& t) { t.ecc.aggregate_uncorrectable = number(9); }),
              "nvidia.ecc.history 0000:19:00.0 warn");
    EXPECT_EQ(said_with(kNvidiaEccErrorsCheck,
                        [](NvidiaTelemetry& t) { t.ecc.sram_threshold_exceeded = fact(true); }),
              "nvidia.sram.threshold 0000:19:00.0 fail");
    // Only a part is offered, and a counter that was reset between the readings hides nothing.
    Snapshot machine = telling_h100_x8();
    first(machine).ecc.volatile_uncorrectable = Missing{"NVML", "NOT_SUPPORTED"};
    last(machine).ecc.volatile_uncorrectable = Missing{"NVML", "NOT_SUPPORTED"};
    first(machine).ecc.sram_volatile_uncorrectable = number(2);
    EXPECT_EQ(said(kNvidiaEccErrorsCheck, machine), "nvidia.ecc.uncorrectable 0000:19:00.0 fail");
}

TEST(NvidiaEccErrors, AStormIsARateAndNotATotal) {
    Snapshot machine = telling_h100_x8();
    first(machine).ecc.volatile_correctable = number(0);
    last(machine).ecc.volatile_correctable = number(60 * 4600);
    EXPECT_EQ(said(kNvidiaEccErrorsCheck, machine), "nvidia.ecc.storm 0000:19:00.0 warn");
    last(machine).ecc.volatile_correctable = number(60 * 99);
    EXPECT_EQ(said(kNvidiaEccErrorsCheck, machine), "");
    first(machine).ecc.volatile_correctable = number(19'000'000);
    last(machine).ecc.volatile_correctable = number(19'000'010);
    EXPECT_EQ(said(kNvidiaEccErrorsCheck, machine), "");
    EXPECT_EQ(said_with(kNvidiaEccErrorsCheck,
                        [](NvidiaTelemetry& t) { t.ecc.dram_volatile_correctable = number(20'000'001); }),
              "nvidia.ecc.corrected 0000:19:00.0 warn");
    EXPECT_EQ(said_with(kNvidiaEccErrorsCheck,
                        [](NvidiaTelemetry& t) { t.ecc.sram_volatile_correctable = number(10'000); }),
              "");
}

TEST(NvidiaRowRemap, PendingIsNotFailed) {
    EXPECT_EQ(
        said_with(kNvidiaRowRemapCheck, [](NvidiaTelemetry& t) { t.repair.row_remap_pending = fact(true); }),
        "nvidia.remap.pending 0000:19:00.0 warn");
    EXPECT_EQ(
        said_with(kNvidiaRowRemapCheck, [](NvidiaTelemetry& t) { t.repair.row_remap_failure = fact(true); }),
        "nvidia.remap.failed 0000:19:00.0 fail");
    EXPECT_EQ(said_with(kNvidiaRowRemapCheck,
                        [](NvidiaTelemetry& t) { t.repair.rows_uncorrectable = number(512); }),
              "nvidia.remap.exhausted 0000:19:00.0 fail");
    EXPECT_EQ(said_with(kNvidiaRowRemapCheck,
                        [](NvidiaTelemetry& t) { t.repair.rows_uncorrectable = number(511); }),
              "");
    EXPECT_EQ(said_with(kNvidiaRowRemapCheck, [](NvidiaTelemetry& t) { t.repair.banks_none = fact(1U); }),
              "nvidia.remap.reserve 0000:19:00.0 warn");
    EXPECT_EQ(said_with(kNvidiaRowRemapCheck, [](NvidiaTelemetry& t) { t.repair.banks_partial = fact(3U); }),
              "");
}

TEST(NvidiaRowRemap, UnsupportedIsAnAnswerOnlyWhereItMayBe) {
    const auto unsupported = [](NvidiaTelemetry& t) {
        t.repair.row_remap_pending = t.repair.row_remap_failure = Missing{"NVML", "NOT_SUPPORTED"};
    };
    EXPECT_EQ(said_with(kNvidiaRowRemapCheck, unsupported), "telemetry.unread 0000:19:00.0 unknown");
    EXPECT_EQ(said(kNvidiaRowRemapCheck, telling_h100_mig()), "");
}

TEST(NvidiaRetiredPages, LimitsAndPending) {
    Snapshot machine = telling_t4();
    first(machine).repair.retired_pages_dbe = last(machine).repair.retired_pages_dbe = number(62);
    EXPECT_EQ(said(kNvidiaRetiredPagesCheck, machine), "nvidia.pages.retired 0000:19:00.0 warn");
    first(machine).repair.retired_pages_sbe = last(machine).repair.retired_pages_sbe = number(1);
    EXPECT_EQ(said(kNvidiaRetiredPagesCheck, machine), "nvidia.pages.exhausted 0000:19:00.0 fail");
    last(machine).repair.retired_pages_sbe = number(UINT64_MAX);
    EXPECT_EQ(said(kNvidiaRetiredPagesCheck, machine), "nvidia.pages.exhausted 0000:19:00.0 fail");
    machine = telling_t4();
    last(machine).repair.retired_pages_pending = fact(true);
    EXPECT_EQ(said(kNvidiaRetiredPagesCheck, machine), "nvidia.pages.pending 0000:19:00.0 fail");
    EXPECT_EQ(said(kNvidiaRetiredPagesCheck, telling_t4()), "");
}

TEST(NvidiaRepair, UnrepairableFailsAndPendingWarns) {
    EXPECT_EQ(
        said_with(kNvidiaRepairCheck, [](NvidiaTelemetry& t) { t.repair.memory_unrepairable = fact(true); }),
        "nvidia.memory.unrepairable 0000:19:00.0 fail");
    EXPECT_EQ(
        said_with(kNvidiaRepairCheck, [](NvidiaTelemetry& t) { t.repair.tpc_repair_pending = fact(true); }),
        "nvidia.repair.pending 0000:19:00.0 warn");
    EXPECT_EQ(said_with(kNvidiaRepairCheck,
                        [](NvidiaTelemetry& t) {
                            t.repair.tpc_repair_pending = Missing{"NVML", "symbol absent"};
                        }),
              "");
}

TEST(NvidiaInforom, CorruptedIsAFaultAndUnofferedIsNot) {
    EXPECT_EQ(said_with(kNvidiaInforomCheck, [](NvidiaTelemetry& t) { t.state.inforom_valid = fact(false); }),
              "nvidia.inforom.corrupt 0000:19:00.0 fail");
    EXPECT_EQ(said_with(kNvidiaInforomCheck,
                        [](NvidiaTelemetry& t) {
                            t.state.inforom_valid = Missing{"NVML", "NOT_SUPPORTED"};
                        }),
              "");
}

}  // namespace
}  // namespace gpucheck
