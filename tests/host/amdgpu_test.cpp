// amdgpu's sysfs files: what healthy guests leave empty and what secondary partitions answer.
#include "agent/host/amdgpu.h"

#include <gtest/gtest.h>

#include "tests/host/drivers_examples.h"

namespace gpucheck::host {
namespace {

const std::string kFunction = "/sys/devices/pci0000:80/0000:80:03.0/0000:83:00.0";

Device gpu_at(const std::string& address) {
    Device gpu;
    gpu.bdf = Bdf::parse(address).value();
    gpu.vendor = Vendor::amd;
    return gpu;
}

AmdGpu read(const TempMachine& machine) {
    Device gpu = gpu_at("0000:83:00.0");
    read_amdgpu(machine.open(), gpu);
    return gpu.amd;
}

TEST(Amdgpu, ExampleVirtualFunction) {
    GPUCHECK_EXAMPLE_OR_SKIP(root, "machine-mi300x-vf");
    Device gpu = gpu_at("0000:83:00.0");
    read_amdgpu(*root, gpu);
    EXPECT_TRUE(gpu.amd.compute_partition.is("SPX"));
    EXPECT_TRUE(gpu.amd.memory_partition.is("NPS1"));
    EXPECT_TRUE(gpu.amd.vram_total_bytes.is(205822885888U));
    EXPECT_EQ(gpu.amd.serial.why(), "empty");
    EXPECT_TRUE(gpu.amd.unique_id.known());
}

TEST(Amdgpu, ReadsFirmwareAndIdentity) {
    TempMachine machine;
    machine.link("/sys/bus/pci/devices/0000:83:00.0", "../../../devices/pci0000:80/0000:80:03.0/0000:83:00.0")
        .file(kFunction + "/unique_id", "3cbdc0ffee000001\n")
        .file(kFunction + "/available_compute_partition", "SPX, DPX, QPX, CPX\n")
        .file(kFunction + "/vbios_version", "113-M3000100-102\n")
        .file(kFunction + "/fw_version/mec_fw_version", "0x000000b1\n")
        .file(kFunction + "/fw_version/sos_fw_version", "0x00360010\n")
        .file(kFunction + "/fw_version/smc_fw_version", "")
        .file(kFunction + "/fw_version/notes", "x\n");
    const AmdGpu amd = read(machine);
    EXPECT_TRUE(amd.unique_id.is("3cbdc0ffee000001"));
    EXPECT_EQ(amd.unique_id.source(), kFunction + "/unique_id");
    EXPECT_TRUE(amd.available_compute_partition.is("SPX, DPX, QPX, CPX"));
    EXPECT_EQ(amd.firmware, (std::vector<NamedText>{{"mec", "0x000000b1"}, {"sos", "0x00360010"}}));
    EXPECT_TRUE(amd.compute_partition.absent());
}

TEST(Amdgpu, WordsThatAreNoValuesStayMissing) {
    TempMachine machine;
    machine.folder("/sys/bus/pci/devices")
        .link("/sys/bus/pci/devices/0000:83:00.0", "../../../../" + kFunction.substr(1));
    machine.file(kFunction + "/current_compute_partition", "N/A\n")
        .file(kFunction + "/current_memory_partition", "UNKNOWN\n")
        .file(kFunction + "/unique_id", "0000000000000000\n")
        .file(kFunction + "/mem_info_vram_total", "-5\n")
        .file(kFunction + "/product_name", std::string("\xff\xfe\n", 3));
    const AmdGpu amd = read(machine);
    EXPECT_EQ(amd.compute_partition.why(), "the driver says 'N/A'");
    EXPECT_EQ(amd.memory_partition.why(), "the driver says 'UNKNOWN'");
    EXPECT_EQ(amd.unique_id.why(), "zero: no id");
    EXPECT_EQ(amd.vram_total_bytes.why(), "malformed: '-5'");
    EXPECT_EQ(amd.product_name.why(), "malformed: not text");
}

TEST(Amdgpu, NeverReadsTheFileThatBlocks) {
    TempMachine machine;
    machine.link("/sys/bus/pci/devices/0000:83:00.0", "../../../devices/pci0000:80/0000:80:03.0/0000:83:00.0")
        .file(kFunction + "/pcie_bw", "0 0 256\n");
    Sysroot root = machine.open();
    bool read_it = false;
    std::size_t accesses = 0;
    root.on_access([&](const Access& access) {
        ++accesses;
        read_it = read_it || access.path.ends_with("pcie_bw");
    });
    Device gpu = gpu_at("0000:83:00.0");
    read_amdgpu(root, gpu);
    EXPECT_GT(accesses, 8U);
    EXPECT_FALSE(read_it);
}

}  // namespace
}  // namespace gpucheck::host
