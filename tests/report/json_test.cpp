// The JSON report: complete, parseable, and null where nobody knows. validate_schema.py checks its form.
#include <gtest/gtest.h>

#include "agent/report/json_text.h"
#include "agent/report/render.h"
#include "checks/json/json.h"
#include "tests/checks/healthy.h"
#include "tests/report/samples.h"

namespace gpucheck::report {
namespace {

Json json_of(const Report& report) {
    const auto parsed = parse_json(render(report, Format::json));
    const JsonError* error = std::get_if<JsonError>(&parsed);
    EXPECT_EQ(error, nullptr) << (error != nullptr ? error->what : "");
    return error != nullptr ? Json::object() : std::get<Json>(parsed);
}

TEST(JsonReport, HasTheTopLevelOfTheContract) {
    const Json json = json_of(failing());
    for (const char* key :
         {"schema_version", "report_id", "created", "boot_id", "tool", "profile", "duration_s", "simulated",
          "injected", "verdict", "instance", "host", "gpus", "checks", "findings", "not_checked", "cost"}) {
        EXPECT_TRUE(json.contains(key)) << key;
    }
    EXPECT_EQ(json["verdict"], "fail");
    EXPECT_EQ(json["gpu_count"].dump(), R"({"expected":8,"pci":7,"bound":7})");
    EXPECT_EQ(json["instance"]["type"], "p5.48xlarge");
    EXPECT_TRUE(json["injected"].is_null());
    EXPECT_EQ(json["cost"], Json::array());
}

TEST(JsonReport, FindingsCarryNoPass) {
    const Json json = json_of(failing());
    ASSERT_EQ(json["findings"].size(), 5U);
    for (const Json& finding : json["findings"]) EXPECT_NE(finding["verdict"], "pass");
    const Json& clock = json["findings"][4];
    EXPECT_EQ(clock["code"], "clock.wrong");
    EXPECT_EQ(clock["count"], 14);
    EXPECT_EQ(clock["action"], "fix_guest_config");
    EXPECT_EQ(clock["first"], "2026-11-30T09:00:00Z");
    EXPECT_FALSE(clock["remedy"].get<std::string>().empty());
    EXPECT_TRUE(json["findings"][1]["remedy"].is_null()) << "a code without a row";
    EXPECT_EQ(json["findings"][0]["scope"], "host");
}

TEST(JsonReport, ListsEveryCheckAndWhatWasNotChecked) {
    const Json json = json_of(passing());
    ASSERT_EQ(json["checks"].size(), 4U);
    EXPECT_EQ(json["checks"][2]["verdict"], "not_applicable");
    EXPECT_EQ(json["checks"][2]["reason"], "no AMD GPU");
    EXPECT_EQ(json["checks"][1]["findings"], 8);
    EXPECT_EQ(json["checks"][1]["duration_ms"], 0.25);
    ASSERT_EQ(json["not_checked"].size(), 2U);
    EXPECT_EQ(json["not_checked"][0]["check"], "kfd");
    EXPECT_EQ(json["not_checked"][1]["code"], "telemetry.absent");
}

TEST(JsonReport, WhatIsNotKnownIsNullWithAReason) {
    Report report = passing();
    report.snapshot.host.hostname = Missing{"/proc/sys/kernel/hostname", "EACCES"};
    report.snapshot.gpus[0].pci.link.current_speed = fact(LinkSpeed::unknown);
    report.snapshot.gpus[0].board = Missing{"gpus.json", "no row for 10de:2330"};
    const Json json = json_of(report);
    EXPECT_TRUE(json["host"]["hostname"].is_null());
    EXPECT_EQ(json["host"]["missing"]["hostname"].dump(),
              R"({"why":"EACCES","source":"/proc/sys/kernel/hostname"})");
    const Json& gpu = json["gpus"][0];
    EXPECT_TRUE(gpu["link"]["current_generation"].is_null());
    EXPECT_EQ(gpu["link"]["missing"]["current_generation"]["why"], "the kernel says Unknown");
    EXPECT_TRUE(gpu["board_key"].is_null());
    EXPECT_EQ(gpu["missing"]["board_key"]["why"], "no row for 10de:2330");
    EXPECT_TRUE(gpu["link"]["expected_width"].is_null());
    EXPECT_TRUE(gpu["uuid"].is_null());
    EXPECT_EQ(json["gpus"][1]["link"]["current_generation"], 5);
    EXPECT_TRUE(json["boot_id"].is_null());
}

ExperimentResult measured(const char* experiment, const char* variant, double rate, const char* unit) {
    ExperimentResult result;
    result.experiment = experiment;
    result.variant = variant;
    result.ran = result.timed = fact(true);
    result.values_checked = result.values_expected = fact(std::uint64_t{8});
    result.mismatches = fact(std::uint64_t{0});
    result.quantities = {{variant, unit, rate, rate * 0.9, rate * 1.1, 10}};
    return result;
}

TEST(JsonReport, MeasurementsAreFlatAndSoundOnly) {
    Report report = passing();
    BurnIn& burn_in = report.snapshot.gpus[0].burn_in;
    std::vector<ExperimentResult> results{
        measured("memory_stream", "copy", 4210.5, "GB/s"), measured("gemm", "bf16", 701, "TFLOP/s"),
        measured("matrix", "bf16", 812, "TFLOP/s"), measured("gemm", "i8", 1302, "TFLOP/s"),
        measured("host_link", "h2d", 55, "GB/s"), measured("launch", "", 6.5, "us"),
        // none of these may be taken for a rate
        measured("memory_stream", "read", 4500, "GB/s"), measured("gemm", "f16", 700, "TFLOP/s"),
        measured("gemm", "e4m3", 1400, "TFLOP/s"), measured("memory_stream", "triad", 4100, "MB/s"),
        measured("memory_stream", "write", 0, "GB/s"), measured("host_link", "d2h", 54, "GB/s")};
    results[6].timed = fact(false);
    results[7].mismatches = fact(std::uint64_t{1});
    results[8].values_checked = fact(std::uint64_t{7});
    results[11].peer = "0000:29:00.0";
    // A second way to the same units has a name of its own, a library's rate beside ours has none.
    results.push_back(measured("matrix", "bf16 wgmma", 905, "TFLOP/s"));
    results.back().quantities[0].name = "bf16";
    results[1].quantities.push_back({"library", "TFLOP/s", 720, 700, 730, 10});
    burn_in.results = fact(std::move(results));
    burn_in.load.power_w = fact(Quantity{"power", "W", 612.5, 100, 698, 80});
    burn_in.total_bytes = fact(std::uint64_t{85899345920});
    const Json json = json_of(report);
    EXPECT_EQ(
        json["gpus"][0]["measurements"].dump(),
        R"({"memory_copy_gb_s":4210.5,"bf16_tflops":701,"matrix_bf16_tflops":812,"int8_tops":1302,)"
        R"("host_link_h2d_gb_s":55,"launch_us":6.5,"matrix_wgmma_bf16_tflops":905,"power_w":612.5,"capacity_bytes":85899345920})");
    EXPECT_FALSE(json["gpus"][1].contains("measurements")) << "no experiment was run there";
}

TEST(JsonReport, WattsOfAnUntimedRunAreNoMeasurement) {
    Report report = passing();
    BurnIn& burn_in = report.snapshot.gpus[0].burn_in;
    ExperimentResult simulated = measured("memory_stream", "copy", 1, "GB/s");
    simulated.timed = fact(false);
    burn_in.results = fact(std::vector{simulated});
    burn_in.load.power_w = fact(Quantity{"power", "W", 612.5, 100, 698, 80});
    EXPECT_EQ(json_of(report)["gpus"][0]["measurements"].dump(), "{}");
}

// Every null in host, instance and gpus has its reason in the "missing" beside it, and nothing else has.
void nulls_have_reasons(const Json& json, const std::string& where) {
    if (!json.is_object()) return;
    const auto missing = json.find("missing");
    for (const auto& [key, value] : json.items()) {
        if (key == "missing") continue;
        nulls_have_reasons(value, where + "." + key);
        if (missing != json.end() && key != "partition") {
            EXPECT_EQ(value.is_null(), missing->contains(key)) << where << "." << key;
        }
    }
}

TEST(JsonReport, EveryNullHasItsReason) {
    for (const Report& report : {passing(), empty_machine(), partitioned()}) {
        const Json json = json_of(report);
        nulls_have_reasons(json["host"], "host");
        nulls_have_reasons(json["instance"], "instance");
        for (const Json& gpu : json["gpus"]) nulls_have_reasons(gpu, "gpu");
    }
}

TEST(JsonReport, GpuFacts) {
    const Json json = json_of(partitioned());
    const Json& gpu = json["gpus"][7];
    EXPECT_EQ(gpu["bdf"], "0000:e5:00.0");
    EXPECT_EQ(gpu["pci"]["device"], "74b5");
    EXPECT_EQ(gpu["pci"]["class"], "120000");
    EXPECT_EQ(gpu["pci"]["numa_node"], -1);
    EXPECT_EQ(gpu["partition"]["compute"], "CPX");
    EXPECT_EQ(gpu["partition"]["logical_gpus"], 7);
    EXPECT_TRUE(gpu["link"]["path_max_gb_s"].is_null()) << "a path through an emulated port says nothing";
    const Json h100 = json_of(passing())["gpus"][0];
    EXPECT_NEAR(h100["link"]["path_max_gb_s"].get<double>(), 63.0, 0.1);
    EXPECT_TRUE(h100["partition"].is_null());
}

TEST(JsonText, NumbersThatJsonHasNotAreNull) {
    JsonText json;
    json.begin_array()
        .decimal(std::numeric_limits<double>::quiet_NaN())
        .decimal(1e300)
        .decimal(0.1234567)
        .decimal(-0.0004);
    json.number(~std::uint64_t{0}).begin_object().end_object().end_array();
    const auto parsed = parse_json(json.take());
    ASSERT_TRUE(std::holds_alternative<Json>(parsed));
    EXPECT_EQ(std::get<Json>(parsed).dump(), R"([null,1e+300,0.123,0,18446744073709551615,{}])");
}

}  // namespace
}  // namespace gpucheck::report
