// Driver versions against the board's minimum and the promise.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

Snapshot h100_with(const char* version) {
    Snapshot machine = healthy_h100_x8();
    machine.host.nvidia.version = fact(version);
    machine.host.modules[0].version = fact(version);
    return machine;
}

TEST(DriverVersion, HoldsTheBoardsMinimum) {
    EXPECT_EQ(said(kDriverVersionCheck, h100_with("515.105.01")), "driver.version.old host fail");
    EXPECT_EQ(said(kDriverVersionCheck, h100_with("525.60.13")), "");
    EXPECT_EQ(said(kDriverVersionCheck, h100_with("525.60")), "");
    EXPECT_EQ(said(kDriverVersionCheck, h100_with("1000.1")), "");  // not compared as text
}

TEST(DriverVersion, HoldsThePromise) {
    Snapshot machine = healthy_h100_x8();
    machine.expected.driver_version = fact("575");
    EXPECT_EQ(said(kDriverVersionCheck, machine), "driver.version.below_expected host fail");
    machine.expected.driver_version = fact("570.133");
    EXPECT_EQ(said(kDriverVersionCheck, machine), "");
    Snapshot amd = healthy_mi300x_vf();
    amd.expected.driver_version = fact("6.12");
    EXPECT_EQ(said(kDriverVersionCheck, amd), "driver.version.below_expected host fail");
    amd.expected.driver_version = fact("6.10.5");
    EXPECT_EQ(said(kDriverVersionCheck, amd), "");
}

TEST(DriverVersion, CannotCompareTheKernelsOwnAmdgpu) {
    Snapshot machine = healthy_mi300x_vf();
    machine.host.modules[0].version = Missing{"/sys/module/amdgpu/version", "ENOENT"};
    EXPECT_EQ(said(kDriverVersionCheck, machine), "");
    machine.expected.driver_version = fact("6.12");
    EXPECT_EQ(said(kDriverVersionCheck, machine), "driver.version.unversioned host unknown");
}

TEST(DriverVersion, IsUnknownWhenUnreadOrJunk) {
    Snapshot machine = healthy_h100_x8();
    machine.host.nvidia.version = Missing{"/proc/driver/nvidia/version", "EACCES"};
    EXPECT_EQ(said(kDriverVersionCheck, machine), "");  // the module says the same
    machine.host.modules[0].version = Missing{"/sys/module/nvidia/version", "EACCES"};
    EXPECT_EQ(said(kDriverVersionCheck, machine), "driver.version.unread host unknown");
    EXPECT_EQ(said(kDriverVersionCheck, h100_with("unknown build")), "driver.version.unread host unknown");
    Snapshot amd = healthy_mi300x_vf();
    amd.host.modules[0].version = Missing{"/sys/module/amdgpu/version", "EACCES"};
    EXPECT_EQ(said(kDriverVersionCheck, amd), "driver.version.unread host unknown");
}

TEST(DriverVersion, DoesNotChooseBetweenTwoAnswers) {
    Snapshot machine = healthy_h100_x8();
    machine.host.modules[0].version = fact("570.124.06");
    EXPECT_EQ(said(kDriverVersionCheck, machine), "driver.version.contradictory host unknown");
}

TEST(DriverVersion, NeedsABoundGpu) {
    Snapshot machine = h100_with("515.105.01");
    for (Device& gpu : machine.gpus) gpu.pci.driver = fact("");
    EXPECT_EQ(said(kDriverVersionCheck, machine), "");
    EXPECT_EQ(run_check(kDriverVersionCheck, machine, Profile::boot).verdict, Verdict::not_applicable);
}

}  // namespace
}  // namespace gpucheck
