// `gpucheck cost` as somebody with wrong flags, junk files and no price meets it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "agent/cost_command.h"
#include "checks/json/json.h"

namespace gpucheck {
namespace {

struct Ran {
    int status = 0;
    std::string out, err;
};

Ran ran(const cli::CostOptions& options, MachineBoards machine = {"", 0, false, "no GPU found"}) {
    std::ostringstream out, err;
    const int status = run_cost(
        options, {"2026-11-30", [machine] { return std::variant<MachineBoards, std::string>(machine); }}, out,
        err);
    return {status, out.str(), err.str()};
}

class CostCommand : public ::testing::Test {
  protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() / ("gpucheck-cost-" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
        options_.board = "mi300x";
        options_.assume = "published";
        options_.gpus = "8";
        options_.models = {"llama-3.1-70b"};
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string file(const std::string& name, const std::string& text) {
        std::ofstream(folder_ / name) << text;
        return (folder_ / name).string();
    }
    Json json() {
        options_.format = "json";
        const Ran r = ran(options_);
        auto parsed = parse_json(r.out);
        EXPECT_TRUE(std::holds_alternative<Json>(parsed)) << r.out;
        return std::holds_alternative<Json>(parsed) ? std::get<Json>(parsed) : Json();
    }

    /// By value: a loop over a member of a temporary would outlive it.
    Json rows() { return json()["cost"]; }

    std::filesystem::path folder_;
    cli::CostOptions options_;
};

TEST_F(CostCommand, ThreePointsWithEverythingThatBelongsToAFigure) {
    options_.price = {"2"};
    const Json document = json();
    ASSERT_EQ(document["cost"].size(), 3U);
    for (const Json& row : document["cost"]) {
        EXPECT_EQ(row["method"], "analytic");
        EXPECT_EQ(row["basis"]["kind"], "published");
        EXPECT_EQ(row["basis"]["price_usd_gpu_hr"], 2);
        EXPECT_LT(row["band"]["low"], row["tokens_per_s"]);
        EXPECT_TRUE(row["reason"].is_null());
        EXPECT_NEAR(row["usd_per_m_output_blended"].get<double>(),
                    2.0 / 3600 / row["tokens_per_s_per_gpu"].get<double>() * 1e6, 1e-9);
    }
    options_.format = "text";
    const std::string text = ran(options_).out;
    for (const char* part : {"published", "x/1.3", "BLENDED", "30 tok/s", "2.00 USD per GPU-hour"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    }
}

TEST_F(CostCommand, NoPriceIsNullAndNeverZero) {
    for (const std::vector<std::string>& price : {std::vector<std::string>{}, {"0"}}) {
        options_.price = price;
        for (const Json& row : rows()) {
            for (const auto& [key, value] : row.items()) {
                if (key.starts_with("usd_")) {
                    EXPECT_TRUE(value.is_null()) << key;
                }
            }
            EXPECT_TRUE(row["basis"]["price_usd_gpu_hr"].is_null());
            EXPECT_GT(row["tokens_per_s"], 0);
        }
    }
}

TEST_F(CostCommand, NothingMeasuredIsRefused) {
    options_.assume.clear();
    const Ran r = ran(options_);
    EXPECT_EQ(r.status, 2);
    EXPECT_NE(r.err.find("no_measurement"), std::string::npos) << r.err;
    EXPECT_NE(r.err.find("--assume datasheet"), std::string::npos) << r.err;
    EXPECT_EQ(json()["refused"]["reason"], "no_measurement");
}

TEST_F(CostCommand, DatasheetIsLabelledAndWider) {
    options_.assume = "datasheet";
    for (const Json& row : rows()) {
        EXPECT_EQ(row["basis"]["kind"], "datasheet");
        EXPECT_NEAR(row["band"]["high"].get<double>() / row["tokens_per_s"].get<double>(), 1.6, 1e-9);
    }
}

TEST_F(CostCommand, RefusalsAreSaid) {
    options_.weights = "fp4";
    EXPECT_EQ(ran(options_).status, 2);
    EXPECT_EQ(json()["cost"][0]["reason"], "precision_unsupported");
    options_.weights.clear();
    options_.gpus = "1";
    options_.models = {"llama-3.1-405b"};
    EXPECT_EQ(ran(options_).status, 2);
    EXPECT_EQ(json()["cost"][0]["reason"], "does_not_fit");
    EXPECT_EQ(json()["cost"][0]["fits"], false);
    options_.models = {"llama-3.1-8b"};
    options_.board = "h100-pcie-80gb";
    options_.assume = "datasheet";
    options_.gpus = "8";
    options_.group = "2";
    EXPECT_EQ(json()["cost"][0]["reason"], "fabric_unknown");
    options_.fabric = "pcie4";
    EXPECT_TRUE(json()["cost"][0]["reason"].is_null());
}

TEST_F(CostCommand, WrongCommandLines) {
    const auto status = [&](auto change) {
        cli::CostOptions options = options_;
        options.format = "text";
        change(options);
        const Ran r = ran(options);
        EXPECT_TRUE(r.status != 64 || (r.out.empty() && r.err.starts_with("gpucheck cost: "))) << r.err;
        return r.status;
    };
    using O = cli::CostOptions;
    for (const char* bad : {"0", "-1", "nan", "inf", "1e308", "x", "1 2", "0x10"}) {
        EXPECT_EQ(status([&](O& o) { o.isl = bad; }), 64) << bad;
        EXPECT_EQ(status([&](O& o) { o.osl = bad; }), 64) << bad;
        EXPECT_EQ(status([&](O& o) { o.concurrency = bad; }), 64) << bad;
        EXPECT_EQ(status([&](O& o) { o.gpus = bad; }), 64) << bad;
        EXPECT_EQ(status([&](O& o) { o.utilization = bad; }), 64) << bad;
        EXPECT_EQ(status([&](O& o) { o.owned = {std::string("years=") + bad}; }), 64) << bad;
        EXPECT_EQ(status([&](O& o) { o.measured = {std::string("power_w=") + bad}; }), 64) << bad;
        if (std::string(bad) != "0") {
            EXPECT_EQ(status([&](O& o) { o.price = {bad}; }), 64) << bad;
        }
    }
    EXPECT_EQ(status([](O& o) { o.board = "mi300"; }), 64);
    EXPECT_EQ(status([](O& o) { o.assume = "guess"; }), 64);
    EXPECT_EQ(status([](O& o) { o.fabric = "ethernet"; }), 64);
    EXPECT_EQ(status([](O& o) { o.weights = "int4"; }), 64);
    EXPECT_EQ(status([](O& o) { o.kv = "fp4"; }), 64);
    EXPECT_EQ(status([](O& o) { o.group = "3"; }), 64);
    EXPECT_EQ(status([](O& o) { o.models = {"llama-9000b"}; }), 64);
    EXPECT_EQ(status([](O& o) { o.models = {"/nonexistent/config.json"}; }), 64);
    EXPECT_EQ(status([](O& o) { o.models = {"/dev/zero"}; }), 64);
    EXPECT_EQ(status([](O& o) { o.from = "/nonexistent"; }), 64);
    EXPECT_EQ(status([](O& o) { o.from = "/"; }), 64);
    EXPECT_EQ(status([](O& o) { o.from = "-", o.board = "mi300x"; }), 64);
    EXPECT_EQ(status([](O& o) { o.from = "-", o.measured = {"bandwidth_gb_s=1"}; }), 64);
    EXPECT_EQ(status([](O& o) { o.price = {"h100=2"}; }), 64);
    EXPECT_EQ(status([](O& o) { o.market = "bazaar"; }), 64);
    EXPECT_EQ(status([](O& o) { o.scenario = "gaming"; }), 64);
    EXPECT_EQ(status([](O& o) { o.compare = {"h200"}; }), 64);
    EXPECT_EQ(status([](O& o) { o.board = o.assume = "", o.compare = {"--assume", "published"}; }), 64);
    EXPECT_EQ(status([](O& o) { o.measured = {"hbm=1"}; }), 64);
    EXPECT_EQ(status([](O& o) { o.machine.specs_folder = "/nonexistent"; }), 64);
    EXPECT_EQ(status([](O& o) { o.isl = "1e7"; }), 2);  // ten million tokens are a number; they do not fit
}

TEST_F(CostCommand, ReportsWithoutAndWithMeasurements) {
    options_.assume.clear();
    options_.board.clear();
    options_.gpus.clear();
    const std::string head = R"({"schema_version":"1.0","created":"2026-11-30T00:00:00Z","gpus":[)";
    const auto from = [&](const std::string& name, const std::string& text) {
        options_.from = file(name, text);
        return ran(options_);
    };
    for (const char* junk : {"", "{", "[]", "{}", "null", "\xff\xfe", R"({"gpus":7})"})
        EXPECT_EQ(from("j.json", junk).status, 64);
    EXPECT_EQ(from("empty.json", head + "]}").status, 2);
    const std::string gpu =
        R"({"bdf":"0000:19:00.0","board_key":"mi300x","verdict":"pass","memory_bytes":206158430208)";
    Ran r = from("none.json", head + gpu + "}]}");
    EXPECT_EQ(r.status, 2);
    EXPECT_NE(r.err.find("no_measurement"), std::string::npos) << r.err;
    const std::string rates =
        R"(,"measurements":{"memory_copy_gb_s":4180,"bf16_tflops":708,"fp8_tflops":1273,"power_w":600})";
    const std::string slow =
        R"(,"measurements":{"memory_copy_gb_s":3500,"bf16_tflops":708,"fp8_tflops":1273,"power_w":600})";
    EXPECT_EQ(from("one.json", head + gpu + rates + "}," + gpu + slow + "}]}").status, 0);
    options_.price = {"2"};
    const Json document = json();
    EXPECT_EQ(document["cost"][0]["basis"]["kind"], "measured");
    EXPECT_NEAR(document["cost"][0]["basis"]["bw_gbs"].get<double>(), 3500, 1e-9);  // the slowest counts
    EXPECT_GT(document["cost"][0]["gpu_tokens_per_joule"], 0);
    ASSERT_GE(document["shortfalls"].size(), 1U);
    EXPECT_NE(document["shortfalls"][0].get<std::string>().find("HBM bandwidth at 84 %"), std::string::npos);
    options_.format = "text";
    EXPECT_EQ(from("lacks.json", head + gpu + rates + "}," + gpu + "}]}").status, 2)
        << "one GPU was not measured";
    std::string failed = gpu;
    failed.replace(failed.find("pass"), 4, "fail");
    EXPECT_EQ(from("failed.json", head + failed + rates + "}]}").status, 2);
    EXPECT_EQ(from("parts.json", head + gpu + rates + R"(,"partition":{"logical_gpus":8}}]})").status, 2);
    EXPECT_EQ(
        from(
            "unverified.json",
            head + gpu +
                R"(,"measurements":{"memory_copy_gb_s":{"value":4180,"verified":false},"bf16_tflops":708}}]})")
            .status,
        2);
    EXPECT_EQ(from("count.json", R"({"schema_version":"1.0","gpu_count":{"expected":8,"pci":1},"gpus":[)" +
                                     gpu + rates + "}]}")
                  .status,
              2);
}

TEST_F(CostCommand, ComparesAtEachBoardsOwnPrice) {
    options_.board.clear();
    options_.compare = {"mi300x", "h100-sxm-80gb", "h200-sxm-141gb"};
    options_.price = {"h100-sxm-80gb=0.31"};
    const Json document = json();
    ASSERT_EQ(document["winners"].size(), 6U);  // three points, two lengths
    for (const Json& winner : document["winners"]) {
        EXPECT_EQ(winner["by"], "usd_per_m_output_blended");
        EXPECT_EQ(winner["board"], "h100-sxm-80gb");
        EXPECT_LE(winner["best"], winner["second"]);
    }
    options_.price = {"h100-sxm-80gb=0"};
    EXPECT_EQ(json()["winners"][0]["by"], "tokens_per_s_per_gpu")
        << "an unknown price wins no comparison of prices";
    options_.format = "text";
    options_.plot = true;
    const std::string text = ran(options_).out;
    EXPECT_NE(text.find("A mi300x"), std::string::npos) << text;
    EXPECT_NE(text.find("152 days ago"), std::string::npos) << text;
    options_.format = "csv";
    const std::string csv = ran(options_).out;
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 18);
}

TEST_F(CostCommand, TheArticlesTable) {
    options_.check_table =
        file("t.csv",
             "gpu,usd_per_hour,tokens_per_s,usd_per_token\nMI350X,3.2,780,0.00018\nours,3.2,780,1.1396e-6\n");
    const Ran r = ran(options_);
    EXPECT_EQ(r.status, 1);
    EXPECT_NE(r.out.find("line 2 (MI350X): WRONG"), std::string::npos) << r.out;
    EXPECT_NE(r.out.find("158 times too high"), std::string::npos) << r.out;
    EXPECT_NE(r.out.find("line 3 (ours): agrees"), std::string::npos) << r.out;
    for (const char* junk : {"", "a,b\n1,2\n", "\xff\n"}) {
        options_.check_table = file("j.csv", junk);
        EXPECT_EQ(ran(options_).status, 64) << junk;
    }
    options_.check_table = file("n.csv", "usd_per_hour,tokens_per_s,usd_per_token\n0,780,1\nx,y,z\n3.2\n");
    EXPECT_EQ(ran(options_).status, 2);
}

TEST_F(CostCommand, OwningTheArticlesEightGpus) {
    options_.owned = {"usd_per_kwh=0.15", "load=0.8"};
    options_.format = "text";
    Ran r = ran(options_);
    EXPECT_EQ(r.status, 0);
    EXPECT_NE(r.out.find("electricity 0.215 USD"), std::string::npos) << r.out;  // 1.79 kW * 0.8 * 0.15
    EXPECT_TRUE(json()["cost"][0]["usd_per_m_output"].is_null()) << "electricity alone is no price";
    options_.owned.insert(options_.owned.end(), {"capex_usd_per_gpu=20000", "years=4", "availability=0.98"});
    EXPECT_NEAR(json()["cost"][0]["basis"]["price_usd_gpu_hr"].get<double>(),
                20000 / (8760 * 4 * 0.98) + 0.2148, 1e-6);
    options_.price = {"2"};
    EXPECT_EQ(ran(options_).status, 64);
}

TEST_F(CostCommand, ThisMachine) {
    options_.board.clear();
    options_.gpus.clear();
    EXPECT_EQ(ran(options_).status, 2);
    EXPECT_EQ(ran(options_, {"mi300x", 8, false, ""}).status, 0);
    EXPECT_EQ(ran(options_, {"mi300x", 8, true, ""}).status, 2);
    options_.gpus = "4";
    EXPECT_NE(ran(options_, {"mi300x", 8, false, ""}).err.find("gpu_count_mismatch"), std::string::npos);
}

TEST_F(CostCommand, PublishedResults) {
    options_.board = "mi325x";
    options_.models = {"llama-2-70b"};
    options_.scenario = "offline";
    const Json row = json()["cost"][0];
    EXPECT_EQ(row["method"], "reference_scaled") << row.dump();
    EXPECT_NEAR(row["tokens_per_s_per_gpu"].get<double>(),
                row["reference"]["tokens_per_s_per_gpu"].get<double>(), 1e-6);
    options_.board = "mi355x";
    options_.models = {"gpt-oss-120b"};
    const Json unscorable = rows();
    EXPECT_EQ(unscorable[0]["reason"], "unscorable");
    EXPECT_NE(unscorable[0]["reason_text"].get<std::string>().find("how long its prompts"),
              std::string::npos);
}

}  // namespace
}  // namespace gpucheck
