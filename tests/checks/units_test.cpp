// Compute units: a die that did not start, a lost partition node that is no lost die, a slice of a board.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

TEST(Units, FindsADieThatIsMissing) {
    Snapshot machine = healthy_mi300x_x8();
    machine.gpus[1].amd.kfd_nodes[0].simd_count = fact(std::uint64_t{1064});
    machine.gpus[1].amd.kfd_nodes[0].num_xcc = fact(std::uint64_t{7});
    EXPECT_EQ(said(kUnitsCheck, machine), "gpu.units.missing 0000:25:00.0 fail");
    EXPECT_EQ(complaints(kUnitsCheck, machine).front().observed, "266 on 1 KFD node");
}

TEST(Units, DoesNotMistakeALostPartitionNodeForALostDie) {
    Snapshot machine = healthy_mi300x_x8_cpx();
    machine.gpus[7].amd.kfd_nodes.pop_back();  // 63 of 64: the partition check speaks (ROCm/amdsmi#99)
    EXPECT_EQ(said(kUnitsCheck, machine), "");
    machine.gpus[7].amd.compute_partition = Missing{"current_compute_partition", "ENOENT"};
    EXPECT_EQ(said(kUnitsCheck, machine), "");
    machine.gpus[7].amd.kfd_nodes[2].simd_count = fact(std::uint64_t{148});  // one unit less than 38
    EXPECT_EQ(said(kUnitsCheck, machine), "gpu.units.missing 0000:e5:00.0 fail");
}

TEST(Units, CountsDualAndQuadPartitions) {
    Snapshot machine = healthy_mi300x_x8();
    for (Device& gpu : machine.gpus) {
        gpu.amd.compute_partition = fact("DPX");
        gpu.amd.kfd_nodes[0].simd_count = fact(std::uint64_t{608});
        gpu.amd.kfd_nodes[0].num_xcc = fact(std::uint64_t{4});
        gpu.amd.kfd_nodes.push_back(gpu.amd.kfd_nodes[0]);
    }
    EXPECT_EQ(said(kUnitsCheck, machine), "");
}

TEST(Units, WarnsOfASlice) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].amd.kfd_nodes[0].simd_count = fact(std::uint64_t{152});
    EXPECT_EQ(said(kUnitsCheck, machine), "gpu.units.slice 0000:83:00.0 warn");
    machine.gpus[0].amd.kfd_nodes[0].simd_count = fact(std::uint64_t{156});
    EXPECT_EQ(said(kUnitsCheck, machine), "gpu.units.missing 0000:83:00.0 fail");
}

TEST(Units, IsUnknownWhereNodesAreUnread) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].amd.kfd_nodes[0].simd_per_cu = Missing{"properties", "key absent"};
    EXPECT_EQ(said(kUnitsCheck, machine), "gpu.units.unread 0000:83:00.0 unknown");
    machine.gpus[0].amd.kfd_nodes[0].simd_per_cu = fact(std::uint64_t{0});
    EXPECT_EQ(said(kUnitsCheck, machine), "gpu.units.unread 0000:83:00.0 unknown");
    machine = healthy_mi300x_x8();
    machine.gpus[0].amd.kfd_nodes[0].simd_count = fact(std::uint64_t{1064});
    machine.host.kfd.unreadable = {"4: EPERM"};
    EXPECT_EQ(said(kUnitsCheck, machine), "gpu.units.unread 0000:05:00.0 unknown");
}

TEST(Units, SurvivesAbsurdNumbers) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].amd.kfd_nodes[0].simd_count = fact(~std::uint64_t{0});
    EXPECT_EQ(said(kUnitsCheck, machine), "gpu.units.unread 0000:83:00.0 unknown");
    machine = healthy_mi300x_x8_cpx();
    machine.gpus[0].amd.compute_partition = fact("XPX");
    machine.gpus[0].amd.kfd_nodes[0].num_xcc = fact(std::uint64_t{0});
    machine.gpus[0].amd.kfd_nodes.pop_back();
    EXPECT_EQ(said(kUnitsCheck, machine), "gpu.units.unread 0000:05:00.0 unknown");
}

}  // namespace
}  // namespace gpucheck
