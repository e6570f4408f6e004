// /proc/driver/nvidia in every form that drivers have printed, and in forms they have not.
#include "agent/host/nvidia.h"

#include <gtest/gtest.h>

#include "tests/host/drivers_examples.h"

namespace gpucheck::host {
namespace {

TEST(NvidiaVersion, AllReleasedForms) {
    const struct {
        const char* line;
        const char* version;
        bool open;
    } rows[] = {
        {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.06  Wed Jun 26 06:46:07 UTC 2024",
         "535.183.06", false},
        {"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.133.20  Release Build  "
         "(dvs-builder@HOST)  Mon Apr 14",
         "570.133.20", true},
        {"NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  575.57.08  Release Build  "
         "(dvs-builder@HOST)",
         "575.57.08", true},
        {"[    9.1] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.163.01  Tue Apr  8 12:41:17 UTC 2025",
         "550.163.01", false},
        {"NVRM version: NVIDIA UNIX aarch64 Kernel Module  550.90.07  Fri May 31 09:22:27 UTC 2024",
         "550.90.07", false},
        {"NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.65.06  Release Build", "580.65.06",
         true},
        {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  410.48", "410.48", false},
    };
    for (const auto& row : rows) {
        const auto parsed = parse_nvidia_version(row.line);
        ASSERT_TRUE(parsed) << row.line;
        EXPECT_EQ(parsed->version, row.version);
        EXPECT_EQ(parsed->open_module, row.open) << row.line;
    }
}

TEST(NvidiaVersion, NearMissesAreNoVersion) {
    for (const char* line :
         {"", "NVRM version: ", "GCC version:  gcc version 13.3.0", "NVIDIA UNIX x86_64 Kernel Module",
          "NVIDIA UNIX x86_64 Kernel Module 535.183.06",
          "NVIDIA UNIX x86_64 Kernel Module  Release Build 535.183.06",
          "NVIDIA UNIX x86_64 Kernel Module  535", "NVIDIA UNIX x86_64 Kernel Module  535.",
          "NVIDIA UNIX x86_64 Kernel Module  .5", "NVIDIA UNIX x86_64 Kernel Module  1.2.3.4.5",
          "NVIDIA UNIX Open Kernel Module for ", "Kernel Module  535.183.06",
          "NVIDIA UNIX x86_64 Kernel Module  535..06",
          "nvidia-modeset: Loading NVIDIA Kernel Mode Setting Driver for UNIX platforms  570.1"}) {
        EXPECT_FALSE(parse_nvidia_version(line)) << line;
    }
}

TEST(Nvidia, ExampleMachine) {
    GPUCHECK_EXAMPLE_OR_SKIP(root, "machine-h100-sxm-x8");
    const NvidiaDriver driver = read_nvidia_driver(*root);
    EXPECT_TRUE(driver.version.is("570.133.20"));
    EXPECT_TRUE(driver.open_kernel_module.is(true));
    EXPECT_EQ(driver.proc_gpus->size(), 8U);
    ASSERT_GE(driver.params.size(), 3U);
    bool mode_seen = false;
    for (const NamedText& param : driver.params)
        mode_seen = mode_seen || param == NamedText{"DeviceFileMode", "438"};
    EXPECT_TRUE(mode_seen);

    Device gpu;
    gpu.bdf = Bdf::parse("0000:db:00.0").value();
    read_nvidia_gpu(*root, gpu);
    EXPECT_TRUE(gpu.nvidia.model.is("NVIDIA H100 80GB HBM3"));
    EXPECT_TRUE(gpu.nvidia.minor.is(7U));
    EXPECT_TRUE(gpu.nvidia.excluded.is(false));
    EXPECT_TRUE(gpu.nvidia.gsp_firmware.is("570.133.20"));
    EXPECT_TRUE(gpu.nvidia.vbios_version.is("96.00.74.00.01"));
}

TEST(Nvidia, FolderNamesInEverySpelling) {
    for (const char* name : {"0000:DB:00.0", "00000000:DB:00.0", "0000:db:00.0", "00000000:db:00.0"}) {
        TempMachine machine;
        machine.file(std::string("/proc/driver/nvidia/gpus/") + name + "/information",
                     "Model: \t\t NVIDIA L4\nDevice Minor: \t 3\nGPU Excluded:\t Yes\n");
        Device gpu;
        gpu.bdf = Bdf::parse("0000:db:00.0").value();
        read_nvidia_gpu(machine.open(), gpu);
        EXPECT_TRUE(gpu.nvidia.minor.is(3U)) << name;
        EXPECT_TRUE(gpu.nvidia.excluded.is(true)) << name;
        EXPECT_TRUE(gpu.nvidia.uuid.absent()) << name;
        gpu.bdf = Bdf::parse("0001:db:00.0").value();  // the same bus in another domain
        read_nvidia_gpu(machine.open(), gpu);
        EXPECT_TRUE(gpu.nvidia.minor.absent()) << name;
    }
}

TEST(Nvidia, AGpuThatIsNotInitialisedYetSaysSo) {
    TempMachine machine;
    machine.file("/proc/driver/nvidia/gpus/0000:19:00.0/information",
                 "Model: \t\t Unknown\nIRQ:   \t\t 57\nGPU UUID: \t GPU-?\?-?\?\n"
                 "Video BIOS: \t ?\?.?\?.?\?.?\?.?\?\nDevice Minor: \t 0\nGPU Firmware: \t N/A\nGPU "
                 "Excluded:\t Maybe\n");
    Device gpu;
    gpu.bdf = Bdf::parse("0000:19:00.0").value();
    read_nvidia_gpu(machine.open(), gpu);
    EXPECT_FALSE(gpu.nvidia.model.known());
    EXPECT_FALSE(gpu.nvidia.uuid.known());
    EXPECT_FALSE(gpu.nvidia.vbios_version.known());
    EXPECT_EQ(gpu.nvidia.gsp_firmware.why(), "the driver says 'N/A'");
    EXPECT_TRUE(gpu.nvidia.minor.is(0U));
    EXPECT_EQ(gpu.nvidia.excluded.why(), "malformed");
}

TEST(Nvidia, AbsentAndMalformedAreToldApart) {
    TempMachine machine;
    EXPECT_TRUE(read_nvidia_driver(machine.open()).version.absent());
    EXPECT_TRUE(read_nvidia_driver(machine.open()).proc_gpus.absent());
    machine.file("/proc/driver/nvidia/version", "NVRM version: something else\n");
    machine.file("/proc/driver/nvidia/params",
                 "DeviceFileUID: 0\nno colon\n: no key\nModifyDeviceFiles: 1\n");
    const NvidiaDriver driver = read_nvidia_driver(machine.open());
    EXPECT_EQ(driver.version.why(), "malformed: 'NVRM version: something else'");
    EXPECT_FALSE(driver.open_kernel_module.known());
    EXPECT_EQ(driver.params, (std::vector<NamedText>{{"DeviceFileUID", "0"}, {"ModifyDeviceFiles", "1"}}));
    machine.file("/proc/driver/nvidia/gpus/0000:19:00.0/information", std::string("Device Minor: \0\1", 16));
    Device gpu;
    gpu.bdf = Bdf::parse("0000:19:00.0").value();
    read_nvidia_gpu(machine.open(), gpu);
    EXPECT_FALSE(gpu.nvidia.minor.known());
}

}  // namespace
}  // namespace gpucheck::host
