// Fleets with known faults: how many are found, and how many healthy machines are blamed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "fleet/model/policy.h"
#include "tests/fleet/generate/synthetic.h"

namespace gpucheck::fleet {
namespace {

struct Score {
    double recall = 0, false_alarms = 0;  ///< a fleet
    double clean_share = 0;               ///< of fleets without a false alarm
    std::map<std::string, std::pair<int, int>> by_fault;
};

Score score(Recipe recipe, int seeds) {
    Score total;
    const Policy policy = default_policy();
    for (int seed = 1; seed <= seeds; ++seed) {
        recipe.seed = static_cast<std::uint64_t>(seed);
        const Synthetic made = synthetic(recipe);
        const Analysis analysis = analyse(made.fleet, policy, nullptr);
        std::set<std::string> blamed;
        for (const NodeResult& node : analysis.nodes) {
            if (node.decision == Decision::reject || node.decision == Decision::quarantine)
                blamed.insert(made.fleet.reports[node.report].node);
        }
        std::size_t found = 0;
        for (const Planted& planted : made.truth) {
            const bool seen = blamed.erase(planted.node) != 0;
            auto& [hits, all] = total.by_fault[name_of(planted.fault)];
            hits += seen ? 1 : 0;
            ++all;
            found += seen ? 1 : 0;
        }
        if (!made.truth.empty())
            total.recall += static_cast<double>(found) / static_cast<double>(made.truth.size()) / seeds;
        total.false_alarms += static_cast<double>(blamed.size()) / seeds;
        total.clean_share += blamed.empty() ? 1.0 / seeds : 0;
    }
    std::printf("recall %.3f, false alarms %.3f a fleet, none in %.0f %%;", total.recall, total.false_alarms,
                100 * total.clean_share);
    for (const auto& [fault, counts] : total.by_fault)
        std::printf(" %s %d/%d", fault.c_str(), counts.first, counts.second);
    std::printf("\n");
    return total;
}

Recipe with_eight() {
    Recipe recipe;
    recipe.faults = usual_eight();
    return recipe;
}

Lottery alike(double percent) {
    Lottery lottery;
    lottery.memory = lottery.matrix = lottery.link = lottery.launch = percent;
    return lottery;
}

TEST(FleetRecall, EightOfFourHundredOverFiftySeeds) {
    const Score found = score(with_eight(), 50);
    EXPECT_GE(found.recall, 7.0 / 8);
    EXPECT_LE(found.false_alarms, 0.5);
    for (const auto& [fault, counts] : found.by_fault)
        EXPECT_GE(counts.first, counts.second * 3 / 4) << fault << " is not found by chance alone";
}

TEST(FleetRecall, CleanFleetsAreClean) {
    const Score found = score(Recipe{}, 60);
    EXPECT_GE(found.clean_share, 0.95);
}

// What the bars were not tuned on; the figures stand in docs/fleet-policy.md.
TEST(FleetRecall, OtherSpreads) {
    Recipe narrow = with_eight(), wide = with_eight();
    narrow.lottery = alike(1);
    wide.lottery = alike(11);
    const Score one = score(narrow, 10), eleven = score(wide, 10);
    EXPECT_GE(one.recall, 0.95);
    EXPECT_LE(one.false_alarms, 0.5);
    EXPECT_LE(eleven.false_alarms, 0.5)
        << "6 % inside a spread of 11 % cannot be seen, and must not be guessed";
    EXPECT_GE(eleven.recall, 0.4);
}

TEST(FleetRecall, OtherSizesAndBoards) {
    Recipe small = with_eight(), large = with_eight(), four = with_eight(), two = with_eight();
    small.nodes = 32;
    large.nodes = 2000;
    four.gpus = 4;
    two.boards = {"h100-sxm-80gb", "mi300x"};
    for (const auto& [recipe, seeds] :
         {std::pair(small, 20), std::pair(large, 3), std::pair(four, 10), std::pair(two, 10)}) {
        const Score found = score(recipe, seeds);
        EXPECT_GE(found.recall, 0.7) << recipe.nodes << " nodes of " << recipe.gpus;
        EXPECT_LE(found.false_alarms, 0.5) << recipe.nodes << " nodes of " << recipe.gpus;
        Recipe clean = recipe;
        clean.faults.clear();
        EXPECT_GE(score(clean, seeds).clean_share, 0.95);
    }
}

TEST(FleetRecall, OtherShapesOfLottery) {
    const std::pair<Lottery::Shape, double> shapes[] = {
        {Lottery::Shape::flat, 0.5}, {Lottery::Shape::lower_tail, 2}, {Lottery::Shape::heavy_tails, 5}};
    for (const auto& [shape, most] : shapes) {
        Recipe recipe = with_eight();
        recipe.lottery.shape = shape;
        const Score found = score(recipe, 10);
        EXPECT_GE(found.recall, 0.8);
        EXPECT_LE(found.false_alarms, most);
    }
}

TEST(FleetRecall, ARollOutOfDriversHidesNothing) {
    Recipe recipe = with_eight();
    recipe.drift = 0.5;
    const Score found = score(recipe, 10);
    EXPECT_GE(found.recall, 7.0 / 8);
    EXPECT_LE(found.false_alarms, 0.5);
}

TEST(FleetRecall, LemonsAreRememberedOverDays) {
    Recipe recipe;
    recipe.nodes = 60;
    recipe.days = 5;
    recipe.faults = {Fault::lemon, Fault::lemon};
    const Synthetic made = synthetic(recipe);
    const Analysis analysis = analyse(made.fleet, default_policy(), nullptr);
    ASSERT_EQ(analysis.offenders.size(), 2U);
    EXPECT_EQ(analysis.offenders.front().times.size(), 2U);
    EXPECT_LT(analysis.offenders.front().times[0].created, analysis.offenders.front().times[1].created);
    EXPECT_EQ(analysis.decisions.at(Decision::quarantine), 2U);
    EXPECT_EQ(analysis.decisions.at(Decision::accept), 58U);
    EXPECT_EQ(analysis.nodes.front().reasons.front().rule, "repeat offender");
    EXPECT_EQ(analysis.nodes.front().earlier.size(), 4U);
}

}  // namespace
}  // namespace gpucheck::fleet
