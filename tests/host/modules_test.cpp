// Modules: loaded, built in, on disk under any name, and forbidden, each with what looks like it and is not.
#include "agent/host/modules.h"

#include <gtest/gtest.h>

#include "agent/host/modules_files.h"
#include "tests/host/drivers_examples.h"

namespace gpucheck::host {
namespace {

const std::string kRelease = "6.8.0-55-generic";
const std::string kTree = "/lib/modules/" + kRelease;

Fact<std::string> text(std::string value) {
    return Fact<std::string>(std::move(value), "test");
}

std::vector<Module> read(const TempMachine& machine, const std::string& cmdline = "ro quiet") {
    return read_modules(machine.open(), text(kRelease), text(cmdline));
}

Module module_in(const std::vector<Module>& modules, std::string_view name) {
    for (const Module& module : modules) {
        if (module.name == name) return module;
    }
    ADD_FAILURE() << "no entry for " << name;
    return {};
}

TEST(Modules, ExampleMachines) {
    GPUCHECK_EXAMPLE_OR_SKIP(h100, "machine-h100-sxm-x8");
    const std::vector<Module> nvidia =
        read_modules(*h100, h100->read_line("/proc/sys/kernel/osrelease"), h100->read_line("/proc/cmdline"));
    const Module driver = module_in(nvidia, "nvidia");
    EXPECT_TRUE(driver.loaded.is(true));
    EXPECT_TRUE(driver.version.is("570.133.20"));
    EXPECT_TRUE(driver.file.is(kTree + "/updates/dkms/nvidia.ko"));
    EXPECT_TRUE(driver.blacklisted_by.is(""));
    EXPECT_TRUE(module_in(nvidia, "nvidia_drm").file.is(kTree + "/updates/dkms/nvidia-drm.ko"));
    EXPECT_EQ(module_in(nvidia, "nvidia_drm").parameters.size(), 1U);
    EXPECT_TRUE(module_in(nvidia, "nouveau").loaded.is(false));
    EXPECT_TRUE(module_in(nvidia, "nouveau").file.is(""));
    EXPECT_TRUE(module_in(nvidia, "amdgpu").version.absent());

    GPUCHECK_EXAMPLE_OR_SKIP(vf, "machine-mi300x-vf");
    const std::vector<Module> amd =
        read_modules(*vf, vf->read_line("/proc/sys/kernel/osrelease"), vf->read_line("/proc/cmdline"));
    const Module amdgpu = module_in(amd, "amdgpu");
    EXPECT_TRUE(amdgpu.loaded.is(true));
    EXPECT_TRUE(amdgpu.version.known());
    EXPECT_TRUE(amdgpu.file.is(kTree + "/updates/dkms/amdgpu.ko"));
    ASSERT_EQ(amdgpu.parameters.size(), 2U);
    EXPECT_EQ(amdgpu.parameters[0].name, "bad_page_threshold");
}

TEST(Modules, LoadedMeansLive) {
    TempMachine machine;
    machine.file("/sys/module/amdgpu/initstate", "coming\n")
        .file("/sys/module/nvidia/initstate", "live\n")
        .file("/sys/module/nouveau/parameters/modeset", "1\n")  // built in: no initstate
        .file("/sys/module/nvidia/taint", "\n")
        .file("/proc/modules",
              "nvidia_uvm 1 0 - Live 0x0\nnvidia_drm 1 0 - Loading 0x0\nvfio_pci_core 1 0 - Live 0x0\n");
    const auto modules = read(machine);
    EXPECT_TRUE(module_in(modules, "amdgpu").loaded.is(false));
    EXPECT_TRUE(module_in(modules, "nvidia").loaded.is(true));
    EXPECT_TRUE(module_in(modules, "nvidia").taint.is(""));
    EXPECT_TRUE(module_in(modules, "nouveau").loaded.is(true));
    EXPECT_TRUE(module_in(modules, "nvidia_uvm").loaded.is(true));
    EXPECT_TRUE(module_in(modules, "nvidia_drm").loaded.is(false));
    EXPECT_TRUE(module_in(modules, "vfio_pci").loaded.is(false));  // vfio_pci_core is another module
}

TEST(Modules, NotCapturedIsNotUnloaded) {
    TempMachine machine;
    machine.file("/etc/hostname", "x\n").beside("captured.txt", "/etc/hostname\n");
    const auto modules = read(machine);
    EXPECT_EQ(module_in(modules, "amdgpu").loaded.why(), "not captured");
    EXPECT_EQ(module_in(modules, "amdgpu").file.why(), "not captured");
    EXPECT_EQ(module_in(modules, "amdgpu").blacklisted_by.why(), "not captured");
    machine.beside("captured.txt", "/proc/modules\n").file("/proc/modules", "amdgpu 1 0 - Live 0x0\n");
    EXPECT_TRUE(module_in(read(machine), "amdgpu").loaded.is(true));
    EXPECT_TRUE(module_in(read(machine), "nvidia").loaded.is(false));
}

TEST(Modules, ParametersAreBoundedAndUnreadableOnesSkipped) {
    TempMachine machine;
    machine.file("/sys/module/amdgpu/initstate", "live\n").file("/sys/module/amdgpu/parameters/empty", "\n");
    for (int i = 0; i < 300; ++i) machine.file("/sys/module/amdgpu/parameters/p" + std::to_string(i), "1\n");
    machine.file("/sys/module/amdgpu/parameters/binary", std::string("\0\1", 2));
    const Module amdgpu = module_in(read(machine), "amdgpu");
    ASSERT_EQ(amdgpu.parameters.size(), 200U);
    EXPECT_EQ(amdgpu.parameters[0], (NamedText{"empty", ""}));
    EXPECT_EQ(amdgpu.parameters[1].name, "p0");
}

TEST(ModuleFiles, NamesOfEveryPackaging) {
    EXPECT_EQ(module_name_of("kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst"), "amdgpu");
    EXPECT_EQ(module_name_of("nvidia-uvm.ko.xz"), "nvidia_uvm");
    EXPECT_EQ(module_name_of("nvidia-current.ko"), "nvidia");
    EXPECT_EQ(module_name_of("nvidia-current-open-drm.ko.gz"), "nvidia_drm");
    EXPECT_EQ(module_name_of("nvidia-tesla-470-modeset.ko"), "nvidia_modeset");
    EXPECT_EQ(module_name_of("nvidia-legacy-390xx.ko"), "nvidia");
    EXPECT_EQ(module_name_of("vfio-pci.ko"), "vfio_pci");
    for (const char* none : {"", ".ko", "amdgpu", "amdgpu.ko.old", "amdgpu.o", "amdgpu.ko/"}) {
        EXPECT_EQ(module_name_of(none), "") << none;
    }
    EXPECT_EQ(module_name_of("nvidia-fs.ko"), "nvidia_fs");
    EXPECT_EQ(module_name_of("nvidiafb.ko"), "nvidiafb");
}

TEST(ModuleFiles, TheIndexDecidesWhenItsFileExists) {
    TempMachine machine;
    machine
        .file(kTree + "/modules.dep",
              "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst: kernel/x.ko\nupdates/dkms/nvidia.ko:\n")
        .file(kTree + "/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst", "x")
        .file(kTree + "/extra/gim/gim.ko", "x");
    const auto modules = read(machine);
    EXPECT_TRUE(
        module_in(modules, "amdgpu").file.is(kTree + "/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst"));
    EXPECT_TRUE(module_in(modules, "nvidia").file.is(""));  // listed, yet removed from disk
    EXPECT_TRUE(module_in(modules, "gim").file.is(kTree + "/extra/gim/gim.ko"));
}

TEST(ModuleFiles, WhatTheKernelBuildListsNeedNotBeInstalled) {
    TempMachine machine;  // Ubuntu without linux-modules-extra
    machine.file(kTree + "/modules.order", "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko\n");
    EXPECT_TRUE(module_in(read(machine), "amdgpu").file.is(""));
    machine.file(kTree + "/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko", "x");
    EXPECT_TRUE(module_in(read(machine), "amdgpu").file.known());
    EXPECT_FALSE(module_in(read(machine), "amdgpu").file.is(""));
}

TEST(ModuleFiles, FoldersOfEveryDistribution) {
    for (const char* file :
         {"/updates/nvidia.ko", "/updates/dkms/nvidia-current.ko.xz", "/extra/nvidia.ko.xz",
          "/extra/nvidia/nvidia.ko", "/weak-updates/nvidia/nvidia.ko", "/kernel/nvidia-570/nvidia.ko",
          "/kernel/nvidia-570srv-open/bits/nvidia.ko"}) {
        TempMachine machine;
        machine.file(kTree + "/modules.order", "kernel/net/x.ko\n").file(kTree + file, "x");
        EXPECT_TRUE(module_in(read(machine), "nvidia").file.is(kTree + file)) << file;
    }
}

TEST(ModuleFiles, BuiltIntoTheKernel) {
    TempMachine machine;
    machine.file(kTree + "/modules.order", "kernel/net/x.ko\n")
        .file(kTree + "/modules.builtin", "kernel/drivers/vfio/pci/vfio-pci.ko\n");
    EXPECT_TRUE(module_in(read(machine), "vfio_pci").file.is("(builtin)"));
    EXPECT_TRUE(module_in(read(machine), "vfio_pci").loaded.is(true));
    EXPECT_TRUE(module_in(read(machine), "amdgpu").loaded.is(false));
}

TEST(ModuleFiles, AbsenceIsClaimedOnlyForAReadableTree) {
    TempMachine none;
    EXPECT_TRUE(module_in(read(none), "amdgpu").file.absent());  // a container without /lib/modules
    TempMachine bare;
    bare.file(kTree + "/build/Makefile", "x");  // headers only
    EXPECT_FALSE(module_in(read(bare), "amdgpu").file.known());
    TempMachine huge;
    huge.file(kTree + "/modules.dep", std::string(5 * 1024 * 1024, 'x'));
    EXPECT_EQ(module_in(read(huge), "amdgpu").file.why(), "larger than 4194304 bytes");
    TempMachine other;
    other.file("/lib/modules/6.8.0-51-generic/modules.dep", "updates/dkms/amdgpu.ko:\n");
    EXPECT_FALSE(module_in(read(other), "amdgpu").file.known());
    for (const char* release : {"", "..", "a/b", "x\ny"}) {
        const auto modules = read_modules(none.open(), text(release), text("ro"));
        EXPECT_TRUE(module_in(modules, "amdgpu").file.why().starts_with("malformed")) << release;
    }
    const auto unknown = read_modules(none.open(), Missing{"uname", "EPERM"}, text("ro"));
    EXPECT_EQ(module_in(unknown, "amdgpu").file.why(), "EPERM");
}

TEST(ModuleBlacklist, EveryFormOfALine) {
    TempMachine machine;
    machine.file("/etc/modprobe.d/a.conf",
                 "# blacklist nvidia\n"
                 "blacklist nouveau # by the installer\n"
                 "install nvidia-drm /bin/false\n"
                 "alias nvidiafb off\n"
                 "options amdgpu noretry=0\n"
                 "install vfio_pci /sbin/modprobe --ignore-install vfio_pci\n"
                 "install nvidia_uvm /bin/true && /sbin/modprobe -i nvidia_uvm\n"
                 "install \\\n gim \\\n /usr/bin/true\n"
                 "blacklist\nblacklist_all amdgpu\n");
    machine.file("/etc/modprobe.d/b.disabled", "blacklist amdgpu\n");
    const auto modules = read(machine);
    for (const char* blocked : {"nouveau", "nvidia_drm", "nvidiafb", "gim"}) {
        EXPECT_TRUE(module_in(modules, blocked).blacklisted_by.is("/etc/modprobe.d/a.conf")) << blocked;
    }
    for (const char* free : {"nvidia", "amdgpu", "vfio_pci", "nvidia_uvm"}) {
        EXPECT_TRUE(module_in(modules, free).blacklisted_by.is("")) << free;
    }
}

TEST(ModuleBlacklist, EarlierFoldersMaskLaterOnes) {
    TempMachine machine;
    machine.file("/usr/lib/modprobe.d/gpu.conf", "blacklist amdgpu\n")
        .file("/lib/modprobe.d/only-here.conf", "blacklist nouveau\n")
        .file("/run/modprobe.d/masked.conf", "blacklist nvidia\n")
        .file("/etc/modprobe.d/gpu.conf", "# nothing\n")
        .link("/etc/modprobe.d/masked.conf", "/dev/null");
    const auto modules = read(machine);
    EXPECT_TRUE(module_in(modules, "amdgpu").blacklisted_by.is(""));
    EXPECT_TRUE(module_in(modules, "nvidia").blacklisted_by.is(""));
    EXPECT_TRUE(module_in(modules, "nouveau").blacklisted_by.is("/lib/modprobe.d/only-here.conf"));
}

TEST(ModuleBlacklist, KernelArguments) {
    TempMachine machine;
    const auto modules =
        read(machine,
             "ro modprobe.blacklist=amdgpu,nvidia-drm module_blacklist=gim rd.driver.blacklist=nouveau "
             "\"modprobe.blacklist=nvidiafb\" amdgpu.blacklist=vfio_pci modprobe.blacklist=");
    EXPECT_TRUE(module_in(modules, "amdgpu").blacklisted_by.is("modprobe.blacklist=amdgpu,nvidia-drm"));
    EXPECT_TRUE(module_in(modules, "nvidia_drm").blacklisted_by.is("modprobe.blacklist=amdgpu,nvidia-drm"));
    EXPECT_TRUE(module_in(modules, "gim").blacklisted_by.is("module_blacklist=gim"));
    EXPECT_TRUE(module_in(modules, "nouveau").blacklisted_by.is("rd.driver.blacklist=nouveau"));
    EXPECT_TRUE(module_in(modules, "nvidiafb").blacklisted_by.is("modprobe.blacklist=nvidiafb"));
    EXPECT_TRUE(module_in(modules, "vfio_pci").blacklisted_by.is(""));
    EXPECT_TRUE(module_in(modules, "nvidia").blacklisted_by.is(""));
}

TEST(ModuleBlacklist, WhatCouldNotBeReadIsNotFree) {
    TempMachine machine;
    machine.file("/etc/modprobe.d/a.conf", "blacklist nouveau\n").file("/etc/modprobe.d/secret.conf", "x\n");
    machine.beside("nodes.json", R"([
        {"path":"/etc/modprobe.d/secret.conf","type":"file","mode":"0600","uid":0,"gid":0,"open":"EACCES"}])");
    EXPECT_EQ(module_in(read(machine), "amdgpu").blacklisted_by.why(), "EACCES");
    EXPECT_TRUE(module_in(read(machine), "nouveau").blacklisted_by.is("/etc/modprobe.d/a.conf"));
    TempMachine quiet;
    const auto modules = read_modules(quiet.open(), text(kRelease), Missing{"/proc/cmdline", "EACCES"});
    EXPECT_EQ(module_in(modules, "amdgpu").blacklisted_by.why(), "EACCES");
}

}  // namespace
}  // namespace gpucheck::host
