// Dollars: unknown prices stay unknown, and a magazine's row that is 158 times off is found.
#include <gtest/gtest.h>

#include <cmath>

#include "checks/cost/shortfall.h"
#include "tests/cost/reference_csv.h"

namespace gpucheck::cost {
namespace {

TEST(CostMoney, UsdPerToken) {
    EXPECT_NEAR(*usd_per_token(3.2, 780), 1.1396e-6, 1e-10);
    EXPECT_NEAR(*usd_per_token(3.2, 780, 0.5), 2 * 1.1396e-6, 2e-10);
    for (const double none : {0.0, -1.0, std::nan(""), static_cast<double>(INFINITY), 1e308}) {
        EXPECT_FALSE(usd_per_token(none, 780)) << none;
        EXPECT_FALSE(usd_per_token(3.2, none)) << none;
    }
    EXPECT_FALSE(usd_per_token(std::nullopt, 780));
    EXPECT_FALSE(usd_per_token(3.2, 780, 0));
    EXPECT_FALSE(usd_per_token(3.2, 780, 1.01));
}

TEST(CostMoney, WithoutAPriceEveryFigureIsNull) {
    Workload load;
    load.weights = load.kv = Precision::fp8;
    const Outcome outcome = estimate(reference_model("llama3.1-8b"), reference_machine("MI300X"), load);
    const Estimate& e = std::get<Estimate>(outcome);
    for (const std::optional<double> price :
         {std::optional<double>(), std::optional(0.0), std::optional(-2.0)}) {
        const UsdPerMillion usd = usd_per_million(e, load, price);
        EXPECT_FALSE(usd.input || usd.output || usd.blended);
    }
    const UsdPerMillion usd = usd_per_million(e, load, 1.55);
    // What all tokens of a request cost is what the request costs.
    const double request = 1.55 / 3600 * load.osl / e.tokens_per_s * 1e6;
    EXPECT_NEAR(load.isl * *usd.input + load.osl * *usd.output, request, request * 1e-9);
}

TEST(CostMoney, TheMagazinesRowIs158TimesOff) {
    const ClaimVerdict verdict = check_claim({3.2, 780, 0.00018});
    EXPECT_FALSE(verdict.agrees);
    EXPECT_NEAR(verdict.factor, 158, 0.5);
    EXPECT_TRUE(check_claim({3.2, 780, 1.1396e-6}).agrees);
    EXPECT_TRUE(check_claim({3.2, 780, 1.1396e-6 * 1.019}).agrees);
    EXPECT_FALSE(check_claim({3.2, 780, 1.1396e-6 * 1.021}).agrees);
    EXPECT_FALSE(check_claim({0, 780, 1e-6}).usd_per_token);
}

TEST(CostMoney, OwningTheArticlesMachine) {
    // 0.15 USD/kWh at 80 % load: electricity of one H100, provisioned with 1.73 kW, is 0.2076 USD an hour.
    Ownership owned;
    owned.kw_per_gpu = tables().power_of("h100-sxm-80gb")->kw_per_gpu;
    owned.usd_per_kwh = 0.15;
    owned.load = 0.8;
    OwnershipCost cost = cost_of_owning(owned);
    EXPECT_NEAR(*cost.electricity_usd_gpu_hour, 0.2076, 1e-4);
    EXPECT_FALSE(cost.usd_gpu_hour) << "without a purchase price there is no price";
    owned.capex_usd_per_gpu = 30000;
    owned.years = 4;
    EXPECT_FALSE(cost_of_owning(owned).usd_gpu_hour) << "availability has no default";
    owned.availability = 0.98;
    owned.software_usd_gpu_hour = 0.1;
    cost = cost_of_owning(owned);
    EXPECT_NEAR(*cost.capital_usd_gpu_hour, 30000 / (8760 * 4 * 0.98), 1e-9);
    EXPECT_NEAR(*cost.usd_gpu_hour, *cost.capital_usd_gpu_hour + 0.2076 + 0.1, 1e-4);
    owned.years = 0;
    EXPECT_FALSE(cost_of_owning(owned).usd_gpu_hour);
}

TEST(CostMoney, ElectricityOfTheTable) {
    const std::vector<CsvRow> rows = read_csv("tco.csv");
    if (rows.empty()) GTEST_SKIP() << "no tco.csv in " << GPUCHECK_SHARED_DIR;
    std::size_t compared = 0;
    for (const CsvRow& row : rows) {
        if (row.at("electricity_usd_gpu_hr").empty()) continue;
        Ownership owned;
        owned.kw_per_gpu = std::stod(row.at("all_in_kw_per_gpu"));
        owned.usd_per_kwh = std::stod(row.at("electricity_usd_kwh"));
        owned.load = std::stod(row.at("load_fraction"));
        EXPECT_NEAR(*cost_of_owning(owned).electricity_usd_gpu_hour,
                    std::stod(row.at("electricity_usd_gpu_hr")), 1e-4);
        ++compared;
    }
    EXPECT_EQ(compared, 7U);
}

TEST(CostMoney, Days) {
    EXPECT_EQ(days_between("2026-07", "2026-11-30"), 152);
    EXPECT_EQ(days_between("2024-02-28", "2024-03-01"), 2);
    EXPECT_EQ(days_between("2026-11-30", "2026-11-30"), 0);
    for (const char* junk :
         {"", "2026", "2026-13", "2026-00-01", "2026/07/01", "20x6-07", "2026-07-1", "2026-07-32"}) {
        EXPECT_FALSE(days_between(junk, "2026-11-30")) << junk;
    }
}

TEST(CostMoney, ShortfallInMoney) {
    const LlmModel model = reference_model("llama3.1-70b");
    const MeasuredMachine healthy = reference_machine("MI300X");
    MeasuredMachine sick = healthy;
    sick.board_name = "MI300X";
    *sick.bandwidth_bytes_s *= 0.91;
    Workload load;
    load.weights = load.kv = Precision::fp8;
    load.concurrency = 32;
    const auto found = shortfall(Part::bandwidth, model, sick, healthy, load, 2.0);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->ratio, 0.91, 1e-9);
    EXPECT_NEAR(found->elasticity, 0.63, 0.03);
    EXPECT_NEAR(found->tokens_ratio, std::pow(0.91, found->elasticity), 1e-9);
    EXPECT_NEAR(*found->usd_per_month, 2.0 * 8 * 730 * (1 - found->tokens_ratio), 1e-6);
    const std::string text = sentence(*found, model, sick, load);
    EXPECT_NE(text.find("HBM bandwidth at 91 % of a healthy MI300X"), std::string::npos) << text;
    EXPECT_NE(text.find("llama-3.1-70b at 32"), std::string::npos) << text;
    EXPECT_NE(text.find("USD a month on this instance."), std::string::npos) << text;
    const auto free = shortfall(Part::bandwidth, model, sick, healthy, load, std::nullopt);
    EXPECT_FALSE(free->usd_per_month);
    EXPECT_EQ(sentence(*free, model, sick, load).find("USD"), std::string::npos);
    // Near misses: within what a benchmark repeats to, faster, or another board.
    *sick.bandwidth_bytes_s = *healthy.bandwidth_bytes_s * 0.995;
    EXPECT_FALSE(shortfall(Part::bandwidth, model, sick, healthy, load, 2.0));
    *sick.bandwidth_bytes_s = *healthy.bandwidth_bytes_s * 1.1;
    EXPECT_FALSE(shortfall(Part::bandwidth, model, sick, healthy, load, 2.0));
    *sick.bandwidth_bytes_s = *healthy.bandwidth_bytes_s * 0.5;
    EXPECT_FALSE(shortfall(Part::bandwidth, model, sick, reference_machine("MI325X"), load, 2.0));
}

TEST(CostMoney, Elasticities) {
    const MeasuredMachine mi300x = reference_machine("MI300X");
    Workload load;
    load.weights = load.kv = Precision::fp8;
    const LlmModel large = reference_model("llama3.1-70b");
    EXPECT_NEAR(*elasticity(Part::bandwidth, large, mi300x, load), 0.82, 0.01);
    EXPECT_NEAR(*elasticity(Part::matrix, large, mi300x, load), 0.01, 0.01);
    load.concurrency = 2048;
    EXPECT_NEAR(*elasticity(Part::bandwidth, large, mi300x, load), 0.29, 0.03);
    EXPECT_NEAR(*elasticity(Part::matrix, large, mi300x, load), 0.71, 0.05);
    EXPECT_NEAR(*elasticity(Part::capacity, large, mi300x, load), 0.26, 0.05);
}

TEST(CostMoney, ThreeDigits) {
    EXPECT_EQ(three_digits(1.1396), "1.14");
    EXPECT_EQ(three_digits(0.0114), "0.0114");
    EXPECT_EQ(three_digits(12345), "12300");
    EXPECT_EQ(three_digits(780), "780");
    EXPECT_EQ(three_digits(0), "0");
    EXPECT_EQ(three_digits(1.1396e-6), "1.14e-06");
    EXPECT_EQ(three_digits(std::nan("")), "-");
}

}  // namespace
}  // namespace gpucheck::cost
