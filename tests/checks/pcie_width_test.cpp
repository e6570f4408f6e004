// Missing lanes fail on bare metal, and only on a promise in a guest; ports without lanes are left alone.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

constexpr const char* kFirst = "0000:19:00.0";

Snapshot h100_with_width(unsigned width) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.link.current_width = fact(width);
    return machine;
}

TEST(PcieWidth, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kPcieWidthCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kPcieWidthCheck, healthy_mi300x_vf()), "");
    EXPECT_EQ(run_check(kPcieWidthCheck, healthy_h100_x8(), Profile::quick).findings.size(), 8U);
}

TEST(PcieWidth, NarrowOnBareMetalFails) {
    EXPECT_EQ(said(kPcieWidthCheck, h100_with_width(8)), std::string("pcie.link.narrow ") + kFirst + " fail");
    EXPECT_EQ(complaints(kPcieWidthCheck, h100_with_width(8)).at(0).scope, Scope::host);
}

TEST(PcieWidth, ANarrowSlotByDesignIsFine) {
    Snapshot machine = h100_with_width(8);
    Board board = *machine.gpus[0].board;
    board.narrow_widths_by_design = {8};
    machine.gpus[0].board = fact(board);
    EXPECT_EQ(said(kPcieWidthCheck, machine), "");
    machine.expected.pcie_width =
        Fact<unsigned>(16, "instances.json");  // a promise wins over what boards put up with
    EXPECT_EQ(said(kPcieWidthCheck, machine), std::string("pcie.link.narrow ") + kFirst + " fail");
}

TEST(PcieWidth, APromiseOfFewerLanesIsMet) {
    Snapshot machine = h100_with_width(8);
    machine.expected.pcie_width = Fact<unsigned>(8, "--expect");
    EXPECT_EQ(said(kPcieWidthCheck, machine), "");
    machine.expected.pcie_width = Fact<unsigned>(300, "--expect");  // no width: the board's row counts
    EXPECT_EQ(said(kPcieWidthCheck, machine), std::string("pcie.link.narrow ") + kFirst + " fail");
}

TEST(PcieWidth, AGuestFailsOnlyOnAPromise) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].pci.link.current_width = fact(8U);
    EXPECT_EQ(said(kPcieWidthCheck, machine), "pcie.link.narrow 0000:83:00.0 warn");
    machine.expected.pcie_width = Fact<unsigned>(16, "instances.json");
    EXPECT_EQ(said(kPcieWidthCheck, machine), "pcie.link.narrow 0000:83:00.0 fail");
}

TEST(PcieWidth, DeadAndVirtualLinksAreToldApart) {
    Snapshot machine = healthy_h100_x8();
    PciLink& link = machine.gpus[0].pci.link;
    link.current_speed = fact(LinkSpeed::unknown);
    link.current_width = fact(63U);
    EXPECT_EQ(said(kPcieWidthCheck, machine), std::string("pcie.link.dead ") + kFirst + " fail");
    link.current_width = fact(0U);
    EXPECT_EQ(said(kPcieWidthCheck, machine), "");
    link = healthy_h100_x8().gpus[0].pci.link;
    machine.gpus[0].pci.vendor = fact(std::uint16_t{0xffff});
    EXPECT_EQ(said(kPcieWidthCheck, machine), std::string("pcie.link.dead ") + kFirst + " fail");
}

TEST(PcieWidth, WidthsThatNoLinkHasAreUnknown) {
    for (const unsigned width : {17U, 63U, 255U, 4294967295U}) {
        EXPECT_EQ(said(kPcieWidthCheck, h100_with_width(width)),
                  std::string("pcie.link.odd ") + kFirst + " unknown")
            << width;
    }
    EXPECT_EQ(said(kPcieWidthCheck, h100_with_width(0)), std::string("pcie.link.odd ") + kFirst + " unknown");
    EXPECT_EQ(said(kPcieWidthCheck, h100_with_width(32)), "");
}

TEST(PcieWidth, WhatWasNotReadIsUnknown) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.link.current_width = Missing{"sysfs", "EIO"};
    EXPECT_EQ(said(kPcieWidthCheck, machine), std::string("pcie.link.unread ") + kFirst + " unknown");
    machine.gpus[0].pci.link.current_width = Missing{"sysfs", "ENOENT"};
    EXPECT_EQ(said(kPcieWidthCheck, machine), std::string("pcie.link.unread ") + kFirst + " unknown");
    Snapshot guest = healthy_mi300x_vf();  // passed through on a conventional bus: no link registers
    guest.gpus[0].pci.link.current_width = Missing{"sysfs", "ENOENT"};
    EXPECT_EQ(said(kPcieWidthCheck, guest), "");
    machine = h100_with_width(8);
    machine.gpus[0].pci.runtime_status = fact("suspended");
    EXPECT_EQ(said(kPcieWidthCheck, machine), std::string("pcie.link.unread ") + kFirst + " unknown");
}

TEST(PcieWidth, AnUnknownBoardIsUnknownUnlessTheLinkIsFull) {
    Snapshot machine = h100_with_width(8);
    machine.gpus[0].board = Missing{"gpus.json", "no row for 10de:ffff"};
    EXPECT_EQ(said(kPcieWidthCheck, machine), std::string("pcie.link.no_expectation ") + kFirst + " unknown");
    machine.gpus[0].pci.link.current_width = fact(16U);
    EXPECT_EQ(said(kPcieWidthCheck, machine), "");
}

TEST(PcieWidth, ASuperchipsPlaceholderIsNotJudged) {
    Snapshot machine = h100_with_width(1);
    Board board = *machine.gpus[0].board;
    board.form = FormFactor::superchip;
    machine.gpus[0].board = fact(board);
    EXPECT_EQ(said(kPcieWidthCheck, machine), "");
}

TEST(PcieWidth, AppliesOnlyWithGpus) {
    EXPECT_EQ(run_check(kPcieWidthCheck, Snapshot{}, Profile::quick).verdict, Verdict::not_applicable);
}

}  // namespace
}  // namespace gpucheck
