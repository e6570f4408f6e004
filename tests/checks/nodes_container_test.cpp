// Device nodes in containers: what was not passed is a fault only when the promise is not kept.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

void take_away(DeviceNode& node) {
    node.stat = Missing{node.path, "ENOENT"};
    node.open_rw = fact("ENOENT");
}

Snapshot container_with(Snapshot machine, unsigned passed) {
    machine.host.container = fact("docker");
    for (std::size_t i = passed; i < machine.gpus.size(); ++i) {
        for (DeviceNode& node : machine.gpus[i].nodes) take_away(node);
    }
    return machine;
}

TEST(NodesInContainer, AcceptsAShareOfTheGpus) {
    Snapshot machine = container_with(healthy_h100_x8(), 2);
    machine.expected.gpu_count = fact(2U);
    EXPECT_EQ(said(kNodesCheck, machine), "");
    machine.expected.gpu_count = Missing{"", "not stated"};
    EXPECT_EQ(said(kNodesCheck, machine), "");
    machine.expected.gpu_count = fact(4U);
    EXPECT_EQ(said(kNodesCheck, machine), "nvidia.node.missing host fail");
}

TEST(NodesInContainer, FailsWhenNothingWasPassed) {
    Snapshot machine = container_with(healthy_mi300x_x8(), 0);
    machine.expected.gpu_count = Missing{"", "not stated"};
    take_away(machine.host.nodes[0]);
    EXPECT_EQ(said(kNodesCheck, machine), "kfd.node.missing /dev/kfd fail\nrender.node.missing host fail");
    for (const Finding& finding : complaints(kNodesCheck, machine)) EXPECT_NE(finding.message, "");
}

TEST(NodesInContainer, AcceptsSomePartitionsOfAGpu) {
    Snapshot machine = container_with(healthy_mi300x_x8_cpx(), 1);
    for (std::size_t i = 3; i < 8; ++i) take_away(machine.gpus[0].nodes[i]);
    machine.expected.gpu_count = Missing{"", "not stated"};
    EXPECT_EQ(said(kNodesCheck, machine), "");
}

TEST(NodesInContainer, DoesNotWaitForNodesThatNobodyMakes) {
    Snapshot machine = container_with(healthy_h100_x8(), 8);
    take_away(machine.host.nodes[1]);
    EXPECT_EQ(said(kNodesCheck, machine), "nvidia.node.missing /dev/nvidia-uvm fail");
}

// After a systemctl daemon-reload the nodes are there and the device cgroup refuses them
// (NVIDIA/nvidia-docker#1730).
TEST(NodesInContainer, NamesTheCgroup) {
    Snapshot machine = container_with(healthy_h100_x8(), 8);
    machine.gpus[0].nodes[0].open_rw = fact("EPERM");
    EXPECT_EQ(said(kNodesCheck, machine), "nvidia.node.cgroup /dev/nvidia0 fail");
}

}  // namespace
}  // namespace gpucheck
