// What an accept rests on: each measurement of each GPU compared, with GPUs that are cut alike, in a node
// that has what its peers have.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fleet/analysis/rules_fixture.h"

namespace gpucheck::fleet {
namespace {

class FleetEvidence : public FleetRules {
  protected:
    void keep_only(std::size_t index, const std::vector<std::string>& metrics) {
        for (Gpu& gpu : node(index).gpus)
            std::erase_if(gpu.values, [&](const Value& each) {
                return std::find(metrics.begin(), metrics.end(), made_.fleet.names.text(each.metric)) ==
                       metrics.end();
            });
    }
    void drop_all(std::size_t index, const char* metric) {
        for (std::size_t gpu = 0; gpu < node(index).gpus.size(); ++gpu) drop(index, gpu, metric);
    }
    void promise_nothing() {
        for (NodeReport& report : made_.fleet.reports) report.gpus_expected = -1;
    }
    void lose_gpus(std::size_t index, std::size_t left) {
        node(index).gpus.resize(left);
        node(index).gpus_found = node(index).gpus_bound = static_cast<int>(left);
    }
    std::size_t accepted() const {
        const Analysis analysis = analysed();
        const auto found = analysis.decisions.find(Decision::accept);
        return found == analysis.decisions.end() ? 0 : found->second;
    }
};

void slow_down(Fleet& fleet, std::size_t node, std::string_view metrics, float by) {
    for (Gpu& gpu : fleet.reports[node].gpus) {
        for (Value& value : gpu.values) {
            if (fleet.names.text(value.metric).starts_with(metrics)) value.value *= by;
        }
    }
}

TEST(FleetFewNodes, SlowOnesAmongFewAreNeverAccepted) {
    for (const auto& [nodes, slow] :
         {std::pair(4, 1), std::pair(4, 2), std::pair(5, 2), std::pair(6, 3), std::pair(8, 3)}) {
        for (const std::size_t gpus : {std::size_t{1}, std::size_t{2}, std::size_t{8}}) {
            for (const float by : {1.0F, 0.9F, 0.5F}) {
                for (const char* metrics : {"memory_", "matrix_bf16"}) {
                    Recipe recipe;
                    recipe.nodes = static_cast<std::size_t>(nodes);
                    recipe.gpus = gpus;
                    Synthetic made = synthetic(recipe);
                    for (int node = 0; node < slow; ++node)
                        slow_down(made.fleet, static_cast<std::size_t>(node), metrics, by);
                    const Analysis analysis = analyse(made.fleet, default_policy(), nullptr);
                    for (const NodeResult& node : analysis.nodes) {
                        const bool is_slow = by < 1 && node.report < static_cast<std::size_t>(slow);
                        const std::string where = std::to_string(nodes) + "/" + std::to_string(slow) + " x " +
                                                  std::to_string(gpus) + " " + metrics;
                        if (is_slow) {
                            EXPECT_NE(node.decision, Decision::accept) << where << " " << by;
                        }
                        if (!is_slow) {
                            EXPECT_NE(node.decision, Decision::reject) << where << " " << by;
                        }
                        if (by == 1 && gpus == 8) {
                            EXPECT_EQ(node.decision, Decision::accept) << where;
                        }
                    }
                }
            }
        }
    }
}

TEST(FleetShares, AStepBelowTheOthersIsNoTail) {
    for (const double share : {0.05, 0.06, 0.07, 0.08, 0.15, 0.30, 0.45}) {
        for (const bool dead : {false, true}) {
            Recipe recipe;
            recipe.gpus = 1;
            Synthetic made = synthetic(recipe);
            const auto slow = static_cast<std::size_t>(400 * share);
            for (std::size_t node = 0; node < slow; ++node) slow_down(made.fleet, node, "memory_", 0.94F);
            if (dead) slow_down(made.fleet, 399, "memory_", 0.5F);
            const Analysis analysis = analyse(made.fleet, default_policy(), nullptr);
            std::size_t healthy_out = 0;
            for (const NodeResult& node : analysis.nodes) {
                const bool bad = node.report < slow || (dead && node.report == 399);
                if (bad) {
                    EXPECT_NE(node.decision, Decision::accept) << share << " " << dead;
                }
                if (!bad && node.decision != Decision::accept) ++healthy_out;
            }
            EXPECT_LE(healthy_out, 2U) << share << " " << dead;
        }
    }
}

TEST_F(FleetEvidence, LaunchLatencyAloneIsNoEvidence) {
    for (std::size_t index = 0; index < kNodes; ++index) keep_only(index, {"launch_us"});
    EXPECT_EQ(verdict(3), "no_evidence not measured");
    EXPECT_EQ(accepted(), 0U);
    const Analysis analysis = analysed();
    EXPECT_NE(result_of(analysis, 3).reasons.front().text.find("memory, arithmetic, the host link"),
              std::string::npos);
    EXPECT_EQ(analysis.decision, Decision::no_evidence);
}

TEST_F(FleetEvidence, EachOfMemoryArithmeticAndHostLinkIsNeeded) {
    const std::vector<std::string> all{"memory_read_gb_s", "bf16_tflops", "host_link_h2d_gb_s"};
    for (std::size_t index = 0; index < kNodes; ++index) keep_only(index, all);
    EXPECT_EQ(accepted(), kNodes);
    for (const std::string& one : all) {
        const auto without = made_.fleet.reports;
        for (std::size_t gpu = 0; gpu < 8; ++gpu) {
            for (std::size_t index = 0; index < kNodes; ++index) drop(index, gpu, one.c_str());
        }
        EXPECT_EQ(accepted(), 0U) << one;
        made_.fleet.reports = without;
    }
}

TEST_F(FleetEvidence, AMetricThatFewHaveIsSaid) {
    for (std::size_t index = 3; index < kNodes; ++index) {
        for (const char* metric :
             {"memory_read_gb_s", "memory_write_gb_s", "memory_copy_gb_s", "memory_triad_gb_s"})
            drop_all(index, metric);
    }
    EXPECT_EQ(verdict(20), "no_evidence not measured");
    EXPECT_FALSE(analysed().notes.empty());
}

TEST_F(FleetEvidence, AMetricThatMostLackIsAHole) {
    for (std::size_t index = 10; index < kNodes; ++index) drop_all(index, "memory_write_gb_s");
    EXPECT_EQ(verdict(20), "no_evidence missing measurement");
    EXPECT_EQ(verdict(2), "accept");
}

TEST_F(FleetEvidence, OneNodeWithAMeasurementOfItsOwnIsNotComparedInIt) {
    for (Gpu& gpu : node(5).gpus) gpu.values.insert(gpu.values.begin() + 2, {name("fp64_tflops"), 30});
    const Analysis analysis = analysed();
    EXPECT_EQ(verdict(5), "no_evidence uncompared");
    EXPECT_NE(result_of(analysis, 5).reasons.front().text.find("fp64_tflops"), std::string::npos);
    EXPECT_EQ(accepted(), kNodes - 1) << "the others lack nothing";
    policy_.accept_uncompared = true;
    EXPECT_EQ(verdict(5), "accept");
}

TEST_F(FleetEvidence, ABaselineThatLacksMeasurementsIsSaid) {
    Baseline baseline = learn(made_.fleet, policy_);
    made_.fleet.reports.resize(1);
    baseline_ = &baseline;
    EXPECT_EQ(verdict(0), "accept");
    const Baseline whole = baseline;
    std::erase_if(baseline.rows, [](const auto& row) { return row.metric == "memory_write_gb_s"; });
    EXPECT_EQ(verdict(0), "no_evidence uncompared");
    std::erase_if(baseline.rows, [](const auto& row) { return row.metric.starts_with("memory_"); });
    EXPECT_EQ(verdict(0), "no_evidence rule not applied") << "eight GPUs of one node are no normal";
    const auto reasons = analysed().nodes[0].reasons;
    EXPECT_TRUE(std::any_of(reasons.begin(), reasons.end(),
                            [](const Reason& each) { return each.rule == "too few peers"; }));
    baseline = whole;
    for (Baseline::Row& row : baseline.rows) row.group.mode.clear();
    EXPECT_EQ(verdict(0), "no_evidence too few peers") << "of GPUs that may have been cut";
}

TEST_F(FleetEvidence, GpusThatAreCutAreNoSlowWholeOnes) {
    for (std::size_t index = 0; index < 8; ++index) {
        for (Gpu& gpu : node(index).gpus) gpu.mode = name("CPX/NPS4");
        scale(index, "matrix_bf16_tflops", 0.125F);
        scale(index, "memory_read_gb_s", 0.25F);
    }
    EXPECT_EQ(verdict(3), "accept") << "eight nodes that are cut alike";
    EXPECT_EQ(verdict(20), "accept");
    scale(3, "memory_read_gb_s", 0.9F);
    EXPECT_NE(verdict(3), "accept") << "slow among its own kind";
    scale(3, "memory_read_gb_s", 1 / 0.9F);
    for (std::size_t index = 1; index < 8; ++index) {
        for (Gpu& gpu : node(index).gpus) gpu.mode = kNoName;
    }
    EXPECT_EQ(verdict(0), "no_evidence too few peers") << "alone with its mode";
    EXPECT_EQ(verdict(4), "accept") << "not known is a kind of its own";
}

TEST_F(FleetEvidence, OneNameOfTwoBoardsIsTwoKinds) {
    for (std::size_t index = 0; index < 15; ++index) {
        for (Gpu& gpu : node(index).gpus) gpu.memory_gib = 40;
    }
    EXPECT_EQ(accepted(), kNodes);
    for (std::size_t index = 0; index < 15; ++index) scale(index, "memory_read_gb_s", 0.76F);
    EXPECT_EQ(verdict(0), "no_evidence slower group") << "another board, or a sick one: a baseline tells";
    EXPECT_EQ(verdict(20), "accept") << "and no slow half of these";
    for (std::size_t index = 0; index < 14; ++index) {
        for (Gpu& gpu : node(index).gpus) gpu.memory_gib = 79;
    }
    EXPECT_EQ(verdict(14).find("accept"), std::string::npos);
}

TEST_F(FleetEvidence, MemoryThatThePeersDoNotHave) {
    node(4).gpus[2].memory_gib = 1;
    EXPECT_EQ(verdict(4), "quarantine fleet.memory.size");
    node(5).gpus[2].memory_gib = 78;
    node(6).gpus[2].memory_gib = 0;
    EXPECT_EQ(verdict(5), "accept") << "what firmware keeps";
    EXPECT_EQ(verdict(6), "accept") << "not known is not unlike";
    Rule rule;
    rule.name = "memory";
    rule.codes = {"fleet.memory.*"};
    policy_.rules.push_back(rule);
    EXPECT_EQ(verdict(4), "reject memory");
    policy_.rules.back().decision = Decision::accept;
    EXPECT_EQ(verdict(4), "accept");
}

TEST_F(FleetEvidence, OneGpuFewerThanThePeers) {
    promise_nothing();
    EXPECT_EQ(accepted(), kNodes);
    lose_gpus(7, 7);
    EXPECT_EQ(verdict(7), "quarantine fleet.gpus.fewer");
    for (NodeReport& report : made_.fleet.reports) report.instance_type = kNoName;
    EXPECT_EQ(verdict(7), "quarantine fleet.gpus.fewer") << "the same without an instance type";
    EXPECT_EQ(accepted(), kNodes - 1);
}

TEST_F(FleetEvidence, TwoProductsOfFourAndEightAreHonest) {
    promise_nothing();
    for (std::size_t index = 0; index < 9; ++index) {
        lose_gpus(index, 4);
        node(index).instance_type = name("gpu-h100-4");
    }
    EXPECT_EQ(accepted(), kNodes);
    lose_gpus(2, 3);
    EXPECT_EQ(verdict(2), "quarantine fleet.gpus.fewer");
    lose_gpus(2, 3);
    for (NodeReport& report : made_.fleet.reports) report.instance_type = kNoName;
    EXPECT_EQ(verdict(3), "accept") << "products of an unknown type";
    EXPECT_EQ(verdict(2), "quarantine fleet.gpus.fewer") << "three are no product";
}

TEST_F(FleetEvidence, GpusWithoutADriver) {
    node(3).gpus_bound = 7;
    EXPECT_EQ(verdict(3), "quarantine fleet.gpus.unbound");
    node(3).gpus_bound = -1;
    EXPECT_EQ(verdict(3), "no_evidence fleet.gpus.unbound");
    for (NodeReport& report : made_.fleet.reports) report.gpus_bound = 7;
    EXPECT_EQ(verdict(3), "accept") << "one kept for guests, on all of them";
}

TEST_F(FleetEvidence, LinksBelowThePeers) {
    node(3).gpus[1].link_width = 8;
    EXPECT_EQ(verdict(3), "quarantine fleet.link.narrow");
    node(4).gpus[1].link_generation = 3;
    EXPECT_EQ(verdict(4), "quarantine fleet.link.slow");
    node(5).gpus[1].link_generation = 0;
    node(5).gpus[1].link_generation_rest = 1;
    EXPECT_EQ(verdict(5), "accept") << "asleep, and its copies are as fast as all";
    node(6).gpus[1].link_width = 0;
    EXPECT_EQ(verdict(6), "accept") << "not known is not narrow";
    for (NodeReport& report : made_.fleet.reports) report.gpus[7].link_width = 8;
    EXPECT_EQ(verdict(10), "accept") << "a slot of eight lanes in every node";
    EXPECT_EQ(verdict(3), "quarantine fleet.link.narrow");
}

}  // namespace
}  // namespace gpucheck::fleet
