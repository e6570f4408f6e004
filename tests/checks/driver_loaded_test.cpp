// Why a module is not loaded: each cause has its own code, and none is claimed when the module works.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

Snapshot without_amdgpu() {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].pci.driver = fact("");
    machine.host.modules[0].loaded = fact(false);
    machine.host.modules[0].version = Missing{"test", "ENOENT"};
    return machine;
}

TEST(DriverLoaded, SaysOnlyThatItIsNotLoadedWithoutACause) {
    EXPECT_EQ(said(kDriverLoadedCheck, without_amdgpu()), "driver.loaded.missing host fail");
    Snapshot machine = healthy_mi300x_vf();  // bound, so it is in the kernel itself
    machine.host.modules[0].loaded = fact(false);
    EXPECT_EQ(said(kDriverLoadedCheck, machine), "");
}

TEST(DriverLoaded, BlamesABlacklistOnlyWhenNothingLoadsTheModule) {
    Snapshot machine = without_amdgpu();
    machine.host.modules[0].blacklisted_by = fact("modprobe.blacklist=amdgpu");
    EXPECT_EQ(said(kDriverLoadedCheck, machine), "driver.loaded.blacklisted host fail");
    machine = healthy_mi300x_vf();
    machine.host.modules[0].blacklisted_by = fact("modprobe.blacklist=amdgpu");
    EXPECT_EQ(said(kDriverLoadedCheck, machine), "");
}

TEST(DriverLoaded, FindsAKernelWithoutTheModule) {
    Snapshot machine = without_amdgpu();
    machine.host.modules[0].file = fact("");
    EXPECT_EQ(said(kDriverLoadedCheck, machine), "driver.loaded.no_file host fail");
    EXPECT_EQ(complaints(kDriverLoadedCheck, machine).front().observed,
              "no amdgpu module for kernel 6.8.0-55-generic");
    machine.host.modules[0].file = Missing{"/lib/modules", "EACCES"};
    EXPECT_EQ(said(kDriverLoadedCheck, machine), "driver.loaded.missing host fail");
}

TEST(DriverLoaded, DoesNotTakeAContainersModulesForItsHosts) {
    Snapshot machine = without_amdgpu();
    machine.host.modules[0].file = fact("");
    machine.host.container = fact("docker");
    EXPECT_EQ(said(kDriverLoadedCheck, machine), "driver.loaded.missing host fail");
    EXPECT_NE(complaints(kDriverLoadedCheck, machine).front().message, "");
}

TEST(DriverLoaded, SuspectsSecureBootOnlyForModulesBuiltHere) {
    Snapshot machine = without_amdgpu();
    machine.host.secure_boot = fact(true);
    EXPECT_EQ(said(kDriverLoadedCheck, machine), "driver.secure_boot.refused host fail");
    machine.host.secure_boot = fact(false);
    EXPECT_EQ(said(kDriverLoadedCheck, machine), "driver.loaded.missing host fail");
    machine.host.secure_boot = fact(true);
    machine.host.dkms.clear();
    machine.host.modules[0].file =
        fact("/lib/modules/6.8.0-55-generic/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko");
    EXPECT_EQ(said(kDriverLoadedCheck, machine),
              "driver.loaded.missing host fail");  // signed with the kernel
    machine = healthy_mi300x_vf();
    machine.host.secure_boot = fact(true);
    EXPECT_EQ(said(kDriverLoadedCheck, machine), "");
}

TEST(DriverLoaded, NamesNouveau) {
    Snapshot machine = healthy_h100_x8();
    machine.host.modules[0].loaded = fact(false);
    machine.host.modules[2].loaded = fact(true);
    for (Device& gpu : machine.gpus) gpu.pci.driver = fact("nouveau");
    EXPECT_EQ(said(kDriverLoadedCheck, machine), "driver.loaded.nouveau host fail");
    machine = healthy_h100_x8();  // loaded beside nvidia and holding nothing
    machine.host.modules[2].loaded = fact(true);
    EXPECT_EQ(said(kDriverLoadedCheck, machine), "");
}

TEST(DriverLoaded, WaitsForABuild) {
    Snapshot machine = without_amdgpu();
    machine.host.modules[0].file = fact("");
    machine.host.dkms[0].state = fact("building");
    EXPECT_EQ(said(kDriverLoadedCheck, machine), "driver.dkms.building host unknown");
}

TEST(DriverLoaded, IsUnknownWhenNobodyLooked) {
    Snapshot machine = without_amdgpu();
    machine.host.modules[0].loaded = Missing{"/sys/module/amdgpu", "EACCES"};
    EXPECT_EQ(said(kDriverLoadedCheck, machine), "driver.loaded.unread host unknown");
    machine.host.modules.clear();
    EXPECT_EQ(said(kDriverLoadedCheck, machine), "driver.loaded.unread host unknown");
}

TEST(DriverLoaded, DoesNotApplyWhereAllGpusAreLent) {
    Snapshot machine = healthy_h100_x8();
    machine.host.modules[0].loaded = fact(false);
    for (Device& gpu : machine.gpus) gpu.pci.driver = fact("vfio-pci");
    EXPECT_EQ(said(kDriverLoadedCheck, machine), "");
    EXPECT_EQ(run_check(kDriverLoadedCheck, machine, Profile::quick).reason,
              "every GPU is held for virtual machines");
}

}  // namespace
}  // namespace gpucheck
