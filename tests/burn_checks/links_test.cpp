// The host link under load: bandwidth, generation and lanes, and that no idle reading condemns anybody.
#include <gtest/gtest.h>

#include "tests/burn_checks/burnt.h"

namespace gpucheck {
namespace {

using U64 = std::uint64_t;

TEST(BurnHostLink, BelowTheFloorOfItsBoard) {
    Snapshot machine = alone(burnt_h100_x8());
    set_rate(machine.gpus[0], "host_link", "h2d", 48.5);
    EXPECT_EQ(said(kBurnHostLinkCheck, machine), "");
    set_rate(machine.gpus[0], "host_link", "h2d", 46);
    EXPECT_EQ(said(kBurnHostLinkCheck, machine), "burn.host_link.slow 0000:19:00.0 fail");
    EXPECT_EQ(expected_by(kBurnHostLinkCheck, machine),
              "at least 48 GB/s: 48 GB/s (pinned copy, one way; NHC)");
    result_of(machine.gpus[0], "host_link", "h2d").quantities[0].max = 52;
    EXPECT_EQ(said(kBurnHostLinkCheck, machine), "burn.host_link.slow 0000:19:00.0 warn");
    machine = alone(burnt_mi300x_x8());
    set_rate(machine.gpus[0], "host_link", "d2h", 30);
    EXPECT_EQ(said(kBurnHostLinkCheck, machine), "burn.host_link.slow 0000:05:00.0 fail");
}

TEST(BurnHostLink, SeveralAtOnceMeetSomewhere) {
    Snapshot machine = burnt_h100_x8();
    for (Device& gpu : machine.gpus) set_rate(gpu, "host_link", "h2d", 40);
    EXPECT_EQ(complaints(kBurnHostLinkCheck, machine).size(), 8U);
    for (const Finding& each : complaints(kBurnHostLinkCheck, machine))
        EXPECT_EQ(each.verdict, Verdict::warn);
    // Two behind one switch share its uplink; a guest does not even see the switch.
    Snapshot shared = machine;
    for (std::size_t i = 1; i < 8; i += 2)
        shared.gpus[i].pci.path.back() = shared.gpus[i - 1].pci.path.back();
    EXPECT_EQ(said(kBurnHostLinkCheck, shared), "");
    machine.host.hypervisor = fact("kvm");
    EXPECT_EQ(said(kBurnHostLinkCheck, machine), "");
    set_rate(machine.gpus[0], "host_link", "h2d", 20);
    EXPECT_EQ(said(kBurnHostLinkCheck, machine), "burn.host_link.slow 0000:19:00.0 warn");
}

TEST(BurnHostLink, FewerLanesCarryLess) {
    Snapshot machine = alone(burnt_h100_x8());
    set_rate(machine.gpus[0], "host_link", "h2d", 26);
    set_rate(machine.gpus[0], "host_link", "d2h", 26);
    machine.gpus[0].burn_in.load.link_width_min = fact(U64{8});
    EXPECT_EQ(complaints(kBurnHostLinkCheck, machine).size(), 2U);
    machine.expected.pcie_width = Fact<unsigned>(8, "instances.json");
    EXPECT_EQ(said(kBurnHostLinkCheck, machine), "");
    machine.expected = Expectations{};
    Board board = *machine.gpus[0].board;
    board.narrow_widths_by_design = {8};
    machine.gpus[0].board = fact(board);
    machine.gpus[0].pci.link.current_width = fact(8U);
    EXPECT_EQ(said(kBurnHostLinkCheck, machine), "");
}

TEST(BurnHostLink, WithoutAFloorTheLinkItselfIsTheBar) {
    Snapshot machine = alone(burnt_h100_x8());
    Board board = *machine.gpus[0].board;
    board.floors.clear();
    machine.gpus[0].board = fact(board);
    set_rate(machine.gpus[0], "host_link", "h2d", 40);
    EXPECT_EQ(said(kBurnHostLinkCheck, machine), "");
    set_rate(machine.gpus[0], "host_link", "h2d", 30);  // of 63 GB/s
    EXPECT_EQ(said(kBurnHostLinkCheck, machine), "burn.host_link.slow 0000:19:00.0 fail");
    machine.gpus[0].burn_in.load.copy_samples = fact(U64{0});
    EXPECT_EQ(said(kBurnHostLinkCheck, machine), "") << "nothing to hold it to";
}

TEST(BurnHostLink, BounceBuffersAndSuperchipsAreNotJudged) {
    Snapshot machine = alone(burnt_h100_x8());
    set_rate(machine.gpus[0], "host_link", "h2d", 8);
    EXPECT_EQ(said(kBurnHostLinkCheck, machine), "burn.host_link.slow 0000:19:00.0 fail");
    machine.host.nvml.confidential_compute = fact(true);
    EXPECT_EQ(said(kBurnHostLinkCheck, machine), "");
    machine = alone(burnt_h100_x8());
    each_result(machine.gpus[0], [](ExperimentResult& result) {
        if (result.experiment == "host_link") result.experiment = "launch";
    });
    EXPECT_EQ(said(kBurnHostLinkCheck, machine), "burn.rate.unmeasured 0000:19:00.0 unknown");
}

TEST(PcieGeneration, UnderLoadItIsJudged) {
    Snapshot machine = burnt_h100_x8();
    machine.gpus[0].pci.link.current_speed = fact(LinkSpeed::gen1);  // idle
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "") << "Gen5 during copies";
    machine.gpus[0].burn_in.load.link_generation_max = fact(U64{3});
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "pcie.generation.slow 0000:19:00.0 fail");
    machine.host.hypervisor = fact("kvm");  // the slot is the provider's
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "pcie.generation.slow 0000:19:00.0 warn");
    machine.expected.pcie_generation = Fact<unsigned>(5, "--expect");
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "pcie.generation.slow 0000:19:00.0 fail");
    machine.gpus[0].burn_in.load.copy_samples = fact(U64{9});
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "pcie.generation.slow 0000:19:00.0 warn");
    machine.gpus[0].burn_in.load.copy_samples = fact(U64{2});  // too few
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "pcie.generation.idle 0000:19:00.0 unknown");
}

TEST(PcieGeneration, WithoutCopiesNoSampleCounts) {
    Snapshot machine = burnt_mi300x_x8();
    Device& gpu = machine.gpus[0];
    gpu.pci.link.current_speed = fact(LinkSpeed::gen1);
    gpu.burn_in.load.link_generation_max = fact(U64{1});
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "pcie.generation.slow 0000:05:00.0 fail");
    each_result(gpu, [](ExperimentResult& result) {
        if (result.experiment == "host_link") result.ran = Missing{"copy", "out of time"};
    });
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "pcie.generation.idle 0000:05:00.0 unknown");
}

TEST(PcieGeneration, FastAtRestAndSlowUnderLoadWarns) {
    Snapshot machine = burnt_h100_x8();
    machine.gpus[0].burn_in.load.link_generation_max = fact(U64{4});
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "pcie.generation.slow 0000:19:00.0 warn");
    machine.gpus[0].pci.path[0].link.max_speed = fact(LinkSpeed::gen4);  // the slot can do no more
    EXPECT_EQ(said(kPcieGenerationCheck, machine), "");
}

TEST(PcieWidth, LanesDuringCopiesAreTheProof) {
    Snapshot machine = burnt_h100_x8();
    machine.gpus[0].burn_in.load.link_width_min = fact(U64{8});
    EXPECT_EQ(said(kPcieWidthCheck, machine), "pcie.link.narrowed 0000:19:00.0 warn");
    machine.gpus[0].burn_in.load.copy_samples = fact(U64{1});
    EXPECT_EQ(said(kPcieWidthCheck, machine), "");
    machine = burnt_h100_x8();
    machine.gpus[0].pci.link.current_width = fact(8U);
    EXPECT_EQ(said(kPcieWidthCheck, machine), "") << "full during copies";
    machine.gpus[0].burn_in.load = LoadSamples{};
    EXPECT_EQ(said(kPcieWidthCheck, machine), "pcie.link.narrow 0000:19:00.0 fail");
}

}  // namespace
}  // namespace gpucheck
