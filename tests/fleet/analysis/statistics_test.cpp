// Known values of the tests, and centres that a second pass does not move.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fleet/analysis/selection.h"
#include "fleet/analysis/statistics.h"
#include "tests/fleet/generate/synthetic.h"

namespace gpucheck::fleet {
namespace {

std::vector<float> normals(std::size_t count, std::uint64_t seed, double middle = 1000, double spread = 10) {
    Dice dice(seed);
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i)
        values.push_back(static_cast<float>(middle + spread * dice.normal()));
    std::sort(values.begin(), values.end());
    return values;
}

TEST(FleetStatistics, KnownValues) {
    EXPECT_NEAR(t_tail(2.228, 10), 0.025, 1e-4);  // tables of Student's t
    EXPECT_NEAR(t_tail(6.314, 1), 0.05, 1e-4);
    EXPECT_NEAR(t_tail(-2.228, 10), 0.975, 1e-4);
    EXPECT_NEAR(fisher(3, 4, 4, 8), 17.0 / 70, 1e-9);  // Fisher's tea
    EXPECT_NEAR(fisher(0, 4, 4, 8), 1, 1e-9);
    EXPECT_NEAR(sign_test(9, 1), 22.0 / 1024, 1e-9);
    EXPECT_DOUBLE_EQ(sign_test(0, 0), 1);
    EXPECT_DOUBLE_EQ(sign_test(5, 5), 1);
    EXPECT_DOUBLE_EQ(mann_whitney({1, 1, 1, 1}, {1, 1, 1, 1}), 1);
    EXPECT_DOUBLE_EQ(mann_whitney({1, 2, 3}, {7, 8, 9}), 1) << "three values tell nothing";
    // U = 0 of 25, sigma = sqrt(25 * 11 / 12), continuity 0.5: z = 2.507.
    EXPECT_NEAR(mann_whitney({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}), 0.01219, 1e-4);
    EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4}, 0.5), 2.5);
    EXPECT_DOUBLE_EQ(quantile({7}, 0.05), 7);
    EXPECT_NEAR(distribution_of({1, 2, 3, 4, 100}).mad, 1.4826, 1e-6);
}

TEST(FleetStatistics, TheBarRisesWithComparisonsAndFallsWithKnowledge) {
    EXPECT_NEAR(chance_bar(1'000'000, 1), 2.326, 0.01);  // 1 % of a normal distribution
    EXPECT_NEAR(chance_bar(3200, 38400), 5.07, 0.15);
    EXPECT_GT(chance_bar(3200, 10'000'000), chance_bar(3200, 38400));
    EXPECT_GT(chance_bar(8, 96), 15) << "eight values do not know their spread";
}

TEST(FleetStatistics, ASecondPassOverWhatWasKeptChangesNothing) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        std::vector<float> values = normals(50 + seed * 7, seed);
        for (std::size_t bad = 0; bad < seed % 9; ++bad) values[bad] = static_cast<float>(500 + 30 * bad);
        if (seed % 3 == 0) values.back() = 5000;
        std::sort(values.begin(), values.end());
        const Settled first = settle(values, 4.8);
        std::vector<float> kept;
        std::copy_if(values.begin(), values.end(), std::back_inserter(kept),
                     [&](float value) { return value >= first.bar && value <= 2 * first.value - first.bar; });
        ASSERT_EQ(kept.size(), first.kept);
        const Settled second = settle(kept, 4.8);
        EXPECT_EQ(second.dropped, 0U);
        EXPECT_EQ(second.value, first.value);
        EXPECT_EQ(second.spread, first.spread);
        EXPECT_EQ(second.bar, first.bar);
        EXPECT_NEAR(first.value, 1000, 6);
    }
}

TEST(FleetStatistics, AlikeValuesMakeNoOutlierOfSmallDifferences) {
    std::vector<float> values(100, 1000.0F);
    values[0] = 997;
    values[1] = 981;
    std::sort(values.begin(), values.end());
    EXPECT_EQ(settle(values, 4.5).dropped, 0U) << "2 % at least";
    values[0] = 970;
    EXPECT_EQ(settle(values, 4.5).dropped, 1U);
    EXPECT_EQ(settle({0, 0, 0, 0}, 4.5).dropped, 0U);
    EXPECT_EQ(settle({5}, 4.5).kept, 1U);
}

TEST(FleetStatistics, TwoPopulationsAreToldFromOne) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed)
        EXPECT_FALSE(split_of(normals(100 + 20 * seed, seed)).found) << seed;
    std::vector<float> two = normals(200, 1), slower = normals(150, 2, 900);
    two.insert(two.end(), slower.begin(), slower.end());
    std::sort(two.begin(), two.end());
    const Split split = split_of(two);
    EXPECT_TRUE(split.found);
    EXPECT_NEAR(static_cast<double>(split.below), 150, 2);
    EXPECT_NEAR(split.low, 900, 3);
    std::vector<float> few = normals(200, 3);  // five outliers are no population
    for (int i = 0; i < 5; ++i) few[static_cast<std::size_t>(i)] = 700;
    std::sort(few.begin(), few.end());
    EXPECT_FALSE(split_of(few).found);
    EXPECT_FALSE(split_of({1, 2, 3}).found);
}

}  // namespace
}  // namespace gpucheck::fleet
