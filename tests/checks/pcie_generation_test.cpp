// An idle link is never slow: below its generation it is "judged under load".
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

TEST(PcieGeneration, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kPcieGenerationCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kPcieGenerationCheck, healthy_mi300x_vf()), "");
}

TEST(PcieGeneration, IdleGen1IsNotCheckedAndNeverFails) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.link.current_speed = fact(LinkSpeed::gen1);
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "pcie.generation.idle 0000:19:00.0 unknown");
    EXPECT_FALSE(run_check(kPcieGenerationCheck, machine, Profile::quick).required);
    EXPECT_TRUE(run_check(kPcieGenerationCheck, machine, Profile::boot).required);
    machine.gpus[0].pci.link.current_speed = fact(LinkSpeed::gen6);
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "");
}

TEST(PcieGeneration, AsFastAsTheSlotAllowsIsFine) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.link.current_speed = fact(LinkSpeed::gen4);
    machine.gpus[0].pci.path[0].link.max_speed = fact(LinkSpeed::gen4);
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "");
    machine.gpus[0].pci.link.current_speed = fact(LinkSpeed::gen3);
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "pcie.generation.idle 0000:19:00.0 unknown");
}

TEST(PcieGeneration, APromiseIsTheMeasure) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].pci.link.current_speed = fact(LinkSpeed::gen4);
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "pcie.generation.idle 0000:83:00.0 unknown");
    machine.expected.pcie_generation = Fact<unsigned>(4, "instances.json");
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "");
    machine.expected.pcie_generation =
        Fact<unsigned>(99, "--expect");  // no generation: the board's row counts
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "pcie.generation.idle 0000:83:00.0 unknown");
}

TEST(PcieGeneration, UnreadAndUnexpectedAreUnknown) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.link.current_speed = Missing{"sysfs", "EIO"};
    machine.gpus[1].board = Missing{"gpus.json", "no row"};
    EXPECT_EQ(said(kPcieGenerationCheck, machine),
              "pcie.link.no_expectation 0000:29:00.0 unknown\npcie.link.unread 0000:19:00.0 unknown");
    machine = healthy_h100_x8();
    machine.gpus[0].pci.link.current_speed = fact(LinkSpeed::unknown);
    machine.gpus[0].pci.link.current_width = fact(0U);
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "");
}

}  // namespace
}  // namespace gpucheck
