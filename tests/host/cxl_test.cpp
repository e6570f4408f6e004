// CXL memory devices: sizes in the kernel's spelling, and entries of the bus that are something else.
#include "agent/host/cxl.h"

#include <gtest/gtest.h>

#include "tests/host/temp_machine.h"

namespace gpucheck::host {
namespace {

TEST(Cxl, ListsMemoryDevicesByNumber) {
    TempMachine machine;
    machine.file("/sys/devices/platform/mem10/ram/size", "0x4000000000\n")
        .file("/sys/devices/platform/mem10/pmem/size", "0x0\n")
        .file("/sys/devices/platform/mem10/numa_node", "2\n")
        .file("/sys/devices/platform/mem10/firmware_version", "1.4.2\n")
        .link("/sys/bus/cxl/devices/mem10", "../../../devices/platform/mem10")
        .file("/sys/bus/cxl/devices/mem2/ram/size", "nothing\n")
        .file("/sys/bus/cxl/devices/mem2/numa_node", "-1\n")
        .folder("/sys/bus/cxl/devices/memory")
        .folder("/sys/bus/cxl/devices/mem")
        .folder("/sys/bus/cxl/devices/mem-1")
        .folder("/sys/bus/cxl/devices/root0")
        .folder("/sys/bus/cxl/devices/decoder0.0");
    const std::vector<CxlMemory> memories = read_cxl(machine.open());
    ASSERT_EQ(memories.size(), 2U);
    EXPECT_EQ(memories[0].name, "mem2");
    EXPECT_EQ(memories[0].ram_bytes.why(), "malformed: 'nothing'");
    EXPECT_TRUE(memories[0].pmem_bytes.absent());
    EXPECT_TRUE(memories[0].firmware_version.absent());
    EXPECT_EQ(memories[0].numa_node.value(), -1);
    EXPECT_EQ(memories[1].name, "mem10");
    EXPECT_EQ(memories[1].ram_bytes.value(), std::uint64_t{256} << 30);
    EXPECT_EQ(memories[1].pmem_bytes.value(), 0U);
    EXPECT_EQ(memories[1].numa_node.value(), 2);
    EXPECT_EQ(memories[1].firmware_version.value(), "1.4.2");
}

TEST(Cxl, NoBusIsNoMemory) {
    TempMachine machine;
    EXPECT_TRUE(read_cxl(machine.open()).empty());
}

}  // namespace
}  // namespace gpucheck::host
