// PCIe error counters and xGMI links, each with the harmless case beside it.
#include <gtest/gtest.h>

#include <limits>

#include "checks/all.h"
#include "checks/pcie_budget.h"
#include "tests/checks/healthy.h"
#include "tests/checks/healthy_amd_telemetry.h"

namespace gpucheck {
namespace {

using U64 = std::uint64_t;

TEST(ReplayBudget, GrowsWithSpeedWidthAndTime) {
    EXPECT_EQ(replay_budget(LinkSpeed::gen5, 16, 60), 31U);
    EXPECT_EQ(replay_budget(LinkSpeed::gen4, 16, 60), 16U);
    EXPECT_EQ(replay_budget(LinkSpeed::gen3, 16, 60), 8U);
    EXPECT_EQ(replay_budget(LinkSpeed::gen1, 16, 60), 3U);
    EXPECT_EQ(replay_budget(LinkSpeed::gen5, 8, 120), 31U);
    EXPECT_EQ(replay_budget(LinkSpeed::gen5, 16, 1), 31U);  // a burst in a short run
    EXPECT_EQ(replay_budget(LinkSpeed::unknown, 16, 60), std::nullopt);
    EXPECT_EQ(replay_budget(LinkSpeed::gen5, 63, 60), std::nullopt);
    EXPECT_EQ(replay_budget(LinkSpeed::gen5, 16, -1), std::nullopt);
    EXPECT_EQ(replay_budget(LinkSpeed::gen5, 16, std::numeric_limits<double>::quiet_NaN()), std::nullopt);
    EXPECT_EQ(replay_budget(LinkSpeed::gen5, 16, 1e300), std::nullopt);
}

Snapshot grown(Fact<U64> AmdLinkCounters::*counter, U64 number) {
    Snapshot machine = telling_mi300x_x8();
    machine.gpus[0].telemetry.last.amd.metrics.links.*counter = fact(number);
    return machine;
}

TEST(AmdPcie, GrowthAgainstTheBudget) {  // Gen5 x16 for 30 s: a minute's 31
    EXPECT_EQ(said(kAmdPcieCheck, grown(&AmdLinkCounters::pcie_replays, 31)), "");
    EXPECT_EQ(said(kAmdPcieCheck, grown(&AmdLinkCounters::pcie_replays, 32)),
              "amd.pcie.replays 0000:05:00.0 warn");
    EXPECT_EQ(said(kAmdPcieCheck, grown(&AmdLinkCounters::pcie_naks_sent, 400)),
              "amd.pcie.replays 0000:05:00.0 warn");
    EXPECT_EQ(said(kAmdPcieCheck, grown(&AmdLinkCounters::pcie_l0_to_recovery, 101)), "");
    EXPECT_EQ(said(kAmdPcieCheck, grown(&AmdLinkCounters::pcie_l0_to_recovery, 102)),
              "amd.pcie.recovery 0000:05:00.0 warn");
    EXPECT_EQ(said(kAmdPcieCheck, grown(&AmdLinkCounters::pcie_replay_rollovers, 1)),
              "amd.pcie.recovery 0000:05:00.0 warn");
}

TEST(AmdPcie, OldErrorsAreHistory) {
    Snapshot machine = telling_mi300x_x8();
    Telemetry& telemetry = machine.gpus[0].telemetry;
    telemetry.first.amd.metrics.links.pcie_naks_received = fact(U64{5000});
    telemetry.last.amd.metrics.links.pcie_naks_received = fact(U64{5000});
    EXPECT_EQ(said(kAmdPcieCheck, machine), "");  // none of them in this run
    telemetry.last = Reading{};
    EXPECT_EQ(said(kAmdPcieCheck, machine), "amd.pcie.history 0000:05:00.0 warn");
    telemetry.first.amd.metrics.links.pcie_naks_received = fact(U64{100});
    EXPECT_EQ(said(kAmdPcieCheck, machine), "");
}

TEST(AmdPcie, ASecondReadingThatFailedIsUnknown) {
    Snapshot machine = telling_mi300x_x8();
    Reading& last = machine.gpus[0].telemetry.last;
    last.amd = AmdTelemetry{};
    last.amd.metrics.layout = Missing{"gpu_metrics", "EIO"};
    EXPECT_EQ(said(kAmdPcieCheck, machine), "telemetry.unread 0000:05:00.0 unknown");
}

std::vector<unsigned> links_up(unsigned number) {
    std::vector<unsigned> links(8, 0);
    for (unsigned i = 0; i < number; ++i) links[i] = 1;
    links[7] = 65535;
    return links;
}

TEST(AmdXgmi, LinkDown) {
    Snapshot machine = telling_mi300x_x8();
    machine.gpus[0].telemetry.first.amd.metrics.links.xgmi_link_up = fact(links_up(7));
    EXPECT_EQ(said(kAmdXgmiCheck, machine), "");
    machine.gpus[0].telemetry.first.amd.metrics.links.xgmi_link_up = fact(links_up(6));
    EXPECT_EQ(said(kAmdXgmiCheck, machine), "amd.xgmi.down 0000:05:00.0 fail");
    // Where no GPU shows all of them, the words of this driver are not proven.
    for (Device& gpu : machine.gpus) gpu.telemetry.first.amd.metrics.links.xgmi_link_up = fact(links_up(6));
    EXPECT_EQ(complaints(kAmdXgmiCheck, machine).size(), 8U);
    EXPECT_EQ(complaints(kAmdXgmiCheck, machine)[0].verdict, Verdict::warn);
}

TEST(AmdXgmi, SlowerThanItsNeighbours) {
    Snapshot machine = telling_mi300x_x8();
    AmdLinkCounters& links = machine.gpus[0].telemetry.first.amd.metrics.links;
    links.xgmi_width = fact(8U);
    EXPECT_EQ(said(kAmdXgmiCheck, machine), "amd.xgmi.slow 0000:05:00.0 warn");
    links.xgmi_width = fact(16U);
    links.xgmi_speed_gbps = fact(25U);
    EXPECT_EQ(said(kAmdXgmiCheck, machine), "amd.xgmi.slow 0000:05:00.0 warn");
    links.xgmi_speed_gbps = fact(0U);  // not told
    EXPECT_EQ(said(kAmdXgmiCheck, machine), "");
}

TEST(AmdXgmi, MissingInTheTopology) {
    Snapshot machine = telling_mi300x_x8();
    machine.gpus[0].amd.kfd_nodes[0].xgmi_links = fact(6U);
    EXPECT_EQ(said(kAmdXgmiCheck, machine), "amd.xgmi.missing 0000:05:00.0 warn");
    machine.gpus.pop_back();  // with seven members there are six others
    EXPECT_EQ(said(kAmdXgmiCheck, machine), "");
}

TEST(AmdXgmi, ErrorCounterOfMi200Only) {
    Snapshot machine = telling_mi210_x2();
    machine.gpus[0].telemetry.first.amd.xgmi_error = fact(1U);
    EXPECT_EQ(said(kAmdXgmiCheck, machine), "amd.xgmi.error 0000:05:00.0 warn");
    machine = telling_mi300x_x8();
    machine.gpus[0].telemetry.first.amd.xgmi_error = Missing{"xgmi_error", "EINVAL"};
    EXPECT_EQ(said(kAmdXgmiCheck, machine), "");
}

TEST(AmdXgmi, HivesOfAGuest) {
    Snapshot machine = telling_mi300x_vf();
    Device second = machine.gpus[0];
    second.bdf.bus = 0x84;
    machine.gpus.push_back(second);
    EXPECT_EQ(said(kAmdXgmiCheck, machine), "");
    machine.gpus[0].amd.kfd_nodes[0].hive_id = fact(U64{77});
    EXPECT_EQ(said(kAmdXgmiCheck, machine), "kfd.hive.split host warn");
    machine.gpus[1].amd.kfd_nodes[0].hive_id = fact(U64{77});
    EXPECT_EQ(said(kAmdXgmiCheck, machine), "");
}

}  // namespace
}  // namespace gpucheck
