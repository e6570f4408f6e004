// Counting GPUs: on the bus, bound, and in the driver's own list, each with the case that must not be taken
// for it.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

PciFunction unreadable(const char* address) {
    PciFunction function;
    function.bdf = Bdf::parse(address).value();
    function.vendor = Missing{"/sys/bus/pci/devices", "EIO"};
    return function;
}

TEST(GpuCount, NamesWhatIsThereWhenOneIsMissing) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus.erase(machine.gpus.begin() + 4);
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.missing host fail");
    const Finding missing = complaints(kGpuCountCheck, machine).front();
    EXPECT_EQ(missing.expected, "8 GPUs (--expect)");
    EXPECT_EQ(
        missing.observed,
        "132 PCI functions, 7 GPUs: 0000:19:00.0, 0000:29:00.0, 0000:39:00.0, 0000:49:00.0, 0000:69:00.0, "
        "0000:79:00.0, 0000:89:00.0");
    machine.expected.gpu_count = fact(7U);
    EXPECT_EQ(said(kGpuCountCheck, machine), "");
}

TEST(GpuCount, WarnsOfMoreThanPromised) {
    Snapshot machine = healthy_h100_x8();
    machine.expected.gpu_count = fact(4U);
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.extra host warn");
    machine.host.container = fact("docker");  // /sys is the host's there
    EXPECT_EQ(said(kGpuCountCheck, machine), "");
}

TEST(GpuCount, SaysWhatWasLookedAtWhenThereIsNone) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus.clear();
    machine.expected.gpu_count = Missing{"", "not stated"};
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.none.found host unknown");
    EXPECT_EQ(complaints(kGpuCountCheck, machine).front().observed,
              "132 PCI functions, none a GPU of NVIDIA or AMD");
    machine.expected.gpu_count = fact(8U);
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.missing host fail");
    machine.expected.gpu_count = fact(0U);
    EXPECT_EQ(said(kGpuCountCheck, machine), "");
}

TEST(GpuCount, IsUnknownWithoutTheBus) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus.clear();
    machine.host.pci_functions = Missing{"/sys/bus/pci/devices", "EACCES"};
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.unread host unknown");
    EXPECT_EQ(complaints(kGpuCountCheck, machine).front().observed, "EACCES");
}

TEST(GpuCount, TakesAFunctionOfAllOnesForDead) {
    Snapshot machine = healthy_h100_x8();
    PciFunction dead = machine.gpus[3].pci;
    dead.vendor = fact(std::uint16_t{0xffff});
    machine.host.unreadable_functions = {dead};
    EXPECT_EQ(said(kGpuCountCheck, machine),
              "gpu.bus.dead 0000:49:00.0 warn");  // all eight promised ones are there
    machine.gpus.erase(machine.gpus.begin() + 3);
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.bus.dead 0000:49:00.0 fail\ngpu.count.missing host fail");
    machine.host.unreadable_functions.front().class_code = fact(0x020000U);  // a network card
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.missing host fail");
}

TEST(GpuCount, DoesNotFailForWhatItCouldNotRead) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus.pop_back();
    machine.host.unreadable_functions = {unreadable("0000:89:00.0")};
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.bus.unread host unknown");
    machine.gpus.pop_back();  // one unread function cannot be two GPUs
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.missing host fail");
    machine = healthy_h100_x8();
    machine.host.unreadable_functions = {unreadable("0000:fe:00.0")};
    EXPECT_EQ(said(kGpuCountCheck, machine), "");
    machine.expected.gpu_count = Missing{"", "not stated"};
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.bus.unread host unknown");
}

TEST(GpuCount, CountsBoundGpusApart) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[2].pci.driver = fact("");
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.unbound host fail");
    EXPECT_EQ(complaints(kGpuCountCheck, machine).front().observed, "7 GPUs bound; not: 0000:39:00.0");
    machine.expected.gpu_count = fact(7U);  // the eighth is a warned extra
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.extra host warn");
    machine = healthy_h100_x8();
    machine.gpus[2].pci.driver = Missing{"driver", "EACCES"};
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.unread host unknown");
}

TEST(GpuCount, LetsAHostLendItsGpus) {
    Snapshot machine = healthy_h100_x8();
    for (unsigned i = 4; i < 8; ++i) machine.gpus[i].pci.driver = fact("vfio-pci");
    machine.expected.gpu_count = Missing{"", "not stated"};
    EXPECT_EQ(said(kGpuCountCheck, machine), "");
    machine.expected.gpu_count = fact(8U);
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.unbound host fail");
}

TEST(GpuCount, WaitsForADriverThatIsBeingBuilt) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].pci.driver = fact("");
    machine.host.dkms[0].state = fact("building");
    EXPECT_EQ(said(kGpuCountCheck, machine),
              "gpu.count.unbound host fail");  // an upgrade beside a loaded driver
    machine.host.modules[0].loaded = fact(false);
    EXPECT_EQ(said(kGpuCountCheck, machine), "driver.dkms.building host unknown");
    machine.host.dkms[0].module = "zfs";
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.unbound host fail");
}

TEST(GpuCount, ComparesWithTheNvidiaDriversList) {
    Snapshot machine = healthy_h100_x8();
    std::vector<std::string> names = machine.host.nvidia.proc_gpus.value();
    names.erase(names.begin());
    machine.host.nvidia.proc_gpus = fact(names);
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.unlisted host fail");
    EXPECT_EQ(complaints(kGpuCountCheck, machine).front().observed, "7 GPUs listed; not: 0000:19:00.0");
    names.push_back("00000000:19:00.0");  // another spelling of the same address
    machine.host.nvidia.proc_gpus = fact(names);
    EXPECT_EQ(said(kGpuCountCheck, machine), "");
    machine.host.nvidia.proc_gpus = Missing{"/proc/driver/nvidia/gpus", "EACCES"};
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.unread host unknown");
}

TEST(GpuCount, ComparesWithKfd) {
    Snapshot machine = healthy_mi300x_x8();
    machine.gpus[5].amd.kfd_nodes.clear();
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.unlisted host fail");
    machine.host.kfd.unreadable = {"7: EPERM"};
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.unread host unknown");
    machine = healthy_mi300x_x8_cpx();
    machine.gpus[7].amd.kfd_nodes.pop_back();  // 63 of 64 partitions: still eight GPUs
    EXPECT_EQ(said(kGpuCountCheck, machine), "");
}

TEST(GpuCount, DoesNotAskKfdForADisplayAdapter) {
    Snapshot machine = healthy_mi300x_x8();
    Device display = machine.gpus[0];
    display.bdf.bus = 0xfe;
    display.board = Missing{"gpus.json", "no row for 1002:164e"};
    display.pci.class_code = fact(0x030000U);
    display.amd.kfd_nodes.clear();
    machine.gpus.push_back(display);
    EXPECT_EQ(said(kGpuCountCheck, machine), "gpu.count.extra host warn");
}

TEST(GpuCount, LetsAContainerHaveSomeOfTheGpus) {
    Snapshot machine = healthy_h100_x8();
    machine.host.container = fact("kubernetes");
    machine.host.nvidia.proc_gpus = fact(std::vector<std::string>{"0000:19:00.0", "0000:29:00.0"});
    for (unsigned i = 2; i < 8; ++i) machine.gpus[i].nodes[0].stat = Missing{"/dev", "ENOENT"};
    machine.expected.gpu_count = fact(2U);
    EXPECT_EQ(said(kGpuCountCheck, machine), "");
}

}  // namespace
}  // namespace gpucheck
