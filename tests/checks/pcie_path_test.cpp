// A slow hop above a GPU is named; a guest's made-up ports and an idle speed are not.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

constexpr const char* kNarrow = "pcie.path.narrow 0000:19:00.0 fail";
constexpr const char* kSlow = "pcie.path.slot_slow 0000:19:00.0 ";

PciPort& port(Snapshot& machine, std::size_t hop) {
    return machine.gpus[0].pci.path.at(hop);
}

TEST(PciePath, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kPciePathCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kPciePathCheck, healthy_mi300x_vf()), "");
    EXPECT_EQ(run_check(kPciePathCheck, healthy_mi300x_vf(), Profile::quick).verdict,
              Verdict::not_applicable);
}

TEST(PciePath, ANarrowHopFailsAndNamesTheLoss) {
    Snapshot machine = healthy_h100_x8();
    port(machine, 1).link.current_width = fact(8U);
    EXPECT_EQ(said(kPciePathCheck, machine), kNarrow);
    const Finding finding = complaints(kPciePathCheck, machine).at(0);
    EXPECT_EQ(finding.observed, "x8 at 0000:15:01.0: 31.5 GB/s of 63.0 GB/s, 31.5 GB/s lost");
}

TEST(PciePath, AnIdleSpeedIsNoFault) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.link.current_speed = fact(LinkSpeed::gen1);
    port(machine, 0).link.current_speed = fact(LinkSpeed::gen1);
    EXPECT_EQ(said(kPciePathCheck, machine), "");
}

TEST(PciePath, AGpuThatIsNarrowItselfIsNotReportedTwice) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.link.current_width = fact(8U);
    port(machine, 0).link.current_width = fact(8U);
    EXPECT_EQ(said(kPciePathCheck, machine), "");
}

TEST(PciePath, ASlotBelowTheBoardWarns) {
    Snapshot machine = healthy_h100_x8();
    for (PciPort& hop : machine.gpus[0].pci.path) hop.link.max_speed = fact(LinkSpeed::gen4);
    EXPECT_EQ(said(kPciePathCheck, machine), std::string(kSlow) + "warn");
    machine.expected.pcie_generation = Fact<unsigned>(5, "instances.json");
    EXPECT_EQ(said(kPciePathCheck, machine), std::string(kSlow) + "fail");
    machine.expected.pcie_generation = Fact<unsigned>(4, "instances.json");
    EXPECT_EQ(said(kPciePathCheck, machine), "");
}

TEST(PciePath, ASlotWithFewerLanesWarnsUnlessTheBoardIsWiredSo) {
    Snapshot machine = healthy_h100_x8();
    port(machine, 1).link.current_width = fact(8U);
    port(machine, 1).link.max_width = fact(8U);
    EXPECT_EQ(said(kPciePathCheck, machine), std::string(kSlow) + "warn");
    Board board = *machine.gpus[0].board;
    board.narrow_widths_by_design = {8};
    machine.gpus[0].board = fact(board);
    EXPECT_EQ(said(kPciePathCheck, machine), "");
    machine.gpus[0].board = Missing{"gpus.json", "no row"};  // then the GPU's own reach is the measure
    EXPECT_EQ(said(kPciePathCheck, machine), std::string(kSlow) + "warn");
}

TEST(PciePath, AFasterUplinkMayBeNarrower) {
    Snapshot machine = healthy_h100_x8();
    Board board = *machine.gpus[0].board;
    board.pcie_speed = fact(LinkSpeed::gen4);
    machine.gpus[0].board = fact(board);
    port(machine, 1).link.current_width = fact(8U);  // Gen5 x8 carries what Gen4 x16 does
    port(machine, 1).link.max_width = fact(8U);
    EXPECT_EQ(said(kPciePathCheck, machine), "");
    // On the GPU's own link the spare generation is of no use.
    machine.gpus[0].pci.path.erase(machine.gpus[0].pci.path.begin());
    EXPECT_EQ(said(kPciePathCheck, machine), std::string(kSlow) + "warn");
}

TEST(PciePath, TheInnerSwitchOfAnAmdCardDoesNotHideTheSlot) {
    Snapshot machine = healthy_h100_x8();
    Device& gpu = machine.gpus[0];
    gpu.vendor = Vendor::amd;
    gpu.pci.path[1].link = {fact(LinkSpeed::gen4), fact(LinkSpeed::gen5), fact(8U), fact(16U)};
    EXPECT_EQ(said(kPciePathCheck, machine), kNarrow);
}

TEST(PciePath, EmulatedPortsMeanNothing) {
    Snapshot machine = healthy_h100_x8();
    port(machine, 1).vendor = fact(std::uint16_t{0x1b36});
    port(machine, 1).link = {fact(LinkSpeed::gen1), fact(LinkSpeed::gen1), fact(1U), fact(1U)};
    EXPECT_EQ(said(kPciePathCheck, machine), "");
    Snapshot guest = healthy_mi300x_vf();
    guest.gpus[0].pci.path[0].vendor = fact(std::uint16_t{0x104c});  // a TI switch that a hypervisor emulates
    guest.gpus[0].pci.path[0].link = {fact(LinkSpeed::gen1), fact(LinkSpeed::gen1), fact(1U), fact(1U)};
    EXPECT_EQ(said(kPciePathCheck, guest), "");
}

TEST(PciePath, WhatWasNotReadIsUnknown) {
    Snapshot machine = healthy_h100_x8();
    port(machine, 1).link.current_width = Missing{"sysfs", "EIO"};
    EXPECT_EQ(said(kPciePathCheck, machine), "pcie.path.unread 0000:19:00.0 unknown");
    port(machine, 0).link.current_width = fact(4U);  // a fault that was seen counts more
    EXPECT_EQ(said(kPciePathCheck, machine), kNarrow);
    machine = healthy_h100_x8();
    machine.gpus[0].pci.path.clear();
    EXPECT_EQ(said(kPciePathCheck, machine), "pcie.path.unread 0000:19:00.0 unknown");
    machine = healthy_h100_x8();
    machine.gpus.resize(1);
    port(machine, 1).link.current_width = fact(8U);
    machine.host.hypervisor = Missing{"cpuinfo", "EIO"};  // perhaps a guest
    EXPECT_EQ(said(kPciePathCheck, machine), "pcie.path.unread 0000:19:00.0 unknown");
}

TEST(PciePath, ADeadPortFails) {
    Snapshot machine = healthy_h100_x8();
    port(machine, 0).link.current_width = fact(63U);
    port(machine, 0).link.current_speed = fact(LinkSpeed::unknown);
    EXPECT_EQ(said(kPciePathCheck, machine), "pcie.link.dead 0000:19:00.0 fail");
    port(machine, 0).link.current_width = fact(0U);
    EXPECT_EQ(said(kPciePathCheck, machine), "");
}

}  // namespace
}  // namespace gpucheck
