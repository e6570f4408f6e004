// DKMS trees of the running kernel: a broken or unfinished build fails where nothing else drives the GPUs,
// and warns where the loss is still to come.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

constexpr const char* kTree = "/var/lib/dkms/amdgpu/6.10.5-2125197.24.04";

Snapshot in_state(const char* state, bool driven) {
    Snapshot machine = healthy_mi300x_vf();
    machine.host.dkms[0].state = fact(state);
    if (!driven) machine.gpus[0].pci.driver = fact("");
    return machine;
}

TEST(Dkms, FailsUnfinishedTreesWhereNothingDrivesTheGpu) {
    EXPECT_EQ(said(kDkmsCheck, in_state("broken", false)),
              "driver.dkms.broken " + std::string(kTree) + " fail");
    EXPECT_EQ(said(kDkmsCheck, in_state("added", false)),
              "driver.dkms.not_installed " + std::string(kTree) + " fail");
    EXPECT_EQ(said(kDkmsCheck, in_state("built", false)),
              "driver.dkms.not_installed " + std::string(kTree) + " fail");
    EXPECT_EQ(said(kDkmsCheck, in_state("installed", false)), "");
}

TEST(Dkms, WarnsWhereADriverFromElsewhereRuns) {
    EXPECT_EQ(said(kDkmsCheck, in_state("broken", true)),
              "driver.dkms.broken " + std::string(kTree) + " warn");
    EXPECT_EQ(said(kDkmsCheck, in_state("added", true)),
              "driver.dkms.not_installed " + std::string(kTree) + " warn");
    Snapshot machine =
        in_state("broken", true);  // the in-tree amdgpu of an old kernel does not make up for it
    machine.host.kernel_release = fact("6.2.0-39-generic");
    EXPECT_EQ(said(kDkmsCheck, machine), "driver.dkms.broken " + std::string(kTree) + " fail");
    machine.host.kernel_release = fact("6.5.0-44-generic");
    EXPECT_EQ(said(kDkmsCheck, machine), "driver.dkms.broken " + std::string(kTree) + " warn");
}

TEST(Dkms, AcceptsALeftoverBesideAnInstalledVersion) {
    Snapshot machine = healthy_h100_x8();
    machine.host.dkms = {{"nvidia", "570.133.20", fact("installed")},
                         {"nvidia", "535.183.06", fact("added")}};
    EXPECT_EQ(said(kDkmsCheck, machine), "");
    machine.host.dkms[1].state = fact("broken");  // dkms itself stops at it: the next kernel gets no driver
    EXPECT_EQ(said(kDkmsCheck, machine), "driver.dkms.broken /var/lib/dkms/nvidia/535.183.06 warn");
}

TEST(Dkms, IsUnknownWhileBuildingOrUnread) {
    EXPECT_EQ(said(kDkmsCheck, in_state("building", false)),
              "driver.dkms.building " + std::string(kTree) + " unknown");
    EXPECT_EQ(said(kDkmsCheck, in_state("\x01\xff", false)),
              "driver.dkms.unread " + std::string(kTree) + " unknown");
    Snapshot machine = healthy_mi300x_vf();
    machine.host.dkms[0].state = Missing{"/var/lib/dkms", "EACCES"};
    EXPECT_EQ(said(kDkmsCheck, machine), "driver.dkms.unread " + std::string(kTree) + " unknown");
}

TEST(Dkms, AppliesToTreesOfThePresentVendorOnly) {
    Snapshot machine = healthy_h100_x8();
    machine.host.dkms = {{"amdgpu", "6.8.5", fact("broken")}, {"zfs", "2.2.2", fact("broken")}};
    EXPECT_EQ(said(kDkmsCheck, machine), "");
    EXPECT_EQ(run_check(kDkmsCheck, machine, Profile::quick).verdict, Verdict::not_applicable);
    machine = in_state("broken", false);
    machine.host.container = fact("docker");
    EXPECT_EQ(said(kDkmsCheck, machine), "");
}

TEST(Dkms, KnowsTheOtherNamesOfTheNvidiaTree) {
    Snapshot machine = healthy_h100_x8();
    for (Device& gpu : machine.gpus) gpu.pci.driver = fact("");
    machine.host.dkms = {{"nvidia-open", "570.133.20", fact("added")}};
    EXPECT_EQ(said(kDkmsCheck, machine),
              "driver.dkms.not_installed /var/lib/dkms/nvidia-open/570.133.20 fail");
    machine.host.dkms[0].module = "nvidiafs";  // another module
    EXPECT_EQ(said(kDkmsCheck, machine), "");
}

}  // namespace
}  // namespace gpucheck
