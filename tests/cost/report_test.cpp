// What a report says that tokens cost, and that `gpucheck cost --from` says the same of it.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "agent/cost_answer.h"
#include "agent/cost_command.h"
#include "agent/report/render.h"
#include "checks/json/json.h"

namespace gpucheck {
namespace {

template <class T>
Fact<T> fact(T value) {
    return Fact<T>(std::move(value), "test");
}

ExperimentResult result_of(const char* experiment, const char* variant, const char* unit, double median) {
    ExperimentResult result;
    result.experiment = experiment;
    result.variant = variant;
    result.ran = fact(true);
    result.timed = fact(true);
    result.values_checked = result.values_expected = fact<std::uint64_t>(1000);
    result.mismatches = fact<std::uint64_t>(0);
    result.quantities = {{variant, unit, median, median * 0.99, median * 1.01, 9}};
    return result;
}

ExperimentResult& copy_of(report::Report& report, std::size_t gpu) {
    std::vector<ExperimentResult> results = *report.snapshot.gpus[gpu].burn_in.results;
    report.snapshot.gpus[gpu].burn_in.results = fact(std::move(results));
    return const_cast<std::vector<ExperimentResult>&>(*report.snapshot.gpus[gpu].burn_in.results)[0];
}

/// Eight MI300X as the data say that healthy ones are, but one whose memory copies at 3500 GB/s; 2.10 USD for
/// a GPU and hour.
report::Report measured() {
    const auto boards = BoardTable::load();
    report::Report report;
    report.report_id = "0197a2c4-0000-7000-8000-000000000001";
    report.created = "2026-11-30T10:00:00Z";
    report.profile = Profile::boot;
    report.verdict = Verdict::pass;
    for (unsigned i = 0; i < 8; ++i) {
        Device gpu;
        gpu.bdf = Bdf{0, static_cast<std::uint8_t>(0x10 + i), 0, 0};
        gpu.vendor = Vendor::amd;
        gpu.board = fact(*std::get<BoardTable>(boards).find("mi300x"));
        gpu.burn_in.results = fact(std::vector<ExperimentResult>{
            result_of("memory_stream", "copy", "GB/s", i == 3 ? 3500 : 4180),
            result_of("gemm", "bf16", "TFLOP/s", 708), result_of("gemm", "e4m3", "TFLOP/s", 1273)});
        gpu.burn_in.total_bytes = fact<std::uint64_t>(206'141'652'992);
        gpu.burn_in.load.power_w = fact(Quantity{"power", "W", 640, 600, 700, 50});
        report.snapshot.gpus.push_back(gpu);
    }
    report.snapshot.instance.price = fact(HourlyPrice{fact(16.8), fact(2.1), fact<std::string>("on-demand"),
                                                      fact<std::string>("2026-11-01"), fact(false)});
    return report;
}

class CostOfReport : public ::testing::Test {
  protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() / ("gpucheck-cost-of-" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    Json parsed(const std::string& text) {
        auto json = parse_json(text);
        EXPECT_TRUE(std::holds_alternative<Json>(json)) << text.substr(0, 2000);
        return std::holds_alternative<Json>(json) ? std::get<Json>(json) : Json();
    }
    /// The report with its costs, as JSON.
    Json written(report::Report report) {
        report.cost = cost_of(report, "");
        text_ = report::render_json(report);
        return parsed(text_);
    }
    /// `gpucheck cost --from` of what written() wrote.
    Json read_back(const std::vector<std::string>& price = {}) {
        cli::CostOptions options;
        options.from = (folder_ / "report.json").string();
        options.format = "json";
        options.price = price;
        std::ofstream(options.from) << text_;
        std::ostringstream out, err;
        status_ = run_cost(options, {"2026-11-30", nullptr}, out, err);
        return parsed(out.str());
    }

    std::filesystem::path folder_;
    std::string text_;
    int status_ = 0;
};

TEST_F(CostOfReport, IsWhatTheCommandSaysOfIt) {
    const Json report = written(measured());
    ASSERT_EQ(report["cost"].size(), 12U);  // four models at three points
    EXPECT_TRUE(report["cost_missing"].is_null());
    const Json command = read_back();
    EXPECT_EQ(status_, 0);
    EXPECT_EQ(report["cost"], command["cost"]);
    EXPECT_EQ(report["cost_shortfalls"], command["shortfalls"]);
    EXPECT_EQ(report["cost_notes"], command["notes"]);
    int estimated = 0;
    for (const Json& row : report["cost"]) {
        EXPECT_EQ(row["basis"]["kind"], "measured");
        EXPECT_EQ(row["basis"]["bw_gbs"], 3500) << "the slowest GPU counts";
        EXPECT_EQ(row["basis"]["price_usd_gpu_hr"], 2.1);
        EXPECT_EQ(row["basis"]["price_market"], "on-demand");
        if (!row["reason"].is_null()) continue;
        ++estimated;
        EXPECT_GT(row["usd_per_m_output"], 0);
        EXPECT_GT(row["gpu_tokens_per_joule"], 0);
    }
    EXPECT_GE(estimated, 10);
    ASSERT_GE(report["cost_shortfalls"].size(), 1U);
    EXPECT_NE(report["cost_shortfalls"][0].get<std::string>().find("HBM bandwidth at 84 %"),
              std::string::npos);
    EXPECT_NE(report["cost_notes"].dump().find("BabelStream"), std::string::npos)
        << "what healthy is measured with";
    // Somebody's own price goes before the report's.
    EXPECT_EQ(read_back({"3"})["cost"][0]["basis"]["price_usd_gpu_hr"], 3);
}

TEST_F(CostOfReport, PeopleReadItBelowWhatIsWrong) {
    report::Report report = measured();
    report.cost = cost_of(report, "");
    const std::string text = report::render_text(report, {});
    for (const char* part :
         {"What a token costs", "llama-3.1-70b", "the slowest GPU", "2.10 USD per", "slow: "})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    report.cost = {};
    report.cost.missing = "no experiment was run on a GPU";
    EXPECT_NE(report::render_text(report, {}).find("Not estimated: no experiment"), std::string::npos);
    report.profile = Profile::quick;
    EXPECT_EQ(report::render_text(report, {}).find("What a token costs"), std::string::npos);
}

TEST_F(CostOfReport, WithoutAPriceNoDollar) {
    for (const double usd : {0.0, -2.0, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
        report::Report report = measured();
        report.snapshot.instance.price = Missing{"--price", "not given"};
        if (usd != 0) report.snapshot.instance.price = fact(HourlyPrice{fact(usd), fact(usd), {}, {}, {}});
        const Json json = written(report);
        ASSERT_EQ(json["cost"].size(), 12U);
        for (const Json& row : json["cost"]) {
            for (const auto& [key, value] : row.items()) {
                if (key.starts_with("usd_")) {
                    EXPECT_TRUE(value.is_null()) << key;
                }
            }
        }
        EXPECT_EQ(json["cost"], read_back()["cost"]);
    }
}

TEST_F(CostOfReport, NothingSoundIsNothing) {
    const auto missing = [&](const report::Report& report) {
        const Json json = written(report);
        EXPECT_TRUE(json["cost"].empty());
        EXPECT_EQ(read_back()["cost"], json["cost"]);
        EXPECT_EQ(status_, 2);
        return json["cost_missing"].get<std::string>();
    };
    report::Report report = measured();
    for (Device& gpu : report.snapshot.gpus) gpu.burn_in = {};
    EXPECT_EQ(missing(report), "no experiment was run on a GPU");
    report.snapshot.gpus.clear();
    EXPECT_EQ(missing(report), "no GPU was found");
    // One GPU of eight whose number means nothing: a simulated device, a value that nobody compared, a wrong
    // one, no number.
    const auto spoiled = [&](auto spoil) {
        report = measured();
        spoil(copy_of(report, 5));
        return missing(report);
    };
    const std::string unmeasured = "no_measurement: the report has no measured bandwidth";
    EXPECT_TRUE(spoiled([](ExperimentResult& r) { r.timed = fact(false); }).starts_with(unmeasured));
    EXPECT_TRUE(spoiled([](ExperimentResult& r) {
                    r.values_checked = fact<std::uint64_t>(999);
                }).starts_with(unmeasured));
    EXPECT_TRUE(
        spoiled([](ExperimentResult& r) { r.mismatches = fact<std::uint64_t>(1); }).starts_with(unmeasured));
    EXPECT_TRUE(spoiled([](ExperimentResult& r) { r.quantities[0].median = NAN; }).starts_with(unmeasured));
    EXPECT_TRUE(spoiled([](ExperimentResult& r) { r.ran = Missing{"", "hangs"}; }).starts_with(unmeasured));
    report = measured();
    report.injected = "flip";
    EXPECT_NE(missing(report).find("injected fault"), std::string::npos);
    report = measured();
    report.snapshot.expected.gpu_count = fact(9U);
    EXPECT_TRUE(missing(report).starts_with("gpu_count_mismatch"));
    report = measured();
    static const Check kCheck{.id = "example", .title = "An example"};
    report::CheckLine line;
    line.result.check = &kCheck;
    line.result.required = true;
    line.result.verdict = Verdict::fail;
    line.result.findings = {
        finding("example.bad", Verdict::fail, report.snapshot.gpus[2].bdf.str(), "a", "b", "c")};
    report.checks = {line};
    EXPECT_NE(missing(report).find("a failed GPU gets no tokens/s"), std::string::npos);
}

TEST_F(CostOfReport, AStrangersPriceIsNoPrice) {
    const Json whole = written(measured());
    for (const char* price :
         {"null", "7", "[]", "\"2\"", "{}", R"({"gpu_usd":"2"})", R"({"gpu_usd":-2})", R"({"gpu_usd":0})",
          R"({"gpu_usd":1e300})", R"({"gpu_usd":[2]})", R"({"gpu_usd":{"value":2,"verified":false}})"}) {
        Json report = whole;
        report["instance"]["price"] = parsed(price);
        text_ = report.dump();
        const Json rows = read_back()["cost"];
        ASSERT_EQ(rows.size(), 12U) << price;
        EXPECT_TRUE(rows[0]["usd_per_m_output"].is_null()) << price;
    }
    Json report = whole;
    report["instance"]["price"]["source"] = std::string(100000, 'x');
    text_ = report.dump();
    EXPECT_LE(read_back()["cost"][0]["basis"]["price_source"].get<std::string>().size(), 80U);
}

}  // namespace
}  // namespace gpucheck
