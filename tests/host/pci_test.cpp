// Which functions count as GPUs, and what every file that a kernel or a hypervisor can show makes of them.
#include "agent/host/pci.h"

#include <gtest/gtest.h>

#include "tests/host/pci_machine.h"
#include "tests/source_dir.h"

namespace gpucheck::host {
namespace {

const std::string kRoot = "/sys/devices/pci0000:00/";

std::vector<std::string> names(const std::vector<PciFunction>& functions) {
    std::vector<std::string> result;
    for (const PciFunction& function : functions) result.push_back(function.bdf.str());
    return result;
}

std::vector<std::string> names(const std::vector<PciPort>& ports) {
    std::vector<std::string> result;
    for (const PciPort& port : ports) result.push_back(port.bdf.str());
    return result;
}

using Names = std::vector<std::string>;

TEST(Pci, CountsGpusByClassAndVendorOnly) {
    TempMachine machine;
    const auto add = [&](const char* bdf, const char* vendor, const char* device, const char* class_code) {
        PciFiles files;
        files.vendor = vendor, files.device = device, files.class_code = class_code;
        add_pci(machine, kRoot + bdf, files);
    };
    add("0000:01:00.0", "0x10de", "0x2330", "0x030200");  // H100
    add("0000:02:00.0", "0x1002", "0x740c", "0x038000");  // MI250X
    add("0000:03:00.0", "0x1002", "0x74a1", "0x120000");  // MI300X
    add("0000:04:00.0", "0x10de", "0x2684", "0x030000");  // a consumer card is a GPU
    add("0000:05:00.0", "0x1002", "0x164e", "0x030000");  // so are integrated graphics
    add("0000:06:00.0", "0x10de", "0x2230", "0x030001");  // any programming interface
    add("0000:11:00.0", "0x1a03", "0x2000", "0x030000");  // ASPEED console
    add("0000:12:00.0", "0x1af4", "0x1050", "0x030000");  // virtio display
    add("0000:13:00.0", "0x1234", "0x1111", "0x030000");  // QEMU VGA
    add("0000:14:00.0", "0x10de", "0x22a3", "0x068000");  // NVSwitch
    add("0000:15:00.0", "0x10de", "0x10f8", "0x040300");  // the card's audio function
    add("0000:16:00.0", "0x1002", "0x515e", "0x030000");  // ES1000 console
    add("0000:17:00.0", "0x8086", "0x0bd5", "0x038000");  // somebody else's accelerator
    add("0000:18:00.0", "0x1022", "0x14a4", "0x060400");
    add("0000:19:00.0", "0x1002", "0x1478", "0x068000");
    machine.folder("/sys/bus/pci/devices/not-an-address").folder("/sys/bus/pci/devices/01:00.0");
    const PciInventory pci = read_pci(machine.open());
    EXPECT_EQ(names(pci.gpus), (Names{"0000:01:00.0", "0000:02:00.0", "0000:03:00.0", "0000:04:00.0",
                                      "0000:05:00.0", "0000:06:00.0"}));
    EXPECT_EQ(pci.nvswitches, (std::vector<Bdf>{{0, 0x14, 0, 0}}));
    EXPECT_TRUE(pci.unreadable.empty());
    EXPECT_EQ(pci.functions.value(), 15U);
    EXPECT_EQ(pci.gpus[5].class_code.value(), 0x030001U);
}

TEST(Pci, NoBusIsMissingAndAnEmptyBusIsZero) {
    TempMachine none;
    EXPECT_EQ(read_pci(none.open()).functions.why(), "ENOENT");
    none.folder("/sys/bus/pci/devices");
    EXPECT_EQ(read_pci(none.open()).functions.value(), 0U);
    none.beside("captured.txt", "/proc/**\n");
    EXPECT_EQ(read_pci(none.open()).functions.why(), "not captured");
}

TEST(Pci, NamesWhatMayBeAGpuButCannotBeRead) {
    TempMachine machine;
    PciFiles dead;
    dead.vendor = "0xffff", dead.device = "0xffff", dead.class_code = "0xffffff";
    dead.current_speed = "Unknown", dead.current_width = "63";
    add_pci(machine, kRoot + "0000:01:00.0", dead);
    dead.class_code = "0x030200";
    add_pci(machine, kRoot + "0000:02:00.0", dead);
    PciFiles files;
    add_pci(machine, kRoot + "0000:03:00.0", files);  // class: EACCES
    add_pci(machine, kRoot + "0000:04:00.0", files);  // vendor: EIO
    files.class_code = "030200";  // not as a kernel prints it, and 30200 would be no display
    add_pci(machine, kRoot + "0000:05:00.0", files);
    files.vendor = "0x8086", files.class_code = "";  // no class, yet surely not ours
    add_pci(machine, kRoot + "0000:06:00.0", files);
    files.vendor = "", files.class_code = "0x020000";  // no vendor, yet surely no GPU
    add_pci(machine, kRoot + "0000:07:00.0", files);
    files.vendor = "", files.class_code = "0x068000";  // a bridge of unknown make: perhaps an NVSwitch
    add_pci(machine, kRoot + "0000:08:00.0", files);
    machine.beside("nodes.json", R"([
        {"path":"/sys/devices/pci0000:00/0000:03:00.0/class","type":"file","mode":"0444","open":"EACCES"},
        {"path":"/sys/devices/pci0000:00/0000:04:00.0/vendor","type":"file","mode":"0444","read":"EIO"}])");
    const PciInventory pci = read_pci(machine.open());
    EXPECT_TRUE(pci.gpus.empty());
    EXPECT_EQ(names(pci.unreadable), (Names{"0000:01:00.0", "0000:02:00.0", "0000:03:00.0", "0000:04:00.0",
                                            "0000:05:00.0", "0000:08:00.0"}));
    EXPECT_EQ(pci.functions.value(), 8U);
    EXPECT_EQ(pci.unreadable[0].vendor.value(), 0xffff);
    EXPECT_EQ(pci.unreadable[0].link.current_width.value(), 63U);
    EXPECT_EQ(pci.unreadable[2].class_code.why(), "EACCES");
    EXPECT_EQ(pci.unreadable[2].device.value(), 0x2330);  // what could be read is kept
    EXPECT_EQ(pci.unreadable[2].link.current_speed.value(), LinkSpeed::gen5);
    EXPECT_EQ(pci.unreadable[3].vendor.why(), "EIO");
    EXPECT_EQ(pci.unreadable[4].class_code.why(), "malformed: '030200'");
}

TEST(Pci, ReadsEveryMember) {
    TempMachine machine;
    PciFiles files;
    files.driver = "vfio-pci";
    files.config = ConfigSpace().bytes;
    const std::string real = add_pci(machine, kRoot + "0000:83:00.0", files);
    machine.file(real + "/subsystem_vendor", "0x10de\n")
        .file(real + "/subsystem_device", "0x16c1\n")
        .file(real + "/revision", "0xa1\n")
        .file(real + "/numa_node", "-1\n")
        .file(real + "/local_cpulist", "0-47,96-143\n")
        .file(real + "/enable", "2\n")
        .file(real + "/power_state", "D0\n")
        .file(real + "/power/runtime_status", "active\n")
        .file(real + "/aer_dev_fatal", "DLP 0\nSDES 2\nTOTAL_ERR_FATAL 2\n")
        .file(real + "/resource", "0x00000000fc000000 0x00000000fcffffff 0x0000000000040200\n")
        .folder("/sys/kernel/iommu_groups/17")
        .link(real + "/iommu_group", "../../../kernel/iommu_groups/17");
    const PciFunction gpu = read_pci(machine.open()).gpus.at(0);
    EXPECT_EQ(gpu.bdf, (Bdf{0, 0x83, 0, 0}));
    EXPECT_EQ(gpu.vendor.value(), 0x10de);
    EXPECT_EQ(gpu.device.value(), 0x2330);
    EXPECT_EQ(gpu.sub_vendor.value(), 0x10de);
    EXPECT_EQ(gpu.sub_device.value(), 0x16c1);
    EXPECT_EQ(gpu.class_code.value(), 0x030200U);
    EXPECT_EQ(gpu.revision.value(), 0xa1);
    EXPECT_EQ(gpu.driver.value(), "vfio-pci");
    EXPECT_TRUE(gpu.has_physfn.is(false));
    EXPECT_EQ(gpu.link.current_speed.value(), LinkSpeed::gen5);
    EXPECT_EQ(gpu.link.max_width.value(), 16U);
    EXPECT_EQ(gpu.aer.fatal->total, 2U);
    EXPECT_TRUE(gpu.aer.correctable.absent());
    EXPECT_EQ(gpu.config->status_width, 16U);
    EXPECT_EQ(gpu.numa_node.value(), -1);
    EXPECT_EQ(gpu.iommu_group.value(), "17");
    EXPECT_EQ(gpu.local_cpulist.value(), "0-47,96-143");
    EXPECT_EQ(gpu.bars.value(), (std::vector<Bar>{{0, 0xfc000000, 0x1000000, 0x40200}}));
    EXPECT_EQ(gpu.runtime_status.value(), "active");
    EXPECT_EQ(gpu.power_state.value(), "D0");
    EXPECT_TRUE(gpu.enabled.is(true));
    EXPECT_EQ(gpu.link.current_width.source(), "/sys/bus/pci/devices/0000:83:00.0/current_link_width");
}

TEST(Pci, WhatIsAbsentIsNotADefault) {
    TempMachine machine;
    machine.file(kRoot + "0000:83:00.0/class", "0x030200\n")
        .file(kRoot + "0000:83:00.0/vendor", "0x10de\n")
        .link("/sys/bus/pci/devices/0000:83:00.0", "../../../devices/pci0000:00/0000:83:00.0");
    const PciFunction gpu = read_pci(machine.open()).gpus.at(0);
    EXPECT_EQ(gpu.driver.value(), "");  // no link: no driver is bound
    EXPECT_TRUE(gpu.has_physfn.is(false));
    for (const bool absent :
         {gpu.device.absent(), gpu.sub_device.absent(), gpu.revision.absent(),
          gpu.link.current_speed.absent(), gpu.link.max_width.absent(), gpu.aer.fatal.absent(),
          gpu.config.absent(), gpu.numa_node.absent(), gpu.iommu_group.absent(), gpu.bars.absent(),
          gpu.enabled.absent(), gpu.power_state.absent()}) {
        EXPECT_TRUE(absent);
    }
    machine.beside("captured.txt", "/sys/bus/pci/devices/*/class\n/sys/bus/pci/devices/*/vendor\n");
    const PciFunction partly = read_pci(machine.open()).gpus.at(0);
    EXPECT_EQ(partly.driver.why(), "not captured");
    EXPECT_EQ(partly.has_physfn.why(), "not captured");
    EXPECT_EQ(partly.bars.why(), "not captured");
}

TEST(Pci, JunkInAnyFileIsMissing) {
    TempMachine machine;
    PciFiles files;
    files.current_speed = "fast", files.max_speed = "-1", files.current_width = "256",
    files.max_width = "-16";
    const std::string real = add_pci(machine, kRoot + "0000:83:00.0", files);
    machine.file(real + "/revision", "0x1ff\n")
        .file(real + "/device", std::string("\0\xff\x01", 3))
        .file(real + "/numa_node", "99999999999999999999\n")
        .file(real + "/enable", "-1\n")
        .file(real + "/driver", "nvidia\n")  // a file where a link should be
        .file(real + "/resource", std::string(200000, 'x'))
        .file(real + "/local_cpulist", "")
        .file(real + "/aer_dev_fatal", "\xff\xfe\n")
        .file(real + "/power_state", "\x01\n");
    const PciFunction gpu = read_pci(machine.open()).gpus.at(0);
    EXPECT_EQ(gpu.link.current_speed.why(), "malformed: 'fast'");
    EXPECT_EQ(gpu.link.max_speed.why(), "malformed: '-1'");
    EXPECT_EQ(gpu.link.current_width.why(), "malformed: '256'");
    EXPECT_EQ(gpu.link.max_width.why(), "malformed: '-16'");
    EXPECT_EQ(gpu.revision.why(), "malformed: '0x1ff'");
    EXPECT_EQ(gpu.device.why(), "malformed: not text");
    EXPECT_EQ(gpu.numa_node.why(), "malformed: '99999999999999999999'");
    EXPECT_EQ(gpu.enabled.why(), "malformed: '-1'");
    EXPECT_EQ(gpu.driver.why(), "EINVAL");
    EXPECT_EQ(gpu.bars.why(), "larger than 65536 bytes");
    EXPECT_EQ(gpu.local_cpulist.why(), "empty");
    EXPECT_EQ(gpu.aer.fatal.why(), "malformed: not text");
    EXPECT_EQ(gpu.power_state.why(), "malformed: not text");
}

TEST(Pci, HypervisorAddressesAndVirtualFunctions) {
    TempMachine machine;
    PciFiles files;
    files.vendor = "0x1002", files.device = "0x74b5", files.class_code = "0x120000";
    files.current_speed = "Unknown", files.current_width = "0", files.max_speed = "Unknown",
    files.max_width = "0";
    // A domain as on Azure (ROCm/ROCm#1498), a device number as on AWS, and no port above.
    add_pci(machine, "/sys/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00/a1b2/pci91c4:00/91c4:00:1e.0",
            files);
    const std::string real = add_pci(machine, "/sys/devices/pci0000:80/0000:80:03.0/0000:83:02.1", files);
    add_pci(machine, "/sys/devices/pci0000:80/0000:80:03.0/0000:83:00.0", files);
    machine.file(real + "/subsystem_device", "0x74a1\n").link(real + "/physfn", "../0000:83:00.0");
    add_pci(machine, "/sys/devices/pci10000:e0/10000:e1:00.0",
            files);  // a domain with five digits sorts last
    const PciInventory pci = read_pci(machine.open());
    EXPECT_EQ(names(pci.gpus), (Names{"0000:83:00.0", "0000:83:02.1", "91c4:00:1e.0", "10000:e1:00.0"}));
    EXPECT_TRUE(pci.gpus[0].has_physfn.is(false));
    EXPECT_TRUE(pci.gpus[1].has_physfn.is(true));
    EXPECT_EQ(pci.gpus[1].sub_device.value(), 0x74a1);
    EXPECT_EQ(names(pci.gpus[1].path), (Names{"0000:80:03.0"}));
    EXPECT_EQ(pci.gpus[2].bdf, (Bdf{0x91c4, 0, 0x1e, 0}));
    EXPECT_TRUE(pci.gpus[2].path.empty());
    EXPECT_FALSE(path_bandwidth(pci.gpus[2], false).has_value());
}

TEST(Pci, TwoSpellingsOfOneMachineAgree) {
    TempMachine machine;
    PciFiles files;
    files.driver = "amdgpu";
    add_pci(machine, kRoot + "0000:00:01.0/0000:83:00.0", files);
    const PciInventory linked = read_pci(machine.open());
    // The same machine from a checkout without links: small files that hold the targets.
    const std::string link = "/sys/bus/pci/devices/0000:83:00.0";
    std::filesystem::remove(machine.at(link));
    machine.file(link, "../../../devices/pci0000:00/0000:00:01.0/0000:83:00.0");
    const PciInventory flat = read_pci(machine.open());
    EXPECT_EQ(flat.gpus, linked.gpus);
    EXPECT_EQ(flat.gpus.at(0).driver.value(), "amdgpu");
    EXPECT_EQ(names(flat.gpus.at(0).path), (Names{"0000:00:01.0"}));
}

struct Example {
    const char* folder;
    std::size_t gpus, nvswitches, ports;
    std::uint16_t vendor;
    const char* driver;
};

TEST(Pci, TheExampleMachines) {
    for (const Example& example : {Example{"machine-h100-sxm-x8", 8, 4, 3, 0x10de, "nvidia"},
                                   Example{"machine-mi300x-vf", 1, 0, 1, 0x1002, "amdgpu"}}) {
        const std::string folder = std::string(GPUCHECK_SHARED_DIR) + "/examples/" + example.folder;
        if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not here";
        auto opened = Sysroot::recorded(folder);
        const Sysroot* root = std::get_if<Sysroot>(&opened);
        ASSERT_NE(root, nullptr);
        const PciInventory pci = read_pci(*root);
        EXPECT_EQ(pci.gpus.size(), example.gpus);
        EXPECT_EQ(pci.nvswitches.size(), example.nvswitches);
        EXPECT_TRUE(pci.unreadable.empty());
        for (const PciFunction& gpu : pci.gpus) {
            EXPECT_TRUE(gpu.vendor.is(example.vendor));
            EXPECT_TRUE(gpu.driver.is(example.driver));
            EXPECT_TRUE(gpu.link.current_speed.is(LinkSpeed::gen5));
            EXPECT_TRUE(gpu.link.current_width.is(16U));
            EXPECT_TRUE(gpu.link.max_speed.is(LinkSpeed::gen5));
            EXPECT_TRUE(gpu.link.max_width.is(16U));
            EXPECT_EQ(gpu.path.size(), example.ports);
            EXPECT_EQ(gpu.config.why(), "only 64 bytes readable (root reads more)");
            EXPECT_TRUE(gpu.runtime_status.is("active"));
            EXPECT_TRUE(gpu.enabled.is(true));
            EXPECT_FALSE(gpu.bars->empty());
            const auto path = path_bandwidth(gpu, false);
            ASSERT_TRUE(path.has_value());
            EXPECT_EQ(path->speed, LinkSpeed::gen5);
            EXPECT_EQ(path->complete, example.vendor == 0x10de);  // the guest's root port is emulated
            EXPECT_EQ(gpu.path.back().emulated(), example.vendor == 0x1002);
        }
    }
}

}  // namespace
}  // namespace gpucheck::host
