// Errors are judged as counted since boot: fatal fails, a storm warns, a handful at training is silent.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

Fact<AerCounters> errors(std::uint64_t total, const char* name = "RxErr") {
    return fact(AerCounters{total, {{name, total}}});
}

TEST(PcieAer, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kPcieAerCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kPcieAerCheck, healthy_mi300x_vf()), "");
    EXPECT_EQ(run_check(kPcieAerCheck, healthy_mi300x_vf(), Profile::quick).verdict, Verdict::not_applicable);
}

TEST(PcieAer, UncorrectedErrorsOnThePathAreNamed) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.path[0].aer.nonfatal = errors(2, "CmpltTO");
    EXPECT_EQ(said(kPcieAerCheck, machine), "pcie.aer.nonfatal 0000:19:00.0 warn");
    EXPECT_EQ(complaints(kPcieAerCheck, machine).at(0).observed, "0000:17:01.0: 2 (CmpltTO)");
    machine.gpus[0].pci.aer.fatal = errors(1, "SDES");
    EXPECT_EQ(said(kPcieAerCheck, machine), "pcie.aer.fatal 0000:19:00.0 fail");
}

TEST(PcieAer, StormsWarnByRate) {
    Snapshot machine = healthy_h100_x8();
    machine.host.uptime_s = fact(600.0);
    machine.gpus[0].pci.aer.correctable = errors(101);  // 10.1 a minute
    EXPECT_EQ(said(kPcieAerCheck, machine), "pcie.aer.storm 0000:19:00.0 warn");
    machine.gpus[0].pci.aer.correctable = errors(100);
    EXPECT_EQ(said(kPcieAerCheck, machine), "");
    machine.host.uptime_s = fact(60.0);
    machine.gpus[0].pci.aer.correctable = errors(99);  // a burst at training, below a hundred
    EXPECT_EQ(said(kPcieAerCheck, machine), "");
    machine.gpus[0].pci.aer.correctable = errors(UINT64_MAX);
    EXPECT_EQ(said(kPcieAerCheck, machine), "pcie.aer.storm 0000:19:00.0 warn");
}

TEST(PcieAer, ASharedPortIsOneFault) {
    Snapshot machine = healthy_h100_x8();
    PciPort root = machine.gpus[0].pci.path[1];
    root.aer.fatal = errors(3, "DLP");
    for (std::size_t i = 0; i < 4; ++i) machine.gpus[i].pci.path[1] = root;
    EXPECT_EQ(said(kPcieAerCheck, machine), "pcie.aer.fatal 0000:15:01.0 fail");
    for (std::size_t i = 0; i < 4; ++i) machine.gpus[i].pci.path[1].vendor = fact(std::uint16_t{0x1b36});
    EXPECT_EQ(said(kPcieAerCheck, machine), "");
}

TEST(PcieAer, UnreadableCountersAreUnknown) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.aer.fatal = Missing{"sysfs", "EIO"};
    EXPECT_EQ(said(kPcieAerCheck, machine), "pcie.aer.unread 0000:19:00.0 unknown");
    machine.gpus[0].pci.aer.fatal = Missing{"sysfs", "ENOENT"};
    EXPECT_EQ(said(kPcieAerCheck, machine), "");
    machine.gpus[0].pci.aer.correctable = errors(5000);
    for (const Fact<double>& uptime : {Fact<double>(Missing{"uptime", "EIO"}), fact(0.0), fact(-5.0)}) {
        machine.host.uptime_s = uptime;
        EXPECT_EQ(said(kPcieAerCheck, machine), "pcie.aer.unread 0000:19:00.0 unknown");
    }
}

}  // namespace
}  // namespace gpucheck
