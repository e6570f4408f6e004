// DKMS trees in every state, and what only looks like that state.
#include "agent/host/dkms.h"

#include <gtest/gtest.h>

#include "tests/host/drivers_examples.h"

namespace gpucheck::host {
namespace {

const std::string kRelease = "6.8.0-55-generic";
const std::string kOther = "6.8.0-51-generic";
const std::string kVersion = "6.14.14-2193512.22.04";
const std::string kFolder = "/var/lib/dkms/amdgpu/" + kVersion;

Fact<std::string> release() {
    return Fact<std::string>(kRelease, "osrelease");
}

// A tree with its source.
void add_tree(TempMachine& machine) {
    machine.file("/usr/src/amdgpu-" + kVersion + "/dkms.conf", "PACKAGE_NAME=amdgpu\n")
        .link(kFolder + "/source", "../../../../../usr/src/amdgpu-" + kVersion);
}
void add_result(TempMachine& machine, const std::string& kernel) {
    machine.file(kFolder + "/" + kernel + "/x86_64/module/amdgpu.ko.zst", "x");
}
void add_link(TempMachine& machine, const std::string& kernel, const std::string& version = kVersion) {
    machine.link("/var/lib/dkms/amdgpu/kernel-" + kernel + "-x86_64", version + "/" + kernel + "/x86_64");
}
std::string state(const TempMachine& machine) {
    const std::vector<DkmsTree> trees = read_dkms(machine.open(), release());
    if (trees.size() != 1) return std::to_string(trees.size()) + " trees";
    return trees[0].state.known() ? trees[0].state.value() : "Missing " + trees[0].state.why();
}

TEST(Dkms, ExampleMachines) {
    GPUCHECK_EXAMPLE_OR_SKIP(vf, "machine-mi300x-vf");
    const auto amd = read_dkms(*vf, vf->read_line("/proc/sys/kernel/osrelease"));
    ASSERT_EQ(amd.size(), 1U);
    EXPECT_EQ(amd[0].module, "amdgpu");
    EXPECT_EQ(amd[0].version, "6.10.5-2125197.24.04");
    EXPECT_TRUE(amd[0].state.is("installed"));
    GPUCHECK_EXAMPLE_OR_SKIP(h100, "machine-h100-sxm-x8");
    const auto nvidia = read_dkms(*h100, h100->read_line("/proc/sys/kernel/osrelease"));
    ASSERT_EQ(nvidia.size(), 1U);
    EXPECT_EQ(nvidia[0].version, "570.133.20");
    EXPECT_TRUE(nvidia[0].state.is("installed"));
}

TEST(Dkms, BrokenWithoutItsSource) {
    TempMachine machine;
    machine.folder(kFolder).link(kFolder + "/source", "../../../../../usr/src/amdgpu-" + kVersion);
    EXPECT_EQ(state(machine), "broken");  // ROCm/ROCm#3701
    machine.file("/usr/src/amdgpu-" + kVersion + "/Makefile", "all:\n");
    EXPECT_EQ(state(machine), "broken");  // the folder is back, dkms.conf is not
    add_result(machine, kRelease);
    add_link(machine, kRelease);
    EXPECT_EQ(state(machine), "broken");
    machine.file("/usr/src/amdgpu-" + kVersion + "/dkms.conf", "x\n");
    EXPECT_EQ(state(machine), "installed");
}

TEST(Dkms, InstalledOnlyForTheRunningKernel) {
    TempMachine machine;
    add_tree(machine);
    EXPECT_EQ(state(machine), "added");
    add_result(machine, kOther);
    add_link(machine, kOther);
    EXPECT_EQ(state(machine), "added");
    add_result(machine, kRelease);
    EXPECT_EQ(state(machine), "built");
    add_link(machine, kRelease, "6.10.5");  // another version is the installed one
    EXPECT_EQ(state(machine), "built");
    std::filesystem::remove(machine.at("/var/lib/dkms/amdgpu/kernel-" + kRelease + "-x86_64"));
    add_link(machine, kRelease);
    machine.file("/var/lib/dkms/amdgpu/original_module/" + kRelease + "/x86_64/amdgpu.ko", "x");
    EXPECT_EQ(state(machine), "installed");
}

TEST(Dkms, ALinkToNothingIsNotInstalled) {
    TempMachine machine;
    add_tree(machine);
    add_link(machine, kRelease);
    EXPECT_EQ(state(machine), "added");
    machine.file(kFolder + "/" + kRelease + "/x86_64/log/make.log", "x\n");
    EXPECT_EQ(state(machine), "added");
    machine.file(kFolder + "/" + kRelease + "/x86_64/module/Module.symvers", "x\n");  // no module file
    EXPECT_EQ(state(machine), "added");
}

TEST(Dkms, WeakLinksServeOtherKernels) {
    TempMachine machine;
    add_tree(machine);
    add_result(machine, kOther);
    machine.link("/lib/modules/" + kRelease + "/weak-updates/amdgpu.ko.zst",
                 "../../" + kOther + "/extra/amdgpu.ko.zst");
    EXPECT_EQ(state(machine), "added");  // that build was never installed
    add_link(machine, kOther);
    EXPECT_EQ(state(machine), "installed");
}

TEST(Dkms, BuildingAndFailedBuildsAreToldApart) {
    TempMachine machine;
    add_tree(machine);
    machine.folder(kFolder + "/build");
    EXPECT_EQ(state(machine), "added");  // dkms 3.0.10 leaves an empty one after `add`
    machine.file(kFolder + "/build/Makefile", "all:\n");
    EXPECT_EQ(state(machine), "building");
    const std::string head =
        "DKMS make.log for amdgpu-" + kVersion + " for kernel " + kRelease + " (x86_64)\n";
    machine.file(kFolder + "/build/make.log", head + "  CC [M] amdgpu_drv.o\n");
    EXPECT_EQ(state(machine), "building");
    machine.file(kFolder + "/build/make.log",
                 head + "make[1]: *** [x.o] Error 1\nmake: *** [Makefile:9: all] Error 2\n");
    EXPECT_EQ(state(machine), "added");
    machine.file(kFolder + "/build/make.log",
                 head + "Cleaning build area\n# exit code: 0\nBuilding module(s)\n  CC x.o\n");
    EXPECT_EQ(state(machine), "building");
    machine.file(kFolder + "/build/make.log",
                 head + "Building module(s)\n# exit code: 2\n# elapsed time: 00:00:09\n");
    EXPECT_EQ(state(machine), "added");
    machine.file(kFolder + "/build/make.log",
                 "DKMS make.log for amdgpu-" + kVersion + " for kernel " + kOther + " (x86_64)\n  CC x.o\n");
    EXPECT_EQ(state(machine), "added");  // it builds for another kernel
}

TEST(Dkms, OnlyGpuDrivers) {
    TempMachine machine;
    for (const char* module :
         {"zfs", "nvidia-fs", "amdgpu-extra", "nvidia", "nvidia-open", "nvidia-current"}) {
        machine.file(std::string("/var/lib/dkms/") + module + "/1.0/source/dkms.conf", "x\n");
    }
    machine.file("/var/lib/dkms/nvidia/stray-file", "x\n").file("/var/lib/dkms/dkms_dbversion", "2.0.0\n");
    const auto trees = read_dkms(machine.open(), release());
    ASSERT_EQ(trees.size(), 3U);
    EXPECT_EQ(trees[0].module, "nvidia");
    EXPECT_EQ(trees[1].module, "nvidia-current");
    EXPECT_EQ(trees[2].module, "nvidia-open");
    EXPECT_TRUE(trees[0].state.is("added"));
}

TEST(Dkms, WhatCannotBeReadIsMissing) {
    TempMachine machine;
    EXPECT_TRUE(read_dkms(machine.open(), release()).empty());  // no DKMS here
    machine.beside("captured.txt", "/etc/**\n");
    const auto trees = read_dkms(machine.open(), release());
    ASSERT_EQ(trees.size(), 1U);
    EXPECT_EQ(trees[0].module, "*");
    EXPECT_EQ(trees[0].state.why(), "not captured");

    TempMachine escaping;
    escaping.folder(kFolder).link(kFolder + "/source", "/usr/src/amdgpu");
    EXPECT_EQ(state(escaping), "Missing EXDEV");

    TempMachine unknown;
    add_tree(unknown);
    const auto without = read_dkms(unknown.open(), Missing{"osrelease", "EACCES"});
    ASSERT_EQ(without.size(), 1U);
    EXPECT_EQ(without[0].state.why(), "EACCES");
    const auto odd = read_dkms(unknown.open(), Fact<std::string>("../../etc", "osrelease"));
    EXPECT_EQ(odd[0].state.why(), "malformed: '../../etc'");
}

}  // namespace
}  // namespace gpucheck::host
