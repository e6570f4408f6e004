// Points of operation, bands, and published rows scaled by what was measured.
#include <gtest/gtest.h>

#include "checks/cost/quote.h"
#include "tests/cost/reference_csv.h"

namespace gpucheck::cost {
namespace {

QuoteRequest request_for(const LlmModel& model, const MeasuredMachine& machine, Point point) {
    QuoteRequest request;
    request.model = &model;
    request.machine = &machine;
    request.load.weights = request.load.kv = Precision::fp8;
    request.point = point;
    request.today = "2026-11-30";
    return request;
}

TEST(CostQuote, TheInteractivePointIsTheLastThatIsFastEnough) {
    const MeasuredMachine machine = reference_machine("MI300X");
    const LlmModel model = reference_model("llama3.1-70b");
    const Quote there = quote(request_for(model, machine, Point::interactive));
    ASSERT_TRUE(there.estimate);
    EXPECT_GE(there.estimate->tokens_per_s_per_user, kInteractiveTokens);
    Workload one_more = there.load;
    one_more.concurrency += 1;
    EXPECT_LT(std::get<Estimate>(estimate(model, machine, one_more)).tokens_per_s_per_user,
              kInteractiveTokens);
}

TEST(CostQuote, AnUnreachablePointIsSaidAndNotZero) {
    // One user of a 70B model gets just under 30 tokens/s from this card.
    const MeasuredMachine machine = reference_machine("RTX-PRO-6000-SE");
    QuoteRequest request = request_for(reference_model("llama3.1-70b"), machine, Point::interactive);
    request.load.weights = Precision::fp4;
    const Quote none = quote(request);
    ASSERT_TRUE(none.refusal);
    EXPECT_EQ(none.refusal->code, RefusalCode::not_reachable);
    request.point = Point::single_user;
    EXPECT_TRUE(quote(request).estimate);
}

TEST(CostQuote, SmallestGroup) {
    Workload load;
    load.weights = load.kv = Precision::fp8;
    EXPECT_EQ(smallest_group(reference_model("llama3.1-8b"), reference_machine("H100-SXM"), load), 1U);
    EXPECT_EQ(smallest_group(reference_model("llama3.1-70b"), reference_machine("H100-SXM"), load), 2U);
    EXPECT_EQ(smallest_group(reference_model("llama3.1-405b"), reference_machine("H100-SXM"), load), 8U);
    EXPECT_EQ(smallest_group(reference_model("llama3.1-405b"), reference_machine("L40S"), load),
              std::nullopt);
    MeasuredMachine one = reference_machine("H100-SXM");
    one.gpus = 1;
    EXPECT_EQ(smallest_group(reference_model("llama3.1-70b"), one, load),
              1U);  // it fits, with room for three
}

TEST(CostQuote, AWiderBandWithoutMeasurement) {
    EXPECT_DOUBLE_EQ(analytic_band(false, Basis::measured), 1.3);
    EXPECT_DOUBLE_EQ(analytic_band(true, Basis::measured), 1.75);
    EXPECT_DOUBLE_EQ(analytic_band(false, Basis::datasheet), 1.6);
    EXPECT_GT(analytic_band(true, Basis::datasheet), 1.75);
}

TEST(CostQuote, APublishedRowIsScaledByWhatWasMeasured) {
    const LlmModel model = reference_model("llama2-70b");
    const MeasuredMachine healthy = reference_machine("MI325X");
    MeasuredMachine machine = healthy;
    machine.basis = Basis::measured;
    QuoteRequest request = request_for(model, machine, Point::maximum);
    request.healthy = &healthy;
    ReferenceRow row{"mi325x", "llama-2-70b", "offline", Precision::fp8, 4000, 8, 294, 280, "engine",
                     "5.1",    "x",           "y",       "2026-07"};
    request.references = {&row};
    request.load.isl = 294;
    request.load.osl = 280;
    const Quote same = quote(request);
    EXPECT_EQ(same.method, Method::reference_scaled);
    EXPECT_NEAR(same.tokens_per_s_per_gpu(), 4000, 1e-6);
    EXPECT_DOUBLE_EQ(same.band.factor, 1.15);
    EXPECT_TRUE(same.warnings.size() == 1 && same.warnings[0].starts_with("price_unknown"))
        << same.warnings.size();
    *machine.bandwidth_bytes_s *= 0.9;
    EXPECT_LT(quote(request).tokens_per_s_per_gpu(), 4000);
    *machine.bandwidth_bytes_s /= 0.9;
    row.as_of = "2026-04";
    EXPECT_DOUBLE_EQ(quote(request).band.factor, 1.3);
    row.as_of = "2025-09";
    EXPECT_DOUBLE_EQ(quote(request).band.factor, 1.5);
    EXPECT_TRUE(quote(request).warnings[0].starts_with("stale"));
    // Near misses: other lengths, another scenario, another format, no healthy rates, a datasheet.
    request.load.isl = 400;
    EXPECT_EQ(quote(request).method, Method::analytic);
    request.load.isl = 294;
    request.scenario = "server";
    EXPECT_EQ(quote(request).method, Method::analytic);
    request.scenario = "offline";
    request.point = Point::single_user;
    EXPECT_EQ(quote(request).method, Method::analytic);
    request.point = Point::maximum;
    row.isl.reset();
    EXPECT_EQ(quote(request).method, Method::analytic);
    row.isl = 294;
    machine.basis = Basis::datasheet;
    EXPECT_EQ(quote(request).method, Method::analytic);
    machine.basis = Basis::measured;
    request.healthy = nullptr;
    EXPECT_EQ(quote(request).method, Method::analytic);
}

TEST(CostQuote, PricesWarn) {
    const MeasuredMachine machine = reference_machine("MI300X");
    QuoteRequest request = request_for(reference_model("llama3.1-8b"), machine, Point::single_user);
    request.price = {1.55, "a table", "2026-07", "rental"};
    Quote made = quote(request);
    ASSERT_EQ(made.warnings.size(), 1U);
    EXPECT_NE(made.warnings[0].find("152 days"), std::string::npos) << made.warnings[0];
    EXPECT_NEAR(*made.usd_at_utilization.blended, *made.usd.blended, 1e-12);
    request.utilization = 0.5;
    made = quote(request);
    EXPECT_NEAR(*made.usd_at_utilization.blended, 2 * *made.usd.blended, 1e-9);
    request.price = {12.4 * 8, "--price", "", "unknown"};
    EXPECT_NE(quote(request).warnings.at(0).find("whole instance"), std::string::npos);
    request.price = {2.0, "--price", "", "unknown"};
    EXPECT_TRUE(quote(request).warnings.empty());
}

}  // namespace
}  // namespace gpucheck::cost
