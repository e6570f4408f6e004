// Who has peers to be compared with: a normal learned from too few accepts whatever they do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tests/fleet/analysis/rules_fixture.h"

namespace gpucheck::fleet {
namespace {

TEST_F(FleetRules, ANodeWithoutMeasurementsIsNotAccepted) {
    for (Gpu& gpu : node(6).gpus) gpu.values.clear();
    EXPECT_EQ(analysed().decisions.at(Decision::no_evidence), 1U);
    for (std::size_t index = 0; index < kNodes; ++index) {
        for (Gpu& gpu : node(index).gpus) gpu.values.clear();
    }
    EXPECT_EQ(verdict(6), "no_evidence not measured");
    policy_.accept_uncompared = true;
    EXPECT_EQ(verdict(6), "accept");
}

TEST_F(FleetRules, OneNodeOrTwoHaveNoNormal) {
    made_.fleet.reports.resize(3);
    EXPECT_EQ(verdict(0), "accept");
    made_.fleet.reports.resize(2);
    EXPECT_EQ(verdict(0), "no_evidence too few peers");
    EXPECT_EQ(verdict(1), "no_evidence too few peers");
    made_.fleet.reports.resize(1);
    for (Gpu& gpu : node(0).gpus) {
        for (Value& value : gpu.values) value.value *= 0.85F;
    }
    EXPECT_EQ(verdict(0), "no_evidence too few peers") << "slow, and normal among its own GPUs";
    EXPECT_FALSE(analysed().notes.empty());
}

TEST_F(FleetRules, OneSlowNodeOfFourIsNotAcceptedForHavingStretchedTheBar) {
    made_.fleet.reports.resize(4);
    const NodeReport healthy = node(0);
    for (const double factor : {0.5, 0.9}) {
        node(0) = healthy;
        EXPECT_EQ(verdict(0), "accept");
        for (Gpu& gpu : node(0).gpus) {
            for (Value& value : gpu.values) {
                if (made_.fleet.names.text(value.metric).starts_with("memory_"))
                    value.value *= static_cast<float>(factor);
            }
        }
        EXPECT_NE(verdict(0), "accept") << factor;
        EXPECT_NE(analysed().decision, Decision::accept) << factor;
    }
    for (const Baseline::Row& row : learn(made_.fleet, policy_).rows) {
        if (!row.metric.starts_with("memory_")) continue;
        EXPECT_LE(row.centre.bar, row.centre.value) << row.metric;
    }
}

TEST_F(FleetRules, FewGpusHaveNoNormal) {
    made_.fleet.reports.resize(1);
    node(0).gpus.resize(7);
    node(0).gpus_expected = node(0).gpus_found = 7;
    EXPECT_EQ(verdict(0), "no_evidence too few peers");
    EXPECT_FALSE(analysed().notes.empty());
    policy_.min_group = 7;
    EXPECT_EQ(verdict(0), "no_evidence too few peers") << "a node alone is its own peer";
    policy_.min_group = 8;
    const Baseline baseline{"2026-11-01T00:00:00Z",
                            {{{"h100-sxm-80gb", "gpu-h100-8", "nvidia 570.133.20", "boot", "whole", 80},
                              "memory_read_gb_s",
                              {3300, 12, 3240, 800, 0}}}};
    baseline_ = &baseline;
    EXPECT_EQ(verdict(0), "reject slow memory") << "6 % below what another fleet has shown";
    const Baseline healthy{"2026-11-01T00:00:00Z",
                           {{baseline.rows[0].group, "memory_read_gb_s", {3080, 12, 3020, 800, 0}}}};
    baseline_ = &healthy;
    EXPECT_EQ(verdict(0).substr(0, 11), "no_evidence") << "nothing says what arithmetic is normal";
    Baseline whole = healthy;
    for (const Value& each : node(0).gpus[0].values) {
        const std::string metric = made_.fleet.names.text(each.metric);
        if (metric == "memory_read_gb_s") continue;
        const double normal = each.value;
        whole.rows.push_back({baseline.rows[0].group, metric, {normal, 0.04 * normal, 0.7 * normal, 800, 0}});
    }
    baseline_ = &whole;
    EXPECT_EQ(verdict(0), "accept");
    std::erase_if(whole.rows, [](const auto& row) { return row.metric == "bf16_tflops"; });
    EXPECT_EQ(verdict(0).substr(0, 11), "no_evidence") << "one measurement has no normal";
}

TEST_F(FleetRules, AnotherDriverIsFoundAlthoughGroupsAreByDriver) {
    node(9).driver = name("nvidia 535.129.03");
    EXPECT_EQ(verdict(9), "quarantine unlike its peers");
    scale(9, "memory_read_gb_s", 0.9F);
    const Analysis analysis = analysed();
    const auto& reasons = result_of(analysis, 9).reasons;
    EXPECT_EQ(result_of(analysis, 9).decision, Decision::quarantine) << "another driver might explain it";
    EXPECT_TRUE(std::any_of(reasons.begin(), reasons.end(), [](const Reason& each) {
        return each.rule == "slow memory";
    })) << "eight GPUs alone with their driver are not their own normal";
}

TEST_F(FleetRules, SpeedIsComparedAcrossDriversWhereAGroupIsSmall) {
    node(9).driver = name("nvidia 535.129.03");
    node(9).gpus.resize(4);
    node(9).gpus_expected = node(9).gpus_found = 4;
    scale(9, "memory_read_gb_s", 0.9F);
    const Analysis analysis = analysed();
    const NodeResult& result = result_of(analysis, 9);
    EXPECT_EQ(result.decision, Decision::quarantine) << "another driver might explain it";
    EXPECT_TRUE(std::any_of(result.reasons.begin(), result.reasons.end(),
                            [](const Reason& each) { return each.rule == "slow memory"; }));
}

TEST_F(FleetRules, ARollOutIsNotUnlike) {
    for (std::size_t index = 0; index < 15; ++index) node(index).driver = name("nvidia 575.57.08");
    EXPECT_EQ(verdict(9), "accept");
    EXPECT_FALSE(analysed().notes.empty()) << "but it is told";
    node(20).kernel = kNoName;
    EXPECT_EQ(verdict(20), "accept") << "not known is not unlike";
    node(21).kernel = name("5.4.0");
    EXPECT_EQ(verdict(21), "quarantine unlike its peers");
    node(22).gpus[3].firmware = name("96.00.11.00.01");
    EXPECT_EQ(verdict(22), "quarantine unlike its peers");
    policy_.unlike_share = 0;
    EXPECT_EQ(verdict(22), "accept");
}

}  // namespace
}  // namespace gpucheck::fleet
