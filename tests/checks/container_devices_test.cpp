// What /sys shows and what /dev holds are two counts in a container.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

Snapshot container(std::size_t with_node) {
    Snapshot machine = healthy_h100_x8();
    machine.host.container = fact("docker");
    machine.expected.gpu_count = Missing{"", "not looked at"};
    for (std::size_t i = with_node; i < machine.gpus.size(); ++i)
        machine.gpus[i].nodes[0].stat = Missing{"stat", "ENOENT"};
    return machine;
}

TEST(ContainerDevices, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kContainerDevicesCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kContainerDevicesCheck, healthy_mi300x_vf()), "");
    EXPECT_EQ(said(kContainerDevicesCheck, container(8)), "");
    EXPECT_EQ(run_check(kContainerDevicesCheck, healthy_h100_x8(), Profile::quick).verdict,
              Verdict::not_applicable);
}

TEST(ContainerDevices, OneOfEightWarnsUnlessItWasPromised) {
    Snapshot machine = container(1);
    EXPECT_EQ(said(kContainerDevicesCheck, machine), "container.devices.partial host warn");
    machine.expected.gpu_count = Fact<unsigned>(1, "--expect");
    EXPECT_EQ(said(kContainerDevicesCheck, machine), "");
    machine.expected.gpu_count = Fact<unsigned>(2, "--expect");
    EXPECT_EQ(said(kContainerDevicesCheck, machine), "container.devices.missing host fail");
}

TEST(ContainerDevices, ARenderNodeIsAnAmdGpuACardNodeIsNot) {
    Snapshot machine = healthy_mi300x_vf();
    machine.host.container = fact("podman");
    EXPECT_EQ(said(kContainerDevicesCheck, machine), "");
    machine.gpus[0].nodes[0].stat = Missing{"stat", "ENOENT"};
    EXPECT_EQ(said(kContainerDevicesCheck, machine), "container.devices.missing host fail");
}

TEST(ContainerDevices, WhatWasNotLookedAtIsUnknown) {
    Snapshot machine = container(8);
    machine.gpus[0].nodes[0].stat = Missing{"stat", "EACCES"};
    EXPECT_EQ(said(kContainerDevicesCheck, machine), "container.unread host unknown");
    machine.host.container = Missing{"cgroup", "EIO"};
    EXPECT_EQ(said(kContainerDevicesCheck, machine), "container.unread host unknown");
}

TEST(ContainerDevices, AUserNamespaceIsMentioned) {
    Snapshot machine = container(1);
    machine.host.process.user_namespace = fact(true);
    EXPECT_NE(complaints(kContainerDevicesCheck, machine).at(0).observed.find("user namespace"),
              std::string::npos);
}

}  // namespace
}  // namespace gpucheck
