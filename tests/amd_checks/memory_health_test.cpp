// RAS counts, bad pages and ECC: each code on an input one fact away from a healthy machine.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"
#include "tests/checks/healthy_amd_telemetry.h"

namespace gpucheck {
namespace {

using U64 = std::uint64_t;

Snapshot with_block(Snapshot machine, Fact<U64> RasBlock::*kind, Fact<U64> value, const char* name = "umc") {
    Fact<std::vector<RasBlock>>& ras = machine.gpus[0].telemetry.first.amd.ras;
    std::vector<RasBlock> blocks = *ras;
    for (RasBlock& block : blocks) {
        if (block.name == name) block.*kind = value;
    }
    ras = fact(blocks);
    return machine;
}

Snapshot with_pages(unsigned retired, unsigned pending, unsigned failed) {
    Snapshot machine = telling_mi300x_x8();
    machine.gpus[0].telemetry.first.amd.bad_pages =
        fact(BadPages{fact(retired), fact(pending), fact(failed)});
    return machine;
}

TEST(RasErrors, EachKind) {
    EXPECT_EQ(said(kAmdRasCheck, with_block(telling_mi300x_x8(), &RasBlock::uncorrectable, fact(U64{2}))),
              "ras.uncorrectable 0000:05:00.0 fail");
    EXPECT_EQ(said(kAmdRasCheck, with_block(telling_mi300x_x8(), &RasBlock::deferred, fact(U64{1}))),
              "ras.deferred 0000:05:00.0 fail");
    EXPECT_EQ(said(kAmdRasCheck, with_block(telling_mi300x_x8(), &RasBlock::correctable, fact(U64{9}))),
              "ras.correctable 0000:05:00.0 warn");
    EXPECT_EQ(said(kAmdRasCheck, with_block(telling_mi300x_x8(), &RasBlock::correctable, fact(U64{0}))), "");
}

TEST(RasErrors, NamesTheBlockAndCounts) {
    Snapshot machine = with_block(telling_mi300x_x8(), &RasBlock::uncorrectable, fact(U64{2}));
    machine = with_block(std::move(machine), &RasBlock::uncorrectable, fact(U64{1}), "gfx");
    const Findings findings = complaints(kAmdRasCheck, machine);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].observed, "gfx 1, umc 2 since the driver started");
    EXPECT_EQ(findings[0].count, 3U);
}

TEST(RasErrors, InaccessibleIsUnknownAndNoDeferredCountIsAnAnswer) {
    const Snapshot busy = with_block(telling_mi300x_x8(), &RasBlock::uncorrectable,
                                     Missing{"umc_err_count", "currently inaccessible"});
    EXPECT_EQ(said(kAmdRasCheck, busy), "telemetry.unread 0000:05:00.0 unknown");
    const Snapshot old =
        with_block(telling_mi300x_x8(), &RasBlock::deferred, Missing{"umc_err_count", "ENOENT"});
    EXPECT_EQ(said(kAmdRasCheck, old), "");
    const Snapshot without =
        with_block(telling_mi300x_x8(), &RasBlock::uncorrectable, Missing{"umc_err_count", "ENOENT"});
    EXPECT_EQ(said(kAmdRasCheck, without), "telemetry.unread 0000:05:00.0 unknown");
}

TEST(RasErrors, AnErrorDuringTheRunCounts) {
    Snapshot machine = telling_mi300x_x8();
    Telemetry& telemetry = machine.gpus[0].telemetry;
    telemetry.last.amd.ras = telemetry.first.amd.ras;
    EXPECT_EQ(said(kAmdRasCheck, machine), "");
    std::vector<RasBlock> blocks = *telemetry.last.amd.ras;
    blocks.back().uncorrectable = fact(U64{4});
    telemetry.last.amd.ras = fact(blocks);
    EXPECT_EQ(said(kAmdRasCheck, machine), "ras.uncorrectable 0000:05:00.0 fail");
    EXPECT_EQ(complaints(kAmdRasCheck, machine)[0].count, 4U);
}

TEST(RasErrors, Mi200CountsSinceTheLastReading) {
    Snapshot machine = with_block(telling_mi210_x2(), &RasBlock::correctable, fact(U64{5}));
    Telemetry& telemetry = machine.gpus[0].telemetry;
    EXPECT_EQ(complaints(kAmdRasCheck, machine)[0].observed, "umc 5 since they were last read");
    telemetry.last.amd.ras = telemetry.first.amd.ras;  // both readings add up: the first set them to zero
    EXPECT_EQ(complaints(kAmdRasCheck, machine)[0].count, 10U);
}

TEST(RasPages, PendingFailedAndLimits) {
    EXPECT_EQ(said(kAmdBadPagesCheck, with_pages(3, 1, 0)), "ras.pages.pending 0000:05:00.0 warn");
    EXPECT_EQ(said(kAmdBadPagesCheck, with_pages(3, 0, 1)), "ras.pages.failed 0000:05:00.0 fail");
    EXPECT_EQ(said(kAmdBadPagesCheck, with_pages(115, 0, 0)), "");
    EXPECT_EQ(said(kAmdBadPagesCheck, with_pages(116, 0, 0)), "ras.pages.near_limit 0000:05:00.0 warn");
    EXPECT_EQ(said(kAmdBadPagesCheck, with_pages(127, 0, 0)), "ras.pages.near_limit 0000:05:00.0 warn");
    EXPECT_EQ(said(kAmdBadPagesCheck, with_pages(128, 0, 0)), "ras.pages.limit 0000:05:00.0 fail");
}

TEST(RasPages, WithoutThresholdOnlyManyPagesAreUnknown) {
    for (const Fact<U64>& none : {Fact<U64>(Missing{"parameter", "EACCES"}), fact(U64{0})}) {
        Snapshot machine = with_pages(20, 0, 0);
        machine.gpus[0].telemetry.first.amd.bad_page_threshold = none;
        EXPECT_EQ(said(kAmdBadPagesCheck, machine), "");
        machine = with_pages(500, 0, 0);
        machine.gpus[0].telemetry.first.amd.bad_page_threshold = none;
        EXPECT_EQ(said(kAmdBadPagesCheck, machine), "telemetry.unread 0000:05:00.0 unknown");
    }
    Snapshot machine = with_pages(500, 0, 0);
    machine.gpus[0].telemetry.first.amd.bad_page_threshold = fact(U64{1965});  // a page for each 100 MB
    EXPECT_EQ(said(kAmdBadPagesCheck, machine), "");
}

TEST(RasPages, ALimitLeftToTheDriverGoesByTheMemory) {
    Snapshot machine = with_pages(1768, 0, 0);  // 196592 MB of memory: 1965 pages
    machine.gpus[0].telemetry.first.amd.bad_page_threshold =
        Missing{"parameters/bad_page_threshold", "left to the driver: bad_page_threshold=-1"};
    EXPECT_EQ(said(kAmdBadPagesCheck, machine), "");
    machine.gpus[0].telemetry.first.amd.bad_pages = fact(BadPages{fact(1769U), fact(0U), fact(0U)});
    EXPECT_EQ(said(kAmdBadPagesCheck, machine), "ras.pages.near_limit 0000:05:00.0 warn");
    machine.gpus[0].telemetry.first.amd.bad_pages = fact(BadPages{fact(1965U), fact(0U), fact(0U)});
    EXPECT_EQ(said(kAmdBadPagesCheck, machine), "ras.pages.limit 0000:05:00.0 fail");
}

TEST(RasPages, UnreadableIsUnknown) {
    Snapshot machine = telling_mi300x_x8();
    for (Device& gpu : machine.gpus)
        gpu.telemetry.first.amd.bad_pages = Missing{"gpu_vram_bad_pages", "EACCES"};
    EXPECT_EQ(said(kAmdBadPagesCheck, machine), "telemetry.unread host unknown");
    machine.gpus.resize(1);
    EXPECT_EQ(said(kAmdBadPagesCheck, machine), "telemetry.unread 0000:05:00.0 unknown");
}

TEST(KfdEcc, OffAndUnstated) {
    Snapshot machine = telling_mi300x_x8();
    Fact<U64>& capability = machine.gpus[0].amd.kfd_nodes[0].capability;
    capability = fact(U64{746037888 & ~0x04000000ULL});
    EXPECT_EQ(said(kKfdEccCheck, machine), "kfd.ecc.off 0000:05:00.0 warn");
    EXPECT_EQ(complaints(kKfdEccCheck, machine).front().observed, "memory on, SRAM off");
    capability = fact(U64{2889327232});  // MI350X, another revision
    EXPECT_EQ(said(kKfdEccCheck, machine), "");
    capability = Missing{"properties", "no such key"};
    EXPECT_EQ(said(kKfdEccCheck, machine), "telemetry.unread 0000:05:00.0 unknown");
    Board board = *machine.gpus[0].board;
    board.arch = "gfx1100";  // a workstation card has none
    machine.gpus[0].board = fact(board);
    capability = fact(U64{0});
    EXPECT_EQ(said(kKfdEccCheck, machine), "");
}

}  // namespace
}  // namespace gpucheck
