// Two looks at one fleet: what changed is listed, and a quiet day lists nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "fleet/model/policy.h"
#include "tests/fleet/generate/synthetic.h"

namespace gpucheck::fleet {
namespace {

/// One day of a fleet that is reported on several.
Synthetic day_of(const Recipe& recipe, std::size_t day) {
    Synthetic made;
    const Generator generator(recipe);
    for (std::size_t node = 0; node < recipe.nodes; ++node)
        made.fleet.reports.push_back(generator.report(node, day, made.fleet.names));
    return made;
}

void scale(Fleet& fleet, std::size_t node, std::size_t gpu, std::string_view metrics, float by) {
    for (Value& value : fleet.reports[node].gpus[gpu].values) {
        if (fleet.names.text(value.metric).starts_with(metrics)) value.value *= by;
    }
}

bool lists(const Comparison& comparison, const std::string& node, const std::string& metric, bool worse) {
    return std::any_of(comparison.significant.begin(), comparison.significant.end(), [&](const Change& each) {
        return each.node == node && each.metric == metric && each.worse == worse;
    });
}

TEST(FleetCompare, QuietDaysListNothing) {
    std::size_t listed = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Recipe recipe;
        recipe.seed = seed;
        recipe.nodes = 60;
        recipe.days = 2;
        const Comparison comparison =
            compare(day_of(recipe, 0).fleet, day_of(recipe, 1).fleet, default_policy());
        listed += comparison.significant.size();
        EXPECT_EQ(comparison.nodes_both, 60U);
        EXPECT_EQ(comparison.compared, 60U * 8 * 12);
    }
    EXPECT_LE(listed, 1U);
}

TEST(FleetCompare, OneGpuThatBecameSlow) {
    Recipe recipe;
    recipe.nodes = 40;
    recipe.days = 2;
    Synthetic before = day_of(recipe, 0), after = day_of(recipe, 1);
    scale(after.fleet, 11, 4, "memory_read", 0.985F);
    EXPECT_TRUE(compare(before.fleet, after.fleet, default_policy()).significant.empty()) << "1.5 % is noise";
    scale(after.fleet, 11, 4, "memory_read", 0.965F);
    const Comparison comparison = compare(before.fleet, after.fleet, default_policy());
    ASSERT_EQ(comparison.significant.size(), 1U);
    EXPECT_TRUE(lists(comparison, "node-000011", "memory_read_gb_s", true));
    EXPECT_EQ(comparison.significant[0].subject, after.fleet.reports[11].gpus[4].identity);
    EXPECT_NEAR(comparison.significant[0].ratio, 0.95, 0.01);
    EXPECT_LT(comparison.significant[0].p, 0.01);
}

TEST(FleetCompare, TheWholeFleetIsOneChange) {
    Recipe recipe;
    recipe.nodes = 40;
    recipe.days = 2;
    Synthetic before = day_of(recipe, 0), after = day_of(recipe, 1);
    for (std::size_t node = 0; node < 40; ++node) {
        for (std::size_t gpu = 0; gpu < 8; ++gpu) scale(after.fleet, node, gpu, "launch_us", 1.05F);
        after.fleet.reports[node].driver = after.fleet.names.intern("nvidia 575.57.08");
    }
    const Comparison comparison = compare(before.fleet, after.fleet, default_policy());
    ASSERT_EQ(comparison.significant.size(), 2U);
    EXPECT_TRUE(lists(comparison, "", "launch_us", true)) << "slower, although the number is larger";
    EXPECT_TRUE(lists(comparison, "", "driver", false));
}

TEST(FleetCompare, FactsThatChanged) {
    Recipe recipe;
    recipe.nodes = 20;
    recipe.days = 2;
    Synthetic before = day_of(recipe, 0), after = day_of(recipe, 1);
    auto& reports = after.fleet.reports;
    reports[3].verdict = Verdict::fail;
    Problem problem;
    problem.code = after.fleet.names.intern("xid.fatal");
    problem.verdict = Verdict::fail;
    reports[3].problems.push_back(problem);
    std::swap(reports[4].gpus[0].identity, reports[5].gpus[2].identity);
    reports[6].gpus[1].identity = "GPU-new";
    reports[7].gpus.pop_back();
    reports[8].kernel = after.fleet.names.intern("6.9.0");
    reports[9].gpus[0].firmware = after.fleet.names.intern("97");
    reports.pop_back();
    const Comparison comparison = compare(before.fleet, after.fleet, default_policy());
    EXPECT_EQ(comparison.nodes_only_before, 1U);
    EXPECT_TRUE(lists(comparison, "node-000003", "verdict", true));
    EXPECT_TRUE(lists(comparison, "node-000003", "code xid.fatal", true));
    EXPECT_TRUE(lists(comparison, "node-000004", "moved", false));
    EXPECT_TRUE(lists(comparison, "node-000005", "moved", false));
    EXPECT_TRUE(lists(comparison, "node-000006", "GPU", false));
    EXPECT_FALSE(lists(comparison, "node-000006", "GPU gone", true)) << "it was exchanged";
    EXPECT_TRUE(lists(comparison, "node-000007", "count", true));
    EXPECT_TRUE(lists(comparison, "node-000007", "GPU gone", true));
    EXPECT_TRUE(lists(comparison, "node-000008", "kernel", false));
    EXPECT_TRUE(lists(comparison, "node-000009", "firmware", false));
    EXPECT_TRUE(comparison.significant.front().worse) << "worst first";
    const Comparison back = compare(after.fleet, before.fleet, default_policy());
    EXPECT_TRUE(lists(back, "node-000003", "verdict", false));
}

TEST(FleetCompare, TwoFleetsWithoutACommonNode) {
    Recipe one, two;
    one.nodes = two.nodes = 60;
    two.seed = 2;
    Synthetic before = synthetic(one), after = synthetic(two);
    for (NodeReport& report : after.fleet.reports) {
        report.key += " elsewhere";
        for (Gpu& gpu : report.gpus) gpu.identity += "x";
    }
    EXPECT_TRUE(compare(before.fleet, after.fleet, default_policy()).significant.empty());
    for (std::size_t node = 0; node < 60; ++node) {
        for (std::size_t gpu = 0; gpu < 8; ++gpu) scale(after.fleet, node, gpu, "memory_copy", 0.97F);
    }
    const Comparison comparison = compare(before.fleet, after.fleet, default_policy());
    ASSERT_EQ(comparison.significant.size(), 1U);
    EXPECT_TRUE(lists(comparison, "", "memory_copy_gb_s", true));
    EXPECT_EQ(comparison.nodes_both, 0U);
    EXPECT_TRUE(comparison.two_samples);
}

TEST(FleetCompare, UnchangedIsSaidOfWhatWasLookedAtAlone) {
    Recipe recipe;
    recipe.nodes = 40;
    recipe.days = 2;
    const Synthetic before = day_of(recipe, 0);
    const auto decided = [&](const auto& spoil) {
        Synthetic after = day_of(recipe, 1);
        spoil(after.fleet);
        const Comparison comparison = compare(before.fleet, after.fleet, default_policy());
        EXPECT_EQ(comparison.why.empty(), comparison.decision == Decision::accept);
        return comparison.decision;
    };
    EXPECT_EQ(decided([](Fleet&) {}), Decision::accept);
    EXPECT_EQ(decided([](Fleet& fleet) {
                  for (NodeReport& report : fleet.reports) {
                      for (Gpu& gpu : report.gpus) gpu.values.clear();
                  }
              }),
              Decision::no_evidence);
    EXPECT_EQ(decided([](Fleet& fleet) {
                  for (NodeReport& report : fleet.reports) report.profile = fleet.names.intern("acceptance");
              }),
              Decision::no_evidence);
    EXPECT_EQ(decided([](Fleet& fleet) { fleet.reports.resize(10); }), Decision::no_evidence);
    EXPECT_EQ(decided([](Fleet& fleet) {
                  fleet.rejected.push_back({"a.json", "is cut off"});
              }),
              Decision::no_evidence);
    EXPECT_EQ(decided([](Fleet& fleet) {
                  std::erase_if(fleet.reports[3].gpus[1].values, [](const Value&) { return true; });
              }),
              Decision::no_evidence);
    EXPECT_EQ(decided([](Fleet& fleet) { fleet.reports[3].gpus[1].mode = fleet.names.intern("MIG 7"); }),
              Decision::no_evidence);
    EXPECT_EQ(decided([](Fleet& fleet) {
                  NodeReport fresh = fleet.reports[0];
                  fresh.key = fresh.node = "new";
                  fresh.report_id = "new";
                  for (Gpu& gpu : fresh.gpus) gpu.identity += "new";
                  fleet.reports.push_back(fresh);
              }),
              Decision::accept)
        << "a node more is nothing worse";
}

TEST(FleetCompare, LessWiringIsWorseWhateverWasMeasured) {
    Recipe recipe;
    recipe.nodes = 10;
    recipe.days = 2;
    Synthetic before = day_of(recipe, 0);
    for (NodeReport& report : before.fleet.reports) {
        report.gpus_bound = 8;
        for (Gpu& gpu : report.gpus) {
            gpu.link_width = 16;
            gpu.link_generation = 5;
            gpu.memory_gib = 80;
        }
    }
    const auto told = [&](const auto& spoil) {
        Synthetic after = day_of(recipe, 1);
        for (std::size_t node = 0; node < 10; ++node) {
            after.fleet.reports[node].gpus_bound = 8;
            for (std::size_t gpu = 0; gpu < 8; ++gpu) {
                Gpu& now = after.fleet.reports[node].gpus[gpu];
                now.link_width = 16;
                now.link_generation = 5;
                now.memory_gib = 79.8F;
            }
        }
        spoil(after.fleet.reports);
        return compare(before.fleet, after.fleet, default_policy());
    };
    using Reports = std::vector<NodeReport>;
    EXPECT_EQ(told([](Reports&) {}).decision, Decision::accept) << "0.2 GiB is what a driver reserves";
    EXPECT_TRUE(
        lists(told([](Reports& all) { all[3].gpus[2].link_width = 8; }), "node-000003", "link width", true));
    EXPECT_TRUE(lists(told([](Reports& all) { all[3].gpus[2].link_generation = 1; }), "node-000003",
                      "link generation", true));
    EXPECT_TRUE(
        lists(told([](Reports& all) { all[3].gpus[2].memory_gib = 40; }), "node-000003", "memory GiB", true));
    EXPECT_TRUE(
        lists(told([](Reports& all) { all[3].gpus_bound = 7; }), "node-000003", "held by a driver", true));
    const Comparison everywhere = told([](Reports& all) {
        for (NodeReport& report : all) {
            for (Gpu& gpu : report.gpus) gpu.link_width = 8;
        }
    });
    EXPECT_TRUE(lists(everywhere, "", "link width", true)) << "one change of the fleet";
    EXPECT_EQ(everywhere.significant.size(), 1U);
    const Comparison unread = told([](Reports& all) { all[3].gpus[2].link_width = 0; });
    EXPECT_EQ(unread.decision, Decision::no_evidence);
    EXPECT_EQ(unread.why,
              std::vector<std::string>{"NEW does not know the link width of 1 GPU that OLD knew"});
}

TEST(FleetCompare, WhatHadToBeComparedAndWas) {
    Recipe recipe;
    recipe.nodes = 20;
    recipe.days = 2;
    Synthetic before = day_of(recipe, 0), after = day_of(recipe, 1);
    EXPECT_EQ(compare(after.fleet, before.fleet, default_policy()).decision, Decision::no_evidence)
        << "the wrong way round";
    for (Synthetic* side : {&before, &after}) {
        for (NodeReport& report : side->fleet.reports) {
            for (Gpu& gpu : report.gpus)
                std::erase_if(gpu.values, [&](const Value& value) {
                    return side->fleet.names.text(value.metric).starts_with("memory_");
                });
        }
    }
    const Comparison comparison = compare(before.fleet, after.fleet, default_policy());
    EXPECT_EQ(comparison.why, std::vector<std::string>{"no measurement of memory was compared"});
}

TEST(FleetCompare, NodesThatBecameSlowAmongFew) {
    for (const auto& [nodes, slow] :
         {std::pair(2, 1), std::pair(3, 1), std::pair(4, 2), std::pair(10, 1), std::pair(20, 2)}) {
        Recipe recipe;
        recipe.nodes = static_cast<std::size_t>(nodes);
        recipe.days = 2;
        Synthetic before = day_of(recipe, 0), after = day_of(recipe, 1);
        EXPECT_EQ(compare(before.fleet, after.fleet, default_policy()).decision, Decision::accept) << nodes;
        for (int node = 0; node < slow; ++node) {
            for (std::size_t gpu = 0; gpu < 8; ++gpu)
                scale(after.fleet, static_cast<std::size_t>(node), gpu, "memory_read", 0.9F);
        }
        EXPECT_EQ(compare(before.fleet, after.fleet, default_policy()).decision, Decision::reject) << nodes;
    }
    Recipe single;
    single.nodes = 8;
    single.gpus = 1;
    single.days = 2;
    Synthetic before = day_of(single, 0), after = day_of(single, 1);
    EXPECT_EQ(compare(before.fleet, after.fleet, default_policy()).decision, Decision::accept);
    for (std::size_t node = 0; node < 3; ++node) scale(after.fleet, node, 0, "memory_read", 0.9F);
    EXPECT_NE(compare(before.fleet, after.fleet, default_policy()).decision, Decision::accept)
        << "three of eight drag the normal change with them";
}

TEST(FleetCompare, OtherProfilesAndTooFewPairsAreTold) {
    Recipe recipe;
    recipe.nodes = 1;
    recipe.gpus = 4;
    const Synthetic few = synthetic(recipe);
    EXPECT_FALSE(compare(few.fleet, few.fleet, default_policy()).why.empty());
    recipe.nodes = 10;
    const Synthetic before = synthetic(recipe);
    Synthetic after = synthetic(recipe);
    for (NodeReport& report : after.fleet.reports) report.profile = after.fleet.names.intern("acceptance");
    const Comparison comparison = compare(before.fleet, after.fleet, default_policy());
    EXPECT_EQ(comparison.compared, 0U);
    EXPECT_FALSE(comparison.notes.empty());
}

}  // namespace
}  // namespace gpucheck::fleet
