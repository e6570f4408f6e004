// Partition modes against what was promised; one partition short of 64 is a warning, never a failure.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

/// Eight MI300X in CPX on bare metal, with every partition in place.
Snapshot cpx_machine() {
    Snapshot machine = healthy_mi300x_vf();
    machine.host.hypervisor = fact("none");
    Device gpu = machine.gpus[0];
    Board board = *gpu.board;
    board.virtual_function = false;
    gpu.board = fact(board);
    gpu.amd.compute_partition = fact("CPX");
    gpu.amd.memory_partition = fact("NPS4");
    gpu.amd.kfd_nodes.assign(8, gpu.amd.kfd_nodes[0]);
    machine.gpus.assign(8, gpu);
    for (unsigned i = 0; i < 8; ++i) machine.gpus[i].bdf.bus = static_cast<std::uint8_t>(0x10 * (i + 1));
    machine.host.kfd.gpu_nodes = fact(64U);
    return machine;
}

TEST(Partition, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kPartitionCheck, healthy_mi300x_vf()), "");
    EXPECT_EQ(said(kPartitionCheck, cpx_machine()), "");
    EXPECT_EQ(run_check(kPartitionCheck, healthy_h100_x8(), Profile::quick).verdict, Verdict::not_applicable);
}

TEST(Partition, AnotherModeThanPromisedFails) {
    Snapshot machine = healthy_mi300x_vf();
    machine.expected.compute_partition = Fact<std::string>("cpx", "--expect");
    EXPECT_EQ(said(kPartitionCheck, machine), "partition.wrong 0000:83:00.0 fail");
    EXPECT_EQ(complaints(kPartitionCheck, machine).at(0).scope,
              Scope::host);  // a guest cannot change its function's mode
    machine.expected.compute_partition = Fact<std::string>("spx", "--expect");
    EXPECT_EQ(said(kPartitionCheck, machine), "");
    machine.expected.memory_partition = Fact<std::string>("NPS4", "--expect");
    EXPECT_EQ(said(kPartitionCheck, machine), "partition.wrong 0000:83:00.0 fail");
    Snapshot host = cpx_machine();
    host.gpus.resize(1);
    host.expected.compute_partition = Fact<std::string>("SPX", "--expect");
    EXPECT_FALSE(complaints(kPartitionCheck, host).at(0).scope.has_value());
}

TEST(Partition, MixedModesWarnUnlessPromised) {
    Snapshot machine = cpx_machine();
    machine.gpus[3].amd.compute_partition = fact("SPX");
    EXPECT_EQ(said(kPartitionCheck, machine), "partition.mixed host warn");
    machine.gpus[3].amd.compute_partition = fact("N/A");  // secondary partitions print this
    EXPECT_EQ(said(kPartitionCheck, machine), "");
}

TEST(Partition, SixtyThreeOfSixtyFourWarns) {
    Snapshot machine = cpx_machine();
    machine.gpus[7].amd.kfd_nodes.pop_back();
    EXPECT_EQ(said(kPartitionCheck, machine), "partition.nodes.short host warn");
    EXPECT_EQ(complaints(kPartitionCheck, machine).at(0).observed, "63 of 64");
    machine.host.kfd.unreadable = {"7: EPERM"};  // a container's cgroup: nothing can be said about the number
    EXPECT_EQ(said(kPartitionCheck, machine), "");
}

TEST(Partition, AVirtualFunctionMayOwnOnePartition) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].amd.compute_partition = fact("CPX");
    EXPECT_EQ(said(kPartitionCheck, machine), "");
}

TEST(Partition, UnreadModesAreUnknownAbsentOnesAreNot) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].amd.compute_partition = Missing{"sysfs", "ENOENT"};
    EXPECT_EQ(said(kPartitionCheck, machine), "");
    machine.gpus[0].amd.compute_partition = Missing{"sysfs", "EIO"};
    EXPECT_EQ(said(kPartitionCheck, machine), "partition.unread 0000:83:00.0 unknown");
    machine.gpus[0].amd.compute_partition = Missing{"sysfs", "ENOENT"};
    machine.expected.compute_partition = Fact<std::string>("SPX", "--expect");
    EXPECT_EQ(said(kPartitionCheck, machine), "partition.unread 0000:83:00.0 unknown");
}

}  // namespace
}  // namespace gpucheck
