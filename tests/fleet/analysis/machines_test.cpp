// Whose report it is and of when: dates that cannot be true, names that two machines share, GPUs in two
// places.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fleet/analysis/rules_fixture.h"

namespace gpucheck::fleet {
namespace {

class FleetMachines : public FleetRules {
  protected:
    FleetMachines() { policy_.now = "2026-11-28T12:00:00Z"; }
    /// One more report of a node, some other day.
    NodeReport& another(std::size_t index, const char* created, Verdict verdict = Verdict::pass) {
        NodeReport report = node(index);
        report.report_id += std::string(" ") + created;
        report.created = created;
        report.verdict = verdict;
        made_.fleet.reports.push_back(report);
        return made_.fleet.reports.back();
    }
    static void exchange(Gpu& gpu) { gpu.identity.front() = 'x'; }
    static void exchange(NodeReport& report) {
        for (Gpu& gpu : report.gpus) exchange(gpu);
    }
    std::string newest_of(std::size_t index) const {
        const Analysis analysis = analysed();
        for (const NodeResult& result : analysis.nodes) {
            const NodeReport& report = made_.fleet.reports[result.report];
            if (report.key != made_.fleet.reports[index].key) continue;
            return report.created +
                   (result.decision == Decision::accept
                        ? " accept"
                        : " " + result.reasons.front().rule + ": " + result.reasons.front().text);
        }
        return "gone";
    }
};

TEST_F(FleetMachines, ADateInTheFutureWinsOverNothing) {
    policy_.max_age_hours = 24 * 365;
    another(0, "2099-01-01T00:00:00Z");
    fail(0, "xid.fatal", "host", 3);
    EXPECT_NE(newest_of(0).find("2026-11-01T10:00:00Z failed on the host's side"), std::string::npos)
        << newest_of(0);
    EXPECT_EQ(newest_of(1), "2026-11-01T10:00:01Z accept") << "and makes nobody old";
    const Analysis analysis = analysed();
    EXPECT_TRUE(std::any_of(analysis.notes.begin(), analysis.notes.end(), [](const std::string& note) {
        return note.find("1 report has a date that cannot be believed") != std::string::npos;
    }));
    std::reverse(made_.fleet.reports.begin(), made_.fleet.reports.end());
    EXPECT_NE(newest_of(kNodes).find("2026-11-01T10:00:00Z failed"), std::string::npos) << newest_of(kNodes);
}

TEST_F(FleetMachines, OnSuchADateAloneNobodyIsAccepted) {
    for (const char* created :
         {"2099-01-01T00:00:00Z", "2026-11-28T13:00:01Z", "1970-01-01T00:00:12Z", "", "once"}) {
        node(0).created = created;
        EXPECT_EQ(verdict(0), "no_evidence date") << created;
    }
    node(0).created = "2026-11-28T12:59:59Z";
    EXPECT_EQ(verdict(0), "accept") << "clocks differ";
    policy_.now.clear();
    node(0).created = "2099-01-01T00:00:00Z";
    EXPECT_EQ(verdict(0), "accept") << "who asks no clock has times of his own";
}

TEST_F(FleetMachines, WhatFailsAtAnUnknownTimeIsNotOutdone) {
    another(0, "1970-01-01T00:00:12Z", Verdict::fail);
    EXPECT_NE(newest_of(0).find("2026-11-01T10:00:00Z date: another report of it ends with fail"),
              std::string::npos)
        << newest_of(0);
    another(1, "2099-01-01T00:00:00Z");
    EXPECT_EQ(newest_of(1), "2026-11-01T10:00:01Z accept");
}

TEST_F(FleetMachines, AgeIsMeasuredAgainstTheClock) {
    policy_.max_age_hours = 48;
    EXPECT_EQ(verdict(0), "no_evidence stale") << "a whole fleet of last month";
    policy_.now = "2026-11-03T09:00:00Z";
    EXPECT_EQ(verdict(0), "accept");
    policy_.now.clear();
    node(1).created = "2026-10-01T00:00:00Z";
    EXPECT_EQ(verdict(1), "no_evidence stale") << "without a clock against the newest";
    made_.fleet.reports[2].simulated = true;
    made_.fleet.reports[2].created = "2036-11-01T00:00:00Z";
    EXPECT_EQ(verdict(0), "accept") << "which a rehearsal is not";
}

TEST_F(FleetMachines, TwoMachinesOfOneName) {
    exchange(another(0, "2026-11-02T00:00:00Z"));
    EXPECT_NE(newest_of(0).find("two machines: two machines share its name"), std::string::npos)
        << newest_of(0);
    std::reverse(made_.fleet.reports.begin(), made_.fleet.reports.end());
    EXPECT_NE(newest_of(kNodes).find("two machines: two machines share its name"), std::string::npos);
}

TEST_F(FleetMachines, OneMachineWhoseGpusWereExchangedOneByOne) {
    NodeReport& second = another(0, "2026-11-02T00:00:00Z");
    for (std::size_t gpu = 0; gpu < 5; ++gpu) exchange(second.gpus[gpu]);
    NodeReport third = second;
    third.report_id = "third";
    third.created = "2026-11-03T00:00:00Z";
    for (std::size_t gpu = 5; gpu < 8; ++gpu) exchange(third.gpus[gpu]);
    made_.fleet.reports.push_back(third);
    EXPECT_EQ(newest_of(0), "2026-11-03T00:00:00Z accept");
    for (Gpu& gpu : another(1, "2026-11-02T00:00:00Z").gpus) gpu.identity = "1650" + gpu.identity.substr(30);
    EXPECT_EQ(newest_of(1), "2026-11-02T00:00:00Z accept") << "a serial number and a UUID may be one GPU's";
    another(2, "2026-11-02T00:00:00Z").gpus[0].identity.clear();
    EXPECT_EQ(newest_of(2), "2026-11-02T00:00:00Z accept");
    NodeReport& rehearsal = another(3, "2026-11-02T00:00:00Z");
    rehearsal.simulated = true;
    exchange(rehearsal);
    EXPECT_EQ(newest_of(3), "2026-11-01T10:00:03Z accept") << "a rehearsal has other GPUs";
}

TEST_F(FleetMachines, OneGpuInTwoNodesAtOneTime) {
    node(7).gpus[3].identity = node(6).gpus[2].identity;
    EXPECT_EQ(verdict(6), "no_evidence same GPU");
    EXPECT_EQ(verdict(7), "no_evidence same GPU");
    EXPECT_EQ(verdict(8), "accept");
    const std::string text = newest_of(6);
    EXPECT_NE(text.find(node(6).gpus[2].identity + ", are at the same time in " + node(7).node),
              std::string::npos)
        << text;
    node(7).created = "2026-11-01T11:00:00Z";
    EXPECT_EQ(verdict(6), "accept") << "it was moved";
    const Analysis analysis = analysed();
    EXPECT_TRUE(std::any_of(analysis.notes.begin(), analysis.notes.end(), [](const std::string& note) {
        return note.find("named twice") != std::string::npos;
    }));
}

TEST_F(FleetMachines, AGpuThatWasMovedAndPutBack) {
    const std::string gpu = node(6).gpus[2].identity, other = node(7).gpus[3].identity;
    const auto swapped = [&](const char* created, bool swap) {
        another(6, created).gpus[2].identity = swap ? other : gpu;
        another(7, created).gpus[3].identity = swap ? gpu : other;
    };
    swapped("2026-11-02T00:00:00Z", true);
    swapped("2026-11-03T00:00:00Z", false);
    EXPECT_EQ(newest_of(6), "2026-11-03T00:00:00Z accept");
    EXPECT_EQ(newest_of(7), "2026-11-03T00:00:00Z accept");
    swapped("2026-11-04T00:00:00Z", true);
    EXPECT_NE(newest_of(6).find("same GPU"), std::string::npos) << "in two nodes by turns";
}

}  // namespace
}  // namespace gpucheck::fleet
