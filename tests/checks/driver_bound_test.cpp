// Who holds each GPU: nobody, the wrong driver, a virtual machine; and who holds it rightly.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

Snapshot held_by(const char* driver) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.driver = fact(driver);
    return machine;
}

TEST(DriverBound, TellsAFailedProbeFromAModuleThatIsNotLoaded) {
    Snapshot machine = held_by("");
    EXPECT_EQ(said(kDriverBoundCheck, machine), "driver.bound.probe_failed 0000:19:00.0 fail");
    EXPECT_FALSE(complaints(kDriverBoundCheck, machine).front().scope.has_value());
    machine.host.modules[0].loaded = fact(false);
    EXPECT_EQ(said(kDriverBoundCheck, machine), "driver.bound.none 0000:19:00.0 fail");
}

TEST(DriverBound, BlamesTheHostForAFailedProbeInAGuest) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].pci.driver = fact("");
    EXPECT_EQ(said(kDriverBoundCheck, machine), "driver.bound.probe_failed 0000:83:00.0 fail");
    EXPECT_EQ(complaints(kDriverBoundCheck, machine).front().scope, Scope::host);
}

TEST(DriverBound, SaysSoWhenRocmNeverKnewTheFunction) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].pci.driver = fact("");
    machine.gpus[0].board = Missing{"gpus.json", "no row for 1002:686c"};
    machine.host.modules[0].loaded = fact(false);
    EXPECT_EQ(said(kDriverBoundCheck, machine), "driver.bound.none 0000:83:00.0 fail");
    EXPECT_NE(complaints(kDriverBoundCheck, machine).front().message, "");
}

TEST(DriverBound, NamesNouveauAndStrangers) {
    EXPECT_EQ(said(kDriverBoundCheck, held_by("nouveau")), "driver.bound.nouveau 0000:19:00.0 fail");
    EXPECT_EQ(said(kDriverBoundCheck, held_by("nvidiafb")), "driver.bound.foreign 0000:19:00.0 fail");
    EXPECT_EQ(said(kDriverBoundCheck, held_by("amdgpu")), "driver.bound.foreign 0000:19:00.0 fail");
    EXPECT_EQ(said(kDriverBoundCheck, held_by("nvidia")), "");
    Snapshot amd = healthy_mi300x_vf();
    amd.gpus[0].pci.driver = fact("radeon");
    EXPECT_EQ(said(kDriverBoundCheck, amd), "driver.bound.foreign 0000:83:00.0 fail");
}

TEST(DriverBound, JudgesALentGpuByThePromise) {
    Snapshot machine = held_by("vfio-pci");
    EXPECT_EQ(said(kDriverBoundCheck, machine), "driver.bound.passthrough 0000:19:00.0 fail");
    machine.expected.gpu_count = fact(7U);
    EXPECT_EQ(said(kDriverBoundCheck, machine), "driver.bound.passthrough 0000:19:00.0 warn");
    machine.expected.gpu_count = Missing{"", "not stated"};
    EXPECT_EQ(said(kDriverBoundCheck, machine), "driver.bound.passthrough 0000:19:00.0 warn");
}

TEST(DriverBound, LeavesGimAlone) {
    Snapshot machine = healthy_mi300x_x8();
    machine.gpus[0].pci.driver = fact("gim");
    EXPECT_EQ(said(kDriverBoundCheck, machine), "");
    const CheckResult result = run_check(kDriverBoundCheck, machine, Profile::quick);
    EXPECT_EQ(result.findings.front().verdict, Verdict::not_applicable);
    EXPECT_EQ(said(kDriverBoundCheck, held_by("gim")),
              "driver.bound.foreign 0000:19:00.0 fail");  // AMD's, on NVIDIA
}

TEST(DriverBound, IsUnknownWhenTheLinkCannotBeRead) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.driver = Missing{"/sys/bus/pci/devices/0000:19:00.0/driver", "EACCES"};
    EXPECT_EQ(said(kDriverBoundCheck, machine), "driver.bound.unread 0000:19:00.0 unknown");
}

TEST(DriverBound, WaitsForABuild) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].pci.driver = fact("");
    machine.host.modules[0].loaded = fact(false);
    machine.host.dkms[0].state = fact("building");
    EXPECT_EQ(said(kDriverBoundCheck, machine), "driver.dkms.building 0000:83:00.0 unknown");
}

}  // namespace
}  // namespace gpucheck
