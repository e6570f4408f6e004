// What whole groups can hide: slow nodes under a driver of their own, numbers that no board gives, normals
// that were learned from sick nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fleet/analysis/learning.h"
#include "tests/fleet/analysis/rules_fixture.h"

namespace gpucheck::fleet {
namespace {

class FleetSlower : public FleetRules {
  protected:
    void start_again() {
        Recipe recipe;
        recipe.nodes = kNodes;
        made_ = synthetic(recipe);
    }
    void keep(std::size_t nodes) { made_.fleet.reports.resize(nodes); }
    /// Every metric that begins so, on every GPU of the first `nodes`.
    void slow(std::size_t nodes, std::string_view prefix, float by) {
        for (std::size_t index = 0; index < nodes; ++index) {
            for (Gpu& gpu : node(index).gpus) {
                for (Value& each : gpu.values) {
                    if (made_.fleet.names.text(each.metric).starts_with(prefix)) each.value *= by;
                }
            }
        }
    }
    std::size_t accepted() const {
        const Analysis analysis = analysed();
        const auto found = analysis.decisions.find(Decision::accept);
        return found == analysis.decisions.end() ? 0 : found->second;
    }
    std::string words(std::size_t index) const {
        const Analysis analysis = analysed();
        std::string text;
        for (const Reason& reason : result_of(analysis, index).reasons)
            text += reason.rule + ": " + reason.text + "\n";
        return text;
    }
};

TEST_F(FleetSlower, SlowNodesUnderADriverOfTheirOwn) {
    keep(16);
    for (std::size_t index = 0; index < 5; ++index) node(index).driver = name("nvidia 575.57.08");
    EXPECT_EQ(accepted(), 16U) << "a roll-out of equal speed";
    slow(5, "memory_", 0.95F);
    EXPECT_EQ(accepted(), 16U) << "nearer than groups may differ";
    slow(5, "memory_", 0.85F);
    EXPECT_EQ(verdict(0), "no_evidence slower group");
    EXPECT_EQ(verdict(8), "accept");
    EXPECT_NE(words(0).find("nodes with driver nvidia 575.57.08 give 0.8"), std::string::npos) << words(0);
    EXPECT_NE(words(0).find("of the memory_read_gb_s of nodes with driver nvidia 570.133.20"),
              std::string::npos);
    Baseline baseline;
    for (const Group& group : analysed().groups) {
        for (const MetricSummary& metric : group.metrics) {
            if (metric.centre) baseline.rows.push_back({group.key, metric.metric, *metric.centre});
        }
    }
    baseline_ = &baseline;
    EXPECT_EQ(accepted(), 16U) << "somebody has said that it is normal";
    baseline_ = nullptr;
    policy_.accept_uncompared = true;
    EXPECT_EQ(accepted(), 16U);
}

TEST_F(FleetSlower, WhateverSetsThemApart) {
    keep(16);
    const auto original = made_.fleet.reports;
    for (const int what : {0, 1, 2, 3, 4}) {
        made_.fleet.reports = original;
        for (std::size_t index = 0; index < 16; ++index) {
            if (what == 0) node(index).driver = name(("nvidia 570." + std::to_string(index)).c_str());
            if (index >= 5) continue;
            if (what == 1) node(index).instance_type = name("gpu-h100-8b");
            if (what == 2) node(index).profile = name("acceptance");
            for (Gpu& gpu : node(index).gpus) {
                if (what == 3) gpu.memory_gib = 64;
                if (what == 4) gpu.mode = kNoName;
            }
        }
        EXPECT_EQ(accepted(), 16U) << what;
        slow(5, "memory_", 0.3F);
        EXPECT_LE(accepted(), 11U) << what;
        EXPECT_NE(verdict(0), "accept") << what;
    }
}

TEST_F(FleetSlower, TimesAreComparedAcrossGroupsToo) {
    keep(16);
    for (std::size_t index = 0; index < 5; ++index) node(index).driver = name("nvidia 575.57.08");
    slow(5, "launch_us", 0.5F);
    EXPECT_EQ(verdict(0), "accept") << "they are the better ones";
    EXPECT_EQ(verdict(10), "no_evidence slower group");
}

TEST_F(FleetSlower, NothingRunsAtNoSpeed) {
    for (const float by : {0.0F, 1e-9F, 1e-12F, 0.15F}) {
        start_again();
        slow(kNodes, "", by);
        EXPECT_EQ(accepted(), 0U) << by;
        EXPECT_TRUE(learn(made_.fleet, policy_).rows.empty()) << by;
    }
    start_again();
    slow(kNodes, "memory_", 0.3F);
    EXPECT_EQ(accepted(), kNodes) << "a baseline would know";
    start_again();
    slow(kNodes, "memory_write_gb_s", 0);
    EXPECT_EQ(verdict(3), "no_evidence no speed") << "although other kernels have read memory";
    start_again();
    slow(kNodes, "matrix_", 0.1F);
    EXPECT_EQ(verdict(3), "quarantine far too slow");
    EXPECT_NE(words(3).find("less than a fifth of what a h100-sxm-80gb is made for"), std::string::npos);
    for (std::size_t index = 0; index < kNodes; ++index) {
        for (Gpu& gpu : node(index).gpus) gpu.mode = name("MIG 7");
    }
    EXPECT_EQ(verdict(3), "accept") << "the datasheet is of whole boards";
}

TEST_F(FleetSlower, NobodyLearnsFromSickNodes) {
    Learned learned = learn_from(made_.fleet, policy_);
    EXPECT_EQ(learned.baseline.rows.size(), 12U);
    EXPECT_TRUE(learned.unlearnt.empty() && learned.left_out.empty());
    fail(0, "xid.fatal", "host", 3);
    slow(1, "memory_", 0.5F);
    learned = learn_from(made_.fleet, policy_);
    EXPECT_EQ(learned.baseline.rows.size(), 12U) << "the others are enough";
    EXPECT_EQ(learned.left_out.size(), 1U);
    for (const Baseline::Row& row : learned.baseline.rows) {
        if (row.metric == "memory_read_gb_s") {
            EXPECT_EQ(row.centre.kept + row.centre.dropped, 8 * (kNodes - 1));
        }
    }
    for (const Verdict verdict : {Verdict::fail, Verdict::unknown}) {
        start_again();
        for (std::size_t index = 0; index < kNodes; ++index) node(index).verdict = verdict;
        learned = learn_from(made_.fleet, policy_);
        EXPECT_TRUE(learned.baseline.rows.empty());
        EXPECT_EQ(learned.left_out.size(), kNodes);
        EXPECT_EQ(learned.unlearnt.size(), 12U);
    }
    start_again();
    keep(3);
    EXPECT_EQ(learn(made_.fleet, policy_).rows.size(), 12U);
    keep(2);
    learned = learn_from(made_.fleet, policy_);
    EXPECT_TRUE(learned.baseline.rows.empty()) << "of two nobody knows which is slow";
    EXPECT_EQ(learned.unlearnt.size(), 12U);
}

TEST_F(FleetSlower, AQuarterOfTheFleetWithSlowLaunches) {
    keep(32);
    EXPECT_EQ(accepted(), 32U);
    slow(8, "launch_us", 2);
    EXPECT_EQ(verdict(0), "quarantine two speeds");
    EXPECT_EQ(verdict(20), "no_evidence too uneven") << "the bar has moved beyond two and a half times";
    EXPECT_NE(words(0).find("its launch_us, 8."), std::string::npos) << words(0);
}

TEST_F(FleetSlower, TimesSoUnevenThatTheyJudgeNobody) {
    keep(4);
    slow(1, "launch_us", 4);
    EXPECT_NE(verdict(0), "accept");
    for (std::size_t gpu = 0; gpu < 8; ++gpu)
        value(1, gpu, "launch_us") *= 1 + 0.4F * static_cast<float>(gpu);
    EXPECT_NE(analysed().decision, Decision::accept);
}

TEST_F(FleetSlower, EqualDigitsAreNoRoundingHoweverManyHaveThem) {
    const auto invent = [&](std::size_t nodes, bool rounded) {
        start_again();
        keep(16);
        for (std::size_t index = 0; index < 16; ++index) {
            for (Gpu& gpu : node(index).gpus) {
                for (std::size_t i = 0; i < gpu.values.size(); ++i) {
                    float& mine = gpu.values[i].value;
                    if (index < nodes && !rounded) mine = node(index).gpus[0].values[i].value;
                    if (rounded) mine = std::round(mine / 100) * 100 + (mine < 100 ? 40 : 0);
                }
            }
        }
    };
    for (const std::size_t nodes : {2U, 8U, 12U, 16U}) {
        invent(nodes, false);
        EXPECT_EQ(verdict(0), "quarantine identical") << nodes;
    }
    invent(16, true);
    EXPECT_EQ(words(0).find("identical"), std::string::npos) << "rounded by all";
}

TEST_F(FleetSlower, SixSlowNodesOfEight) {
    keep(8);
    EXPECT_EQ(accepted(), 8U);
    slow(6, "memory_", 0.94F);
    EXPECT_EQ(verdict(0), "no_evidence too few to tell");
    EXPECT_EQ(verdict(7).substr(0, 6), "accept");
}

}  // namespace
}  // namespace gpucheck::fleet
