// Memory size: one value of the card, never the sum of what each partition repeats.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

constexpr std::uint64_t kWhole = 206141652992ULL;    // 196592 MiB
constexpr std::uint64_t kVirtual = 205571227648ULL;  // 196048 MiB

TEST(MemorySize, FindsAMissingStack) {
    Snapshot machine = healthy_mi300x_x8();
    machine.gpus[0].amd.vram_total_bytes = fact(kWhole / 8 * 7);
    EXPECT_EQ(said(kMemoryCheck, machine), "gpu.memory.short 0000:05:00.0 fail");
    EXPECT_EQ(complaints(kMemoryCheck, machine).front().observed, "168.0 GiB");
    machine.gpus[0].amd.vram_total_bytes = fact(kVirtual);
    EXPECT_EQ(said(kMemoryCheck, machine), "");
}

TEST(MemorySize, AddsKfdBanksOfPartitionsOnly) {
    Snapshot machine = healthy_mi300x_x8_cpx();
    for (Device& gpu : machine.gpus) gpu.amd.vram_total_bytes = Missing{"mem_info_vram_total", "ENOENT"};
    EXPECT_EQ(said(kMemoryCheck, machine), "");
    machine.gpus[7].amd.kfd_nodes.pop_back();  // a lost partition node is not lost memory
    EXPECT_EQ(said(kMemoryCheck, machine), "");
    for (KfdNode& node : machine.gpus[7].amd.kfd_nodes) node.vram_bytes = fact(kWhole / 16);
    EXPECT_EQ(said(kMemoryCheck, machine), "gpu.memory.short 0000:e5:00.0 fail");
    machine.host.kfd.unreadable = {"9: EPERM"};
    EXPECT_EQ(said(kMemoryCheck, machine), "gpu.memory.unread 0000:e5:00.0 unknown");
}

TEST(MemorySize, MeasuresASliceByItsShare) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].amd.kfd_nodes[0].simd_count = fact(std::uint64_t{152});
    machine.gpus[0].amd.vram_total_bytes = fact(kVirtual / 8);
    EXPECT_EQ(said(kMemoryCheck, machine), "");  // gpu.units warns
    machine.gpus[0].amd.vram_total_bytes = fact(kVirtual / 16);
    EXPECT_EQ(said(kMemoryCheck, machine), "gpu.memory.short 0000:83:00.0 fail");
}

TEST(MemorySize, IsUnknownWhenUnread) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].amd.vram_total_bytes = Missing{"mem_info_vram_total", "EACCES"};
    EXPECT_EQ(said(kMemoryCheck, machine), "");  // KFD's bank says it
    machine.gpus[0].amd.kfd_nodes[0].vram_bytes = Missing{"mem_banks", "EACCES"};
    EXPECT_EQ(said(kMemoryCheck, machine), "gpu.memory.unread 0000:83:00.0 unknown");
    machine.gpus[0].amd.kfd_nodes.clear();
    EXPECT_EQ(said(kMemoryCheck, machine), "gpu.memory.unread 0000:83:00.0 unknown");
}

TEST(MemorySize, SurvivesAnOverflow) {
    Snapshot machine = healthy_mi300x_x8_cpx();
    machine.gpus[0].amd.vram_total_bytes = Missing{"mem_info_vram_total", "ENOENT"};
    for (KfdNode& node : machine.gpus[0].amd.kfd_nodes) node.vram_bytes = fact(~std::uint64_t{0});
    EXPECT_EQ(said(kMemoryCheck, machine), "gpu.memory.unread 0000:05:00.0 unknown");
}

TEST(MemorySize, NeedsAFigure) {
    Snapshot machine = healthy_mi300x_vf();
    Board board = machine.gpus[0].board.value();
    board.memory_bytes = Missing{"gpus.json", "no figure"};
    machine.gpus[0].board = fact(board);
    machine.gpus[0].amd.vram_total_bytes = fact(std::uint64_t{1});
    EXPECT_EQ(said(kMemoryCheck, machine), "");
    EXPECT_EQ(run_check(kMemoryCheck, machine, Profile::boot).verdict, Verdict::not_applicable);
}

}  // namespace
}  // namespace gpucheck
