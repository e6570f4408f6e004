// NVLink, C2C and the host link: faults, and what is so by design.
#include <gtest/gtest.h>

#include "tests/nvidia_checks/change.h"

namespace gpucheck {
namespace {

void down(NvidiaTelemetry& t, std::size_t number_of_links) {
    std::vector<NvLink> links = *t.nvlinks;
    for (std::size_t i = 0; i < number_of_links && i < links.size(); ++i) links[i].active = fact(false);
    t.nvlinks = fact(links);
}

template <class Change>
void change_link(NvidiaTelemetry& t, Change change) {
    std::vector<NvLink> links = *t.nvlinks;
    change(links.at(3));
    t.nvlinks = fact(links);
}

template <class Change>
std::string said_of_link(const Check& check, Change change) {
    Snapshot machine = telling_h100_x8();
    change_link(last(machine), change);
    return said(check, machine);
}

TEST(NvidiaNvlink, BareMetalNeedsAllLinks) {
    EXPECT_EQ(said_with(kNvidiaNvlinkCheck, [](NvidiaTelemetry& t) { down(t, 1); }),
              "nvidia.nvlink.missing 0000:19:00.0 fail");
    Snapshot machine = telling_h100_x8();
    for (std::size_t i = 0; i < 8; ++i) down(first(machine, i), 18), down(last(machine, i), 18);
    EXPECT_EQ(complaints(kNvidiaNvlinkCheck, machine).size(), 8U);
    EXPECT_EQ(said_with(kNvidiaNvlinkCheck,
                        [](NvidiaTelemetry& t) {
                            t.nvlinks = Missing{"NVML", "NOT_SUPPORTED"};
                        }),
              "telemetry.unread 0000:19:00.0 unknown");
}

TEST(NvidiaNvlink, AFabricThatIsNotReadyYetBringsItsLinksLater) {
    Snapshot machine = with([](NvidiaTelemetry& t) {
        down(t, 18);
        t.fabric.state = fact("in_progress");
    });
    EXPECT_EQ(said(kNvidiaNvlinkCheck, machine), "telemetry.unread 0000:19:00.0 unknown");
    machine.host.uptime_s = fact(3600.0);
    EXPECT_EQ(said(kNvidiaNvlinkCheck, machine), "nvidia.nvlink.missing 0000:19:00.0 fail");
}

TEST(NvidiaNvlink, GuestsHaveWhatTheirHostGivesThem) {
    Snapshot machine = telling_h100_x8();
    machine.host.hypervisor = fact("kvm");
    machine.gpus.resize(2);
    EXPECT_EQ(said(kNvidiaNvlinkCheck, machine), "");
    for (std::size_t i = 0; i < 2; ++i) down(first(machine, i), 18), down(last(machine, i), 18);
    EXPECT_EQ(said(kNvidiaNvlinkCheck, machine),
              "nvidia.nvlink.none 0000:19:00.0 warn\nnvidia.nvlink.none 0000:29:00.0 warn");
    machine.gpus.resize(1);
    EXPECT_EQ(said(kNvidiaNvlinkCheck, machine), "");
    // One of several with fewer than its neighbours is a fault in a guest too.
    machine = telling_h100_x8();
    machine.host.hypervisor = fact("kvm");
    down(first(machine), 2), down(last(machine), 2);
    EXPECT_EQ(said(kNvidiaNvlinkCheck, machine), "nvidia.nvlink.missing 0000:19:00.0 fail");
}

TEST(NvidiaNvlink, BridgesAreOptionalAndComeInPairs) {
    Snapshot machine = telling_a100_pcie();
    const auto up = [](NvidiaTelemetry& t, std::size_t count) {
        std::vector<NvLink> links = *t.nvlinks;
        for (std::size_t i = 0; i < count; ++i)
            links[i].active = fact(true), links[i].speed_mbps = fact(25000U);
        t.nvlinks = fact(links);
    };
    for (std::size_t i = 0; i < 2; ++i) up(first(machine, i), 12), up(last(machine, i), 12);
    EXPECT_EQ(said(kNvidiaNvlinkCheck, machine), "");
    down(first(machine), 4), down(last(machine), 4);
    EXPECT_EQ(said(kNvidiaNvlinkCheck, machine), "nvidia.nvlink.odd 0000:19:00.0 warn");
}

TEST(NvidiaNvlink, SlowLinksAndLinksThatGoDown) {
    EXPECT_EQ(said_of_link(kNvidiaNvlinkCheck, [](NvLink& link) { link.speed_mbps = fact(13281U); }),
              "nvidia.nvlink.slow 0000:19:00.0 fail");
    EXPECT_EQ(said_of_link(kNvidiaNvlinkCheck, [](NvLink& link) { link.speed_mbps = fact(25000U); }), "");
    EXPECT_EQ(said_of_link(kNvidiaNvlinkErrorsCheck, [](NvLink& link) { link.active = fact(false); }),
              "nvidia.nvlink.dropped 0000:19:00.0 fail");
}

TEST(NvidiaNvlinkErrors, GrowthCountsAndTotalsDoNot) {
    EXPECT_EQ(said_of_link(kNvidiaNvlinkErrorsCheck, [](NvLink& link) { link.replays = number(1); }),
              "nvidia.nvlink.errors 0000:19:00.0 warn");
    EXPECT_EQ(said_of_link(kNvidiaNvlinkErrorsCheck, [](NvLink& link) { link.crc_errors = number(6000); }),
              "nvidia.nvlink.crc 0000:19:00.0 fail");
    EXPECT_EQ(said_of_link(kNvidiaNvlinkErrorsCheck, [](NvLink& link) { link.crc_errors = number(5000); }),
              "");
    const auto total = [](NvidiaTelemetry& t) {
        change_link(t, [](NvLink& link) { link.replays = link.recoveries = number(77); });
    };
    EXPECT_EQ(said_with(kNvidiaNvlinkErrorsCheck, total), "");
    Snapshot machine = with(total);
    forget_second(machine);
    EXPECT_EQ(said(kNvidiaNvlinkErrorsCheck, machine), "telemetry.unread 0000:19:00.0 unknown");
    machine = telling_h100_x8();
    forget_second(machine);
    EXPECT_EQ(said(kNvidiaNvlinkErrorsCheck, machine), "");
}

TEST(NvidiaNvlinkErrors, FifthGeneration) {
    const auto failed = [](std::uint64_t count) {
        Snapshot machine = telling_h100_x8();
        change_link(first(machine), [](NvLink& link) { link.recoveries_failed = number(0); });
        change_link(last(machine), [&](NvLink& link) { link.recoveries_failed = number(count); });
        return said(kNvidiaNvlinkErrorsCheck, machine);
    };
    EXPECT_EQ(failed(1), "nvidia.nvlink.recovery_failed 0000:19:00.0 fail");
    EXPECT_EQ(failed(0), "");
    EXPECT_EQ(said_of_link(kNvidiaNvlinkErrorsCheck, [](NvLink& link) { link.effective_ber = fact(3e-12); }),
              "nvidia.nvlink.ber 0000:19:00.0 fail");
    EXPECT_EQ(
        said_of_link(kNvidiaNvlinkErrorsCheck, [](NvLink& link) { link.effective_ber = fact(1.5e-254); }),
        "");
}

TEST(NvidiaC2c, AllLinksOfASuperchipAreUp) {
    Snapshot machine = telling_gh200();
    EXPECT_EQ(said(kNvidiaC2cCheck, machine), "");
    machine.gpus[0].telemetry.last.nvidia.c2c_links_active = fact(8U);
    EXPECT_EQ(said(kNvidiaC2cCheck, machine), "nvidia.c2c.down 0000:19:00.0 fail");
}

/// The counters of the first GPU's link at the end of a run of 60 s.
template <class Change>
std::string said_of_pcie(Change change) {
    Snapshot machine = telling_h100_x8();
    change(last(machine).pcie);
    return said(kNvidiaPcieErrorsCheck, machine);
}

TEST(NvidiaPcieErrors, BudgetsByLanesAndTime) {
    EXPECT_EQ(said_of_pcie([](NvPcie& pcie) { pcie.replays = number(4 + 31); }), "");
    EXPECT_EQ(said_of_pcie([](NvPcie& pcie) { pcie.replays = number(4 + 32); }),
              "nvidia.pcie.replays 0000:19:00.0 warn");
    EXPECT_EQ(said_of_pcie([](NvPcie& pcie) { pcie.naks_sent = number(40); }),
              "nvidia.pcie.naks 0000:19:00.0 warn");
    EXPECT_EQ(said_of_pcie([](NvPcie& pcie) { pcie.l0_to_recovery = number(40 + 92); }),
              "nvidia.pcie.recoveries 0000:19:00.0 warn");
    EXPECT_EQ(said_of_pcie([](NvPcie& pcie) { pcie.l0_to_recovery = number(40 + 91); }), "");
    EXPECT_EQ(said_of_pcie([](NvPcie& pcie) { pcie.fatal = number(1); }),
              "nvidia.pcie.fatal 0000:19:00.0 fail");
    EXPECT_EQ(said_of_pcie([](NvPcie& pcie) { pcie.nonfatal = number(1); }),
              "nvidia.pcie.nonfatal 0000:19:00.0 warn");
}

TEST(NvidiaPcieErrors, OneReadingOrNoLinkIsUnknown) {
    Snapshot machine = telling_h100_x8();
    machine.gpus.resize(1);
    forget_second(machine);
    EXPECT_EQ(said(kNvidiaPcieErrorsCheck, machine), "telemetry.unread 0000:19:00.0 unknown");
    machine = telling_h100_x8();
    machine.gpus.resize(1);
    for (NvidiaTelemetry* t : {&first(machine), &last(machine)}) {
        t->pcie.generation = t->pcie.generation_max = fact(0U);
    }
    EXPECT_EQ(said(kNvidiaPcieErrorsCheck, machine), "telemetry.unread 0000:19:00.0 unknown");
    for (NvidiaTelemetry* t : {&first(machine), &last(machine)}) {
        t->pcie.generation = fact(4000000000U);
        t->pcie.width = fact(4000000000U);
    }
    EXPECT_EQ(said(kNvidiaPcieErrorsCheck, machine), "telemetry.unread 0000:19:00.0 unknown");
}

}  // namespace
}  // namespace gpucheck
