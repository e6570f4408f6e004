// The estimator against the reference estimator's outputs and against the published results it was fitted on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "tests/cost/reference_csv.h"

namespace gpucheck::cost {
namespace {

struct Vector {
    const char* model;
    const char* gpu;
    unsigned group;
    Precision weights, kv;
    double isl, osl, concurrency;
    double b_max, batch, prefill_ms, step_ms, tokens_s, user_tokens_s;
};

Workload load_of(const Vector& v) {
    Workload load;
    load.weights = v.weights;
    load.kv = v.kv;
    load.isl = v.isl;
    load.osl = v.osl;
    load.concurrency = v.concurrency;
    load.group = v.group;
    load.weight_only = true;
    return load;
}

void near(const std::string& what, double ours, double reference) {
    EXPECT_NEAR(ours, reference, std::abs(reference) * 1e-4) << what;
}

Estimate checked(const std::string& what, const Vector& v) {
    const Outcome outcome = estimate(reference_model(v.model), reference_machine(v.gpu), load_of(v));
    const auto* refusal = std::get_if<Refusal>(&outcome);
    EXPECT_EQ(refusal, nullptr) << what << ": " << (refusal != nullptr ? refusal->why : "");
    if (refusal != nullptr) return {};
    const Estimate e = std::get<Estimate>(outcome);
    near(what + " Bmax", e.max_concurrency, v.b_max);
    near(what + " B", e.batch, v.batch);
    near(what + " prefill", e.prefill_s * 1e3, v.prefill_ms);
    near(what + " step", e.step_s * 1e3, v.step_ms);
    near(what + " tokens/s", e.tokens_per_s, v.tokens_s);
    near(what + " user", e.tokens_per_s_per_user, v.user_tokens_s);
    return e;
}

// A few of each kind, so that the constants are held where the reference tables are not there.
TEST(CostVectors, OurOwn) {
    constexpr Precision p16 = Precision::fp16, p8 = Precision::fp8, p4 = Precision::fp4;
    const std::vector<Vector> vectors{
        {"llama3.1-8b", "A100-SXM-80", 1, p16, p16, 1000, 1000, 1, 293.732, 1, 59.0577, 10.9989, 90.4328,
         90.4328},
        {"llama3.1-8b", "A100-SXM-80", 1, p16, p16, 1000, 1000, 2048, 293.732, 293.732, 57.653, 62.6831,
         3689.28, 12.56},
        {"llama3.1-70b", "H100-SXM", 2, p8, p8, 1000, 1000, 64, 302.109, 64, 66.8344, 24.6697, 2210.93,
         34.5459},
        {"deepseek-v3", "MI300X", 8, p8, p8, 1000, 1000, 64, 1855.46, 64, 27.8245, 29.4089, 2051.96, 32.0619},
        {"deepseek-v3", "MI355X", 8, p8, p8, 8192, 1024, 64, 622.876, 64, 154.94, 24.427, 1876.24, 29.3163},
        {"gpt-oss-120b", "B200-SXM", 1, p4, p8, 8192, 1024, 64, 626.208, 64, 69.1773, 12.5659, 3789.34,
         59.2085},
    };
    for (const Vector& v : vectors) checked(std::string(v.model) + " " + v.gpu, v);
    const Vector small{"llama3.1-8b", "H100-SXM", 1, p8, p8, 1000, 1000, 1, 0, 1, 0, 0, 0, 0};
    const Outcome outcome =
        estimate(reference_model(small.model), reference_machine(small.gpu), load_of(small));
    near("H100 8b prefill", std::get<Estimate>(outcome).prefill_s * 1e3, 14.1857);
    near("H100 8b step", std::get<Estimate>(outcome).step_s * 1e3, 4.44981);
    near("H100 8b", std::get<Estimate>(outcome).tokens_per_s, 224.015);
}

TEST(CostVectors, EveryRowOfTheReference) {
    const std::vector<CsvRow> rows = read_csv("estimator_vectors.csv");
    if (rows.empty()) GTEST_SKIP() << "no estimator_vectors.csv in " << GPUCHECK_SHARED_DIR;
    EXPECT_EQ(rows.size(), 216U);
    for (const CsvRow& row : rows) {
        const auto number = [&](const char* key) { return std::stod(row.at(key)); };
        const Vector v{row.at("model").c_str(),
                       row.at("gpu").c_str(),
                       static_cast<unsigned>(number("n")),
                       *precision_from(row.at("weights")),
                       *precision_from(row.at("kv")),
                       number("isl"),
                       number("osl"),
                       number("concurrency"),
                       number("Bmax"),
                       number("B"),
                       number("prefill_ms"),
                       number("step_ms"),
                       number("out_tok_s"),
                       number("tok_s_user")};
        const std::string what =
            row.at("model") + " " + row.at("gpu") + " x" + row.at("n") + " " + row.at("weights");
        const Estimate e = checked(what, v);
        const UsdPerMillion usd = usd_per_million(e, load_of(v), number("usd_gpu_hr"));
        ASSERT_TRUE(usd.input && usd.output && usd.blended);
        near(what + " in", *usd.input, number("usd_M_in"));
        near(what + " out", *usd.output, number("usd_M_out"));
        near(what + " blended", *usd.blended, number("usd_M_out_blended"));
    }
}

// Milliseconds of weights, GEMM, cache, all-reduce and layers, as the reference breaks one step up.
TEST(CostVectors, TermsOfAStep) {
    struct Anatomy {
        const char* model;
        const char* gpu;
        unsigned group;
        Precision weights;
        double batch, ms[5];
    };
    const std::vector<Anatomy> steps{
        {"llama3.1-8b", "H100-SXM", 1, Precision::fp8, 1, {2.803, 0.014, 0.032, 0, 1.600}},
        {"llama3.1-8b", "H100-SXM", 1, Precision::fp8, 256, {2.803, 3.716, 8.171, 0, 1.600}},
        {"llama3.1-70b", "H100-SXM", 2, Precision::fp8, 256, {12.315, 16.639, 10.213, 3.794, 4.000}},
        {"llama3.1-70b", "MI300X", 1, Precision::fp8, 1, {18.149, 0.130, 0.059, 0, 4.000}},
        {"llama3.1-70b", "MI300X", 8, Precision::fp8, 64, {2.269, 1.040, 0.470, 7.664, 4.000}},
        {"llama3.1-70b", "B200-SXM", 1, Precision::fp4, 256, {6.150, 11.261, 8.861, 0, 4.000}},
        {"gpt-oss-120b", "H200-SXM", 1, Precision::fp4, 64, {14.610, 2.547, 0.452, 0, 1.800}},
    };
    for (const Anatomy& a : steps) {
        Workload load;
        load.weights = a.weights;
        load.kv = Precision::fp8;
        load.group = a.group;
        load.weight_only = true;
        const auto made = step_terms(reference_model(a.model), reference_machine(a.gpu), load, a.batch, 1500);
        const auto* terms = std::get_if<StepTerms>(&made);
        ASSERT_NE(terms, nullptr) << a.model;
        const double ours[5]{terms->weights, terms->gemm, terms->kv, terms->all_reduce, terms->layers};
        for (int i = 0; i < 5; ++i)
            EXPECT_NEAR(ours[i] * 1e3, a.ms[i], 0.0006) << a.model << " " << a.gpu << " " << i;
    }
}

TEST(CostVectors, CalibrationPoints) {
    const std::vector<CsvRow> rows = read_csv("calibration_points.csv");
    if (rows.empty()) GTEST_SKIP() << "no calibration_points.csv in " << GPUCHECK_SHARED_DIR;
    std::vector<double> errors;
    double bias = 0;
    for (const CsvRow& row : rows) {
        Workload load;
        load.weights = *precision_from(row.at("weights"));
        load.kv = *precision_from(row.at("kv"));
        load.group = static_cast<unsigned>(std::stoul(row.at("n_gpu_tp")));
        load.isl = std::stod(row.at("isl"));
        load.osl = std::stod(row.at("osl"));
        load.concurrency = std::stod(row.at("concurrency_or_batch"));
        load.weight_only = true;
        load.shape = row.at("mode") == "static" ? LoadShape::one_batch : LoadShape::saturated;
        if (load.shape == LoadShape::saturated) load.requests = std::stod(row.at("n_requests"));
        const Outcome outcome =
            estimate(reference_model(row.at("model")), reference_machine(row.at("gpu")), load);
        const auto* made = std::get_if<Estimate>(&outcome);
        ASSERT_NE(made, nullptr) << row.at("model") << " " << row.at("isl");
        const double published = std::stod(row.at("measured_out_tok_s"));
        errors.push_back(std::abs(made->tokens_per_s / published - 1));
        bias += std::log(made->tokens_per_s / published);
    }
    ASSERT_EQ(errors.size(), 87U);
    std::sort(errors.begin(), errors.end());
    RecordProperty("median_percent", std::to_string(errors[43] * 100));
    EXPECT_LE(errors[43], 0.05);
    EXPECT_LE(errors[78], 0.21);
    EXPECT_LE(std::abs(bias / 87), 0.03);
    std::cout << "median " << errors[43] * 100 << " %, p90 " << errors[78] * 100 << " %, bias "
              << bias / 87 * 100 << " %\n";
}

}  // namespace
}  // namespace gpucheck::cost
