// Each rule on a node that it is for, and on the one that only looks like it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tests/fleet/analysis/rules_fixture.h"

namespace gpucheck::fleet {
namespace {

TEST_F(FleetRules, HealthyNodesAreAccepted) {
    const Analysis analysis = analysed();
    EXPECT_EQ(analysis.decision, Decision::accept);
    EXPECT_EQ(analysis.decisions.at(Decision::accept), kNodes);
    EXPECT_TRUE(analysis.outliers.empty());
    EXPECT_TRUE(analysis.commons.empty());
    ASSERT_EQ(analysis.groups.size(), 1U);
    EXPECT_EQ(analysis.groups[0].metrics.size(), 14U);
    EXPECT_FALSE(analysis.groups[0].metrics[1].judged) << "capacity is no speed";
}

TEST_F(FleetRules, AWholeNodeMildlySlow) {
    scale(3, "memory_read_gb_s", 0.975F);
    EXPECT_EQ(verdict(3), "accept") << "2.5 % is less than the policy's bar";
    scale(3, "memory_read_gb_s", 0.975F);
    EXPECT_EQ(verdict(3), "reject slow memory");
    const Analysis analysis = analysed();
    ASSERT_FALSE(analysis.outliers.empty());
    EXPECT_TRUE(std::any_of(analysis.outliers.begin(), analysis.outliers.end(),
                            [](const Outlier& each) { return each.against == Against::nodes; }));
    EXPECT_EQ(analysis.nodes.front().report, 3U) << "worst first";
    EXPECT_EQ(analysis.decision, Decision::reject);
}

TEST_F(FleetRules, OneGpuOfEight) {
    value(5, 2, "memory_copy_gb_s") *= 0.99F;
    EXPECT_EQ(verdict(5), "accept");
    value(5, 2, "memory_copy_gb_s") *= 0.94F;
    EXPECT_EQ(verdict(5), "reject slow memory");
    const Analysis analysis = analysed();
    EXPECT_EQ(analysis.outliers.front().gpu, 2U);
    EXPECT_EQ(result_of(analysis, 5).reasons.front().gpu, 2);
}

TEST_F(FleetRules, LatencyIsBetterWhenLess) {
    scale(7, "launch_us", 1.6F);
    EXPECT_EQ(verdict(7), "quarantine slow");
    scale(7, "launch_us", 0.5F);
    EXPECT_EQ(verdict(7), "accept") << "faster launches are no fault";
}

TEST_F(FleetRules, PowerIsNotSpeed) {
    scale(7, "power_w", 0.3F);
    EXPECT_EQ(verdict(7), "accept");
}

TEST_F(FleetRules, AZeroIsMissingAsNoNumberIs) {
    value(2, 0, "bf16_tflops") = 0;
    EXPECT_EQ(verdict(2), "no_evidence missing measurement");
    value(2, 0, "bf16_tflops") = 1;
    EXPECT_EQ(verdict(2), "reject slow arithmetic");
    value(2, 0, "bf16_tflops") = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(verdict(2), "no_evidence missing measurement");
    value(2, 0, "bf16_tflops") = -4;
    EXPECT_EQ(verdict(2), "no_evidence missing measurement");
}

TEST_F(FleetRules, WhatPeersHaveAndANodeLacks) {
    drop(4, 1, "fp8_tflops");
    EXPECT_EQ(verdict(4), "no_evidence missing measurement");
    EXPECT_EQ(analysed().decision, Decision::no_evidence);
    for (std::size_t index = 0; index < 37; ++index) {
        for (std::size_t gpu = 0; gpu < 8; ++gpu) drop(index, gpu, "fp8_tflops");
    }
    EXPECT_EQ(verdict(4), "accept") << "most peers do not have it either";
}

TEST_F(FleetRules, Liars) {
    for (const char* metric : {"bf16_tflops", "fp8_tflops", "memory_copy_gb_s", "memory_read_gb_s"}) {
        for (std::size_t gpu = 0; gpu < 8; ++gpu) value(1, gpu, metric) = value(1, 0, metric);
    }
    EXPECT_EQ(verdict(1), "quarantine identical");
    for (std::size_t gpu = 0; gpu < 8; ++gpu) value(10, gpu, "launch_us") = 4;
    EXPECT_EQ(verdict(10), "accept") << "short times have few digits";
    value(2, 4, "memory_read_gb_s") = 3600;
    EXPECT_EQ(verdict(2), "quarantine impossible") << "an H100's memory has 3350 GB/s";
    scale(3, "memory_read_gb_s", 1.05F);
    EXPECT_EQ(verdict(3), "quarantine too good");
    scale(4, "memory_read_gb_s", 1.02F);
    EXPECT_EQ(verdict(4), "accept");
    for (std::size_t gpu = 0; gpu < 8; ++gpu) node(6).gpus[gpu].values = node(5).gpus[gpu].values;
    EXPECT_EQ(verdict(6), "quarantine copied");
    EXPECT_EQ(verdict(5), "quarantine copied");
    const Analysis analysis = analysed();
    EXPECT_NE(analysis.nodes.back().report, 1U) << "never the best";
    EXPECT_EQ(analysis.decision, Decision::no_evidence);
}

TEST_F(FleetRules, CoarseNumbersAreNoLies) {
    for (std::size_t index = 0; index < kNodes; ++index) {
        for (Gpu& gpu : node(index).gpus) {
            for (Value& each : gpu.values) each.value = 100 * std::round(each.value / 100);
        }
    }
    const Analysis analysis = analysed();
    for (const NodeResult& result : analysis.nodes) {
        for (const Reason& reason : result.reasons) EXPECT_NE(reason.rule, "identical");
    }
}

TEST_F(FleetRules, HalfAFleetIsNotRejected) {
    for (std::size_t index = 0; index < kNodes / 2; ++index) {
        scale(index, "memory_read_gb_s", 0.9F);
        node(index).labels.emplace_back(name("zz image"), name("old"));
    }
    const Analysis half = analysed();
    EXPECT_FALSE(half.decisions.contains(Decision::reject));
    EXPECT_EQ(half.decisions.at(Decision::quarantine), kNodes / 2);
    EXPECT_TRUE(std::any_of(half.notes.begin(), half.notes.end(), [](const std::string& note) {
        return note.find("two speeds: 20 nodes") != std::string::npos;
    }));
    for (std::size_t index = 0; index < kNodes / 2; ++index) node(index).labels.pop_back();
    for (std::size_t index = 12; index < kNodes / 2; ++index) scale(index, "memory_read_gb_s", 1 / 0.9F);
    const Analysis third = analysed();  // 12 of 40 are outliers, and too many to be single faults
    EXPECT_FALSE(third.decisions.contains(Decision::reject));
    EXPECT_EQ(third.decisions.at(Decision::quarantine), 12U);
}

TEST_F(FleetRules, WhatTheBadShare) {
    for (std::size_t index = 8; index < 14; ++index)
        scale(index, "memory_read_gb_s", 0.9F);  // six of eight of rack 1
    const Analysis analysis = analysed();
    ASSERT_FALSE(analysis.commons.empty());
    EXPECT_EQ(analysis.commons.front().property, "label rack");
    EXPECT_EQ(analysis.commons.front().value, "rack-0001");
    EXPECT_EQ(analysis.commons.front().bad_with, 6U);
    EXPECT_EQ(analysis.commons.front().with, 8U);
    EXPECT_LT(analysis.commons.front().p, 0.01);
    for (std::size_t index = 8; index < 14; ++index) scale(index, "memory_read_gb_s", 1 / 0.9F);
    for (std::size_t rack = 0; rack < 5; ++rack) scale(8 * rack, "memory_read_gb_s", 0.9F);
    for (const Common& common : analysed().commons) EXPECT_NE(common.property, "label rack") << common.value;
}

TEST_F(FleetRules, ASlotIsAPropertyOfGpus) {
    for (std::size_t index = 0; index < 8; ++index) value(index, 3, "memory_read_gb_s") *= 0.9F;
    const Analysis analysis = analysed();
    EXPECT_TRUE(std::any_of(analysis.commons.begin(), analysis.commons.end(), [](const Common& each) {
        return each.property == "slot" && each.value == "0000:41:00.0" && each.bad_with == 8;
    }));
}

TEST_F(FleetRules, FailuresByScope) {
    fail(0, "xid.fatal", "host", 3);
    EXPECT_EQ(verdict(0), "reject failed on the host's side");
    fail(1, "driver.version.old", "guest");
    EXPECT_EQ(verdict(1), "quarantine failed");
    fail(2, "host.note", "host", -1, Verdict::warn);
    EXPECT_EQ(verdict(2), "accept") << "a warning is no failure";
    fail(3, "driver.version.old", "guest");
    fail(3, "host.note", "host", -1, Verdict::warn);
    EXPECT_EQ(verdict(3), "quarantine failed") << "what fails is the guest's";
    fail(4, "kernel.log.empty", "unknown", -1, Verdict::unknown);
    EXPECT_EQ(verdict(4), "no_evidence unknown");
    policy_.accept_unknown = true;
    EXPECT_EQ(verdict(4), "accept");
    policy_.rules.clear();
    EXPECT_EQ(verdict(0), "quarantine failed") << "no rule does not mean accept";
    node(5).gpus_found = 7;
    EXPECT_EQ(verdict(5), "quarantine GPUs missing");
    node(6).gpus.clear();
    EXPECT_EQ(verdict(6), "no_evidence nothing looked at");
}

TEST_F(FleetRules, AcceptNamesWhatDoesNotCount) {
    Rule known;
    known.name = "known";
    known.decision = Decision::accept;
    known.codes = {"kernel.log.*"};
    policy_.rules = {known};
    fail(0, "kernel.log.empty", "unknown", -1, Verdict::unknown);
    EXPECT_EQ(verdict(0), "accept");
    fail(0, "kernel.logger", "unknown", -1, Verdict::unknown);
    EXPECT_EQ(verdict(0), "no_evidence unknown") << "another code that begins alike";
    fail(1, "kernel.log.full", "guest");
    EXPECT_EQ(verdict(1), "accept");
    node(2).verdict = Verdict::fail;
    EXPECT_EQ(verdict(2), "quarantine failed") << "a failure without a code is nobody's exception";
}

TEST_F(FleetRules, RulesWithSeveralMembersNeedAll) {
    Rule both;
    both.name = "both";
    both.codes = {"xid.*"};
    both.metric = "memory_read_gb_s";
    both.value_below = 3000;
    policy_.rules = {both};
    policy_.unlike_share = 0;
    value(0, 1, "memory_read_gb_s") = 2900;
    EXPECT_EQ(verdict(0), "accept");
    fail(0, "xid.notable", "host", 2, Verdict::warn);
    EXPECT_EQ(verdict(0), "accept") << "on another GPU";
    fail(0, "xid.notable", "host", 1, Verdict::warn);
    EXPECT_EQ(verdict(0), "reject both");
    policy_.rules[0].boards = {"mi300x"};
    EXPECT_EQ(verdict(0), "accept");
}

TEST_F(FleetRules, RehearsalsAndOldReportsAreNoEvidence) {
    node(0).simulated = true;
    EXPECT_EQ(verdict(0), "no_evidence simulated");
    node(1).injected = true;
    EXPECT_EQ(verdict(1), "no_evidence injected");
    policy_.max_age_hours = 24;
    node(2).created = "2026-10-01T10:00:00Z";
    EXPECT_EQ(verdict(2), "no_evidence stale");
    node(3).created = "once";
    EXPECT_EQ(verdict(3), "no_evidence date");
    NodeReport rehearsal = node(4);
    rehearsal.report_id = "another";
    rehearsal.created = "2026-11-02T00:00:00Z";
    rehearsal.simulated = true;
    made_.fleet.reports.push_back(rehearsal);
    EXPECT_EQ(verdict(4), "accept") << "a newer rehearsal does not displace a report";
    policy_.accept_unverified = false;
    EXPECT_EQ(verdict(5), "no_evidence unverified");
    for (const std::size_t index : {5U, 6U, 7U}) node(index).verified = true;
    EXPECT_EQ(analysed().decisions.at(Decision::no_evidence), kNodes - 3)
        << "three nodes are a normal of their own";
}

TEST_F(FleetRules, NewestReportAndEachIdOnce) {
    NodeReport older = node(4);
    older.report_id = "older";
    older.created = "2026-10-01T10:00:00Z";
    older.verdict = Verdict::fail;
    made_.fleet.reports.push_back(older);
    made_.fleet.reports.push_back(node(5));
    NodeReport twin = node(6);
    twin.verdict = Verdict::fail;
    made_.fleet.reports.push_back(twin);
    const Analysis analysis = analysed();
    EXPECT_EQ(analysis.nodes.size(), kNodes);
    EXPECT_EQ(result_of(analysis, 4).decision, Decision::accept);
    EXPECT_EQ(result_of(analysis, 4).earlier, std::vector<std::size_t>{kNodes});
    EXPECT_EQ(analysis.nodes.front().report, kNodes + 2) << "of two with one id the worse counts";
    EXPECT_FALSE(analysis.notes.empty());
}

}  // namespace
}  // namespace gpucheck::fleet
