// Rules that could not be applied: what a contract demands and nobody measured is not fulfilled.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fleet/analysis/rules_fixture.h"

namespace gpucheck::fleet {
namespace {

class FleetPolicies : public FleetRules {
  protected:
    static Rule at_least(const char* metric, double value) {
        Rule rule;
        rule.name = "contract";
        rule.metric = metric;
        rule.value_below = value;
        return rule;
    }
    std::string text_of(std::size_t report) const {
        const Analysis analysis = analysed();
        const auto& reasons = result_of(analysis, report).reasons;
        return reasons.empty() ? "" : reasons.front().text;
    }
};

TEST_F(FleetPolicies, WhatNobodyMeasuredIsNotFulfilled) {
    policy_.rules = {at_least("memory_read_gb_s", 2900)};
    EXPECT_EQ(verdict(0), "accept");
    for (std::size_t index = 0; index < kNodes; ++index) {
        for (std::size_t gpu = 0; gpu < 8; ++gpu) drop(index, gpu, "memory_read_gb_s");
    }
    EXPECT_EQ(verdict(0), "no_evidence rule not applied");
    EXPECT_EQ(text_of(0),
              "the rule \"contract\" could not be applied: 8 of its 8 GPUs have no measurement of "
              "memory_read_gb_s");
    EXPECT_EQ(analysed().decision, Decision::no_evidence);
    policy_.rules[0].boards = {"mi300x"};
    EXPECT_EQ(verdict(0), "accept") << "it is about other boards";
    policy_.rules[0].boards = {"h100-sxm-80gb"};
    EXPECT_EQ(verdict(0), "no_evidence rule not applied");
    policy_.rules[0].verdicts = {Verdict::fail};
    EXPECT_EQ(verdict(0), "accept") << "it is about nodes that fail";
    policy_.rules[0] = at_least("memory_read_gb_s", 2900);
    policy_.rules[0].value_below.reset();
    policy_.rules[0].missing_metric = true;
    EXPECT_EQ(verdict(0), "no_evidence rule not applied") << "missing everywhere is missing";
    policy_.rules[0].metric = "memory_*";
    EXPECT_EQ(verdict(0), "accept") << "a pattern asks for what peers have";
}

TEST_F(FleetPolicies, OneGpuWithoutTheMeasurement) {
    policy_.rules = {at_least("memory_read_gb_s", 2900)};
    drop(3, 6, "memory_read_gb_s");
    EXPECT_EQ(verdict(3), "no_evidence rule not applied");
    EXPECT_EQ(verdict(4), "accept");
    value(3, 1, "memory_read_gb_s") = 2800;
    EXPECT_EQ(verdict(3), "reject contract") << "worst wins";
    EXPECT_EQ(text_of(3), "GPU " + made_.fleet.names.text(node(3).gpus[1].bdf) +
                              ": memory_read_gb_s 2800, and 2900 is demanded");
}

TEST_F(FleetPolicies, AValueNeedsNoPeers) {
    made_.fleet.reports.resize(1);
    policy_.rules = {at_least("memory_read_gb_s", 2900)};
    policy_.accept_uncompared = true;
    EXPECT_EQ(verdict(0), "accept");
    value(0, 5, "memory_read_gb_s") = 2800;
    EXPECT_EQ(verdict(0), "reject contract") << "2800 is less than 2900 in a fleet of one too";
    value(0, 5, "memory_read_gb_s") = 0;
    EXPECT_EQ(verdict(0), "no_evidence rule not applied") << "0 GB/s is a measurement that failed";
    value(0, 5, "memory_read_gb_s") = 2950;
    node(0).gpus[5].board = kNoName;
    EXPECT_EQ(verdict(0), "accept");
    policy_.rules[0].boards = {"h100-sxm-80gb"};
    EXPECT_EQ(verdict(0), "no_evidence rule not applied") << "whether it is for that GPU nobody knows";
    policy_.rules[0].boards.clear();
    policy_.rules[0].value_below.reset();
    policy_.rules[0].ratio_below = 0.9;
    EXPECT_EQ(verdict(0), "accept") << "peers are what this policy does without";
}

TEST_F(FleetPolicies, RulesOfOneNameAreOneDemand) {
    for (std::size_t index = 0; index < kNodes; ++index) {
        for (Gpu& gpu : node(index).gpus)
            std::erase_if(gpu.values, [&](const Value& each) {
                return made_.fleet.names.text(each.metric).ends_with("_tops");
            });
    }
    EXPECT_EQ(verdict(0), "accept") << "slow arithmetic is seen by its floating-point rates";
    for (std::size_t index = 0; index < kNodes; ++index) {
        for (Gpu& gpu : node(index).gpus)
            std::erase_if(gpu.values, [&](const Value& each) {
                return made_.fleet.names.text(each.metric).ends_with("_tflops");
            });
    }
    EXPECT_EQ(verdict(0), "no_evidence not measured") << "no arithmetic at all is said first";
    policy_.accept_uncompared = true;
    Rule demand;
    demand.name = "slow arithmetic";
    demand.metric = "*_tflops";
    demand.value_below = 1;
    policy_.rules = {demand};
    EXPECT_EQ(verdict(0), "no_evidence rule not applied") << "and without those nobody saw it";
}

TEST_F(FleetPolicies, AGpuThatNobodyJudged) {
    node(0).gpus[2].verdict = Verdict::unknown;
    EXPECT_EQ(verdict(0), "no_evidence unknown");
    policy_.accept_unknown = true;
    EXPECT_EQ(verdict(0), "accept");
}

}  // namespace
}  // namespace gpucheck::fleet
