// Which functions of the bus count as drives and as network functions for GPU traffic.
#include "agent/host/drives_and_nics.h"

#include <gtest/gtest.h>

#include "tests/host/pci_machine.h"

namespace gpucheck::host {
namespace {

TEST(DrivesAndNics, AreListedByClassMakerAndDriver) {
    TempMachine machine;
    const std::string root_port = "/sys/devices/pci0000:00/";
    const auto add = [&](const char* bdf, const char* vendor, const char* device, const char* class_code) {
        PciFiles files;
        files.vendor = vendor, files.device = device, files.class_code = class_code;
        return add_pci(machine, root_port + bdf, files);
    };
    machine.file(add("0000:01:00.0", "0x1d0f", "0xcd01", "0x010802") + "/nvme/nvme0/model",
                 "Amazon EC2 NVMe Instance Storage        \n");
    add("0000:02:00.0", "0x144d", "0xa80a", "0x010802");  // no driver
    machine.file(add("0000:03:00.0", "0x15b3", "0x101e", "0x020700") + "/infiniband/mlx5_ib0/node_type",
                 "1: CA\n");
    add("0000:04:00.0", "0x15b3", "0x101e", "0x020700");  // mlx5_ib is not loaded
    machine.file(add("0000:05:00.0", "0x1d0f", "0xefa2", "0x020000") + "/infiniband/rdmap5s0/node_type",
                 "4: x\n");
    add("0000:06:00.0", "0x1d0f", "0xec20", "0x020000");  // ENA: the instance's own network
    add("0000:07:00.0", "0x1af4", "0x1041", "0x020000");  // virtio
    const std::string virtual_function = add("0000:08:00.0", "0x15b3", "0x101e", "0x020000");
    machine.link(virtual_function + "/physfn", "../0000:03:00.0");  // a guest's
    const Sysroot root = machine.open();
    const PciInventory pci = read_pci(root);
    EXPECT_TRUE(pci.gpus.empty());
    const auto drives = read_nvme_drives(root, pci);
    ASSERT_EQ(drives->size(), 2U);
    EXPECT_EQ(*(*drives)[0].controller, "nvme0");
    EXPECT_EQ(*(*drives)[0].model, "Amazon EC2 NVMe Instance Storage");
    EXPECT_TRUE((*drives)[1].controller.absent());
    const auto nics = read_rdma_nics(root, pci);
    ASSERT_EQ(nics->size(), 3U);
    EXPECT_TRUE((*nics)[0].infiniband);
    EXPECT_EQ(*(*nics)[0].device, "mlx5_ib0");
    EXPECT_TRUE((*nics)[1].device.absent());
    EXPECT_FALSE((*nics)[2].infiniband);
    EXPECT_EQ(*(*nics)[2].device, "rdmap5s0");
}

TEST(DrivesAndNics, NoBusIsMissingAndNotNone) {
    TempMachine machine;
    const Sysroot root = machine.open();
    const PciInventory pci = read_pci(root);
    EXPECT_FALSE(read_nvme_drives(root, pci).known());
    EXPECT_FALSE(read_rdma_nics(root, pci).known());
}

}  // namespace
}  // namespace gpucheck::host
