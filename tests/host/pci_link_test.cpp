// The link of a GPU and of every port above it, as healthy, virtual, sleeping and dead devices show it.
#include <gtest/gtest.h>

#include "agent/host/pci.h"
#include "tests/host/pci_machine.h"

namespace gpucheck::host {
namespace {

const std::string kRootPort = "/sys/devices/pci0000:15/0000:15:01.0";
const std::string kGpu = kRootPort + "/0000:16:00.0/0000:17:01.0/0000:19:00.0";

PciFiles port_files() {
    PciFiles files;
    files.vendor = "0x1000", files.device = "0xc030", files.class_code = "0x060400";
    return files;
}

void add_path(TempMachine& machine) {
    PciFiles root = port_files();
    root.vendor = "0x8086", root.device = "0x352a";
    add_pci(machine, kRootPort, root);
    add_pci(machine, kRootPort + "/0000:16:00.0", port_files());
    add_pci(machine, kRootPort + "/0000:16:00.0/0000:17:01.0", port_files());
    add_pci(machine, kGpu);
}

TEST(PciLink, ThePathGoesUpToTheRootPort) {
    TempMachine machine;
    add_path(machine);
    machine.file(kRootPort + "/aer_dev_correctable", "RxErr 3\nTOTAL_ERR_COR 3\n")
        .file(kRootPort + "/config", ConfigSpace().bytes);
    const PciFunction gpu = read_pci(machine.open()).gpus.at(0);
    ASSERT_EQ(gpu.path.size(), 3U);
    EXPECT_EQ(gpu.path[0].bdf.str(), "0000:17:01.0");
    EXPECT_EQ(gpu.path[1].bdf.str(), "0000:16:00.0");
    EXPECT_EQ(gpu.path[2].bdf.str(), "0000:15:01.0");
    EXPECT_EQ(gpu.path[2].vendor.value(), 0x8086);
    EXPECT_EQ(gpu.path[2].device.value(), 0x352a);
    EXPECT_EQ(gpu.path[2].aer.correctable->nonzero, (std::vector<NamedCount>{{"RxErr", 3}}));
    EXPECT_EQ(gpu.path[2].config->cap_width, 16U);
    EXPECT_TRUE(gpu.path[0].config.absent());
    EXPECT_TRUE(path_bandwidth(gpu, false)->complete);
}

// ilya-zlobintsev/LACT#334: the GPU's own link is the one inside the card.
TEST(PciLink, ASlowPortAboveIsSeen) {
    TempMachine machine;
    add_path(machine);
    machine.file(kRootPort + "/0000:16:00.0/current_link_speed", "16.0 GT/s PCIe\n")
        .file(kRootPort + "/0000:16:00.0/current_link_width", "8\n");
    const PciFunction gpu = read_pci(machine.open()).gpus.at(0);
    const auto path = path_bandwidth(gpu, false);
    ASSERT_TRUE(path.has_value());
    EXPECT_EQ(path->limited_by, (Bdf{0, 0x16, 0, 0}));
    EXPECT_EQ(path->speed, LinkSpeed::gen4);
    EXPECT_EQ(path->width, 8U);
}

TEST(PciLink, PortsWithoutTheirBusEntryAreStillRead) {
    TempMachine machine;
    add_path(machine);
    std::filesystem::remove(machine.at("/sys/bus/pci/devices/0000:16:00.0"));
    const PciFunction gpu = read_pci(machine.open()).gpus.at(0);
    ASSERT_EQ(gpu.path.size(), 3U);
    EXPECT_EQ(gpu.path[1].link.current_width.value(), 16U);
    EXPECT_EQ(gpu.path[1].link.current_width.source(), kRootPort + "/0000:16:00.0/current_link_width");
}

struct Shown {
    const char *speed, *width;
    LinkSpeed expected_speed;
    unsigned expected_width;
};

TEST(PciLink, OddValuesAreKeptAsShown) {
    for (const Shown& shown :
         {Shown{"Unknown", "0", LinkSpeed::unknown, 0},    // virtual or coherent port
          Shown{"Unknown", "63", LinkSpeed::unknown, 63},  // all ones: the device is gone
          Shown{"Unknown speed", "0", LinkSpeed::unknown, 0},
          Shown{"Unknown", "255", LinkSpeed::unknown, 255},
          Shown{"2.5 GT/s PCIe", "16", LinkSpeed::gen1, 16},  // idle
          Shown{"8 GT/s", "16", LinkSpeed::gen3, 16},         // old kernels
          Shown{"64.0 GT/s PCIe", "32", LinkSpeed::gen6, 32}}) {
        TempMachine machine;
        add_path(machine);
        machine.file(kGpu + "/current_link_speed", std::string(shown.speed) + "\n")
            .file(kGpu + "/current_link_width", std::string(shown.width) + "\n");
        const PciFunction gpu = read_pci(machine.open()).gpus.at(0);
        EXPECT_TRUE(gpu.link.current_speed.is(shown.expected_speed)) << shown.speed;
        EXPECT_TRUE(gpu.link.current_width.is(shown.expected_width)) << shown.width;
        EXPECT_TRUE(gpu.link.max_speed.is(LinkSpeed::gen5));
    }
}

TEST(PciLink, EmulatedPortsSaySo) {
    TempMachine machine;
    PciFiles port = port_files();
    port.vendor = "0x1b36", port.device = "0x000c", port.current_speed = "2.5 GT/s PCIe",
    port.current_width = "1";
    add_pci(machine, "/sys/devices/pci0000:80/0000:80:03.0", port);
    PciFiles gpu_files;
    gpu_files.vendor = "0x1002", gpu_files.device = "0x74b5", gpu_files.class_code = "0x120000";
    add_pci(machine, "/sys/devices/pci0000:80/0000:80:03.0/0000:83:00.0", gpu_files);
    const PciFunction gpu = read_pci(machine.open()).gpus.at(0);
    ASSERT_EQ(gpu.path.size(), 1U);
    EXPECT_TRUE(gpu.path[0].emulated());
    const auto path = path_bandwidth(gpu, false);
    EXPECT_EQ(path->width, 16U);  // the emulated Gen1 x1 does not count
    EXPECT_FALSE(path->complete);
}

TEST(PciLink, ReadErrorsKeepTheirErrno) {
    TempMachine machine;
    add_path(machine);
    machine.beside("nodes.json",
                   R"([{"path":")" + kGpu +
                       R"(/current_link_speed","type":"file","mode":"0444","open":"ok","read":"EIO"},
                       {"path":")" +
                       kRootPort + R"(/current_link_width","type":"file","mode":"0444","read":"EINVAL"},
                       {"path":")" +
                       kGpu + R"(/config","type":"file","mode":"0644","open":"EPERM"}])");
    const PciFunction gpu = read_pci(machine.open()).gpus.at(0);
    EXPECT_EQ(gpu.link.current_speed.why(), "EIO");
    EXPECT_TRUE(gpu.link.current_width.is(16U));
    EXPECT_EQ(gpu.path.at(2).link.current_width.why(), "EINVAL");
    EXPECT_EQ(gpu.config.why(), "EPERM");
    EXPECT_FALSE(path_bandwidth(gpu, false)->complete);
}

TEST(PciLink, SleepingDevicesAreNotJudgedByTheirLink) {
    for (const auto& [file, text] :
         {std::pair{"/power/runtime_status", "suspended\n"}, std::pair{"/power/runtime_status", "resuming\n"},
          std::pair{"/power_state", "D3cold\n"}}) {
        TempMachine machine;
        add_path(machine);
        machine.file(kGpu + file, text)
            .file(kGpu + "/current_link_width", "63\n")
            .file(kGpu + "/config", std::string(256, '\xff'))
            .file(kGpu + "/aer_dev_fatal", "TOTAL_ERR_FATAL 1\n")
            .file(kRootPort + "/0000:16:00.0/0000:17:01.0/power/runtime_status", "suspended\n");
        const PciFunction gpu = read_pci(machine.open()).gpus.at(0);
        for (const std::string& why :
             {gpu.link.current_speed.why(), gpu.link.max_speed.why(), gpu.link.current_width.why(),
              gpu.link.max_width.why(), gpu.config.why()}) {
            EXPECT_EQ(why, "suspended") << text;
        }
        EXPECT_EQ(gpu.device.value(), 0x2330);
        EXPECT_EQ(gpu.aer.fatal->total, 1U);  // kept by the kernel in memory
        EXPECT_EQ(gpu.path.at(0).link.current_width.why(), "suspended");
        EXPECT_TRUE(gpu.path.at(1).link.current_width.is(16U));
    }
}

TEST(PciLink, D3hotAndUnsupportedRuntimePmAreAwake) {
    TempMachine machine;
    add_path(machine);
    machine.file(kGpu + "/power/runtime_status", "unsupported\n").file(kGpu + "/power_state", "D3hot\n");
    EXPECT_TRUE(read_pci(machine.open()).gpus.at(0).link.current_width.is(16U));
}

}  // namespace
}  // namespace gpucheck::host
