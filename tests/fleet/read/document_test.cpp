// Single documents: a report read whole, and each way in which one is none.
#include "fleet/show/show.h"
#include "tests/fleet/read/samples.h"

namespace gpucheck::fleet {
namespace {

Fleet read(const Json& document) {
    Fleet fleet;
    EXPECT_EQ(add_document(fleet, document.dump(), {}).value_or(""), "");
    return fleet;
}

TEST(Document, KeepsWhatADecisionNeeds) {
    Json report = sample_report(7);
    report["verdict"] = "fail";
    report["findings"].push_back(sample_finding("fail"));
    report["created"] = "2026-11-30T12:00:00.25+02:00";
    const Fleet fleet = read(report);
    ASSERT_EQ(fleet.reports.size(), 1U);
    const NodeReport& node = fleet.reports.front();
    const auto text = [&](Name name) { return fleet.names.text(name); };
    EXPECT_EQ(node.node, "node-7");
    EXPECT_EQ(node.key, "aws/i-7");
    EXPECT_EQ(node.created, "2026-11-30T10:00:00Z");
    EXPECT_EQ(text(node.driver), "nvidia 570.133.20");
    EXPECT_EQ(node.gpus_expected, 2);
    EXPECT_FLOAT_EQ(node.usd_per_hour, 20.72F);
    ASSERT_EQ(node.gpus.size(), 2U);
    EXPECT_EQ(node.gpus[1].identity, "161001");
    EXPECT_EQ(text(node.gpus[0].firmware), "96.00.99.00.01");
    ASSERT_EQ(node.gpus[0].values.size(), 3U);
    EXPECT_EQ(text(node.gpus[0].values[0].metric), "bf16_tflops");
    EXPECT_FLOAT_EQ(node.gpus[0].values[2].value, 3021.75F);
    ASSERT_EQ(node.problems.size(), 1U);
    EXPECT_EQ(node.problems[0].gpu, 0);
    EXPECT_EQ(node.checks.size(), 7U);
    EXPECT_FALSE(node.verified);
}

TEST(Document, KeepsHowAGpuIsCutAndLinked) {
    Json report = sample_report(1);
    report["gpu_count"]["bound"] = 1;  // the other was not driven
    report["gpus"][1]["measurements"] = Json::object();
    report["gpus"][0]["link"] = {{"current_generation", 1}, {"current_width", 8}};
    report["gpus"][0]["mig"] = true;
    report["gpus"][0]["mig_instances"] = 7;
    report["gpus"][1]["partition"] = {{"compute", "CPX"}, {"memory", "NPS4"}};
    report["gpus"][1]["memory_bytes"] = 206141652992;
    report["gpus"][1]["link"] = {{"current_generation", 1}, {"current_width", 16}};
    report["gpus"][1]["experiments"]["load"] = {{"link_generation_max", 5}, {"link_width_min", 4}};
    Fleet fleet = read(report);
    for (int turn = 0; turn < 2; ++turn) {
        const NodeReport& node = fleet.reports.front();
        EXPECT_EQ(node.gpus_bound, 1);
        EXPECT_EQ(node.gpus_found, 2);
        EXPECT_EQ(fleet.names.text(node.gpus[0].mode), "MIG 7");
        EXPECT_EQ(fleet.names.text(node.gpus[1].mode), "CPX/NPS4");
        EXPECT_NEAR(node.gpus[0].memory_gib, 79.6, 0.1) << "what an experiment saw of it";
        EXPECT_NEAR(node.gpus[1].memory_gib, 192, 0.1);
        EXPECT_EQ(node.gpus[0].link_width, 8);
        EXPECT_EQ(node.gpus[0].link_generation, 0) << "at rest is not under load";
        EXPECT_EQ(node.gpus[1].link_width, 4) << "the narrowest under load";
        EXPECT_EQ(node.gpus[1].link_generation, 5);
        EXPECT_EQ(node.gpus[1].link_generation_rest, 1);
        fleet = read(Json::parse(condensed(fleet, node)));
    }
    report["gpus"][0]["mig"] = false;
    report["gpus"][0]["link"] = {{"current_generation", 63}, {"current_width", 63}};
    report["gpus"][1].erase("partition");
    report["gpu_count"]["bound"] = nullptr;
    const Fleet whole = read(report);
    EXPECT_EQ(whole.names.text(whole.reports[0].gpus[0].mode), "whole");
    EXPECT_EQ(whole.reports[0].gpus[1].mode, kNoName) << "not known is not whole";
    EXPECT_EQ(whole.reports[0].gpus_bound, -1);
    EXPECT_EQ(whole.reports[0].gpus[0].link_width, 0) << "what a GPU off the bus answers";
    for (const auto& [place, value] :
         std::vector<std::pair<const char*, Json>>{{"/gpus/0/link/current_width", -4},
                                                   {"/gpus/0/link", 16},
                                                   {"/gpus/0/mig", "on"},
                                                   {"/gpus/1/memory_bytes", -1},
                                                   {"/gpus/1/experiments/load/link_width_min", "x16"},
                                                   {"/gpus/1/partition", "CPX"}}) {
        Json wrong = report;
        wrong[Json::json_pointer(place)] = value;
        EXPECT_NE(error_of(wrong.dump()), "") << place;
    }
}

TEST(Document, NamesAMachineByWhatIsKnown) {
    Json report = sample_report(1);
    report["host"]["hostname"] = nullptr;
    EXPECT_EQ(read(report).reports[0].node, "aws/i-1");
    report["instance"]["id"] = nullptr;
    EXPECT_EQ(read(report).reports[0].node, "boot/00000000-0000-4000-8000-000000000001");
    EXPECT_EQ(read(report).reports[0].key, "boot/00000000-0000-4000-8000-000000000001");
    report["boot_id"] = nullptr;
    EXPECT_NE(error_of(report.dump()).find("names no machine"), std::string::npos);
}

TEST(Document, IgnoresMembersItDoesNotKnow) {
    Json report = sample_report(1);
    report["schema_version"] = "1.99";
    report["future"] = {{"deep", {1, 2, 3}}};
    report["gpus"][0]["future"] = true;
    report["gpus"][0]["measurements"]["future_gb_s"] = 5;
    EXPECT_EQ(read(report).reports[0].gpus[0].values.size(), 4U);
}

TEST(Document, MissingMembersHaveNoDefault) {
    for (const char* name :
         {"schema_version", "report_id", "created", "boot_id", "tool", "profile", "simulated", "injected",
          "verdict", "gpu_count", "instance", "host", "gpus", "checks", "findings", "cost"}) {
        Json report = sample_report(1);
        report.erase(name);
        const std::string error = error_of(report.dump());
        EXPECT_NE(error.find(name), std::string::npos) << name << ": " << error;
    }
    for (const char* name : {"bdf", "board_key", "verdict"}) {
        Json report = sample_report(1);
        report["gpus"][1].erase(name);
        EXPECT_NE(error_of(report.dump()).find(std::string("gpus[1].") + name), std::string::npos) << name;
    }
}

TEST(Document, WrongTypesAreSaidWithTheirPlace) {
    const std::vector<std::pair<const char*, Json>> wrong = {{"/schema_version", 1},
                                                             {"/schema_version", "2.0"},
                                                             {"/schema_version", "1."},
                                                             {"/report_id", "x"},
                                                             {"/created", "yesterday"},
                                                             {"/profile", "fast"},
                                                             {"/simulated", "no"},
                                                             {"/verdict", "good"},
                                                             {"/verdict", "not_applicable"},
                                                             {"/gpu_count", 8},
                                                             {"/gpu_count/pci", -1},
                                                             {"/gpu_count/pci", 2.5},
                                                             {"/gpu_count/pci", 1e300},
                                                             {"/instance", "aws"},
                                                             {"/host", Json::array()},
                                                             {"/host/hostname", 7},
                                                             {"/gpus", Json::object()},
                                                             {"/gpus/0", 3},
                                                             {"/gpus/0/bdf", ""},
                                                             {"/gpus/0/verdict", "ok"},
                                                             {"/gpus/0/measurements", 5},
                                                             {"/gpus/0/measurements/x", -1},
                                                             {"/gpus/0/measurements/x", "fast"},
                                                             {"/gpus/0/measurements/x", 1e200},
                                                             {"/gpus/0/measurements/x", nullptr},
                                                             {"/checks/0/required", 1},
                                                             {"/checks/0/id", ""},
                                                             {"/cost/0/tokens_per_s", "many"},
                                                             {"/gpus/1/bdf", "0000:10:00.0"}};
    for (const auto& [place, value] : wrong) {
        Json report = sample_report(1);
        report[Json::json_pointer(place)] = value;
        EXPECT_NE(error_of(report.dump()), "") << place << " " << value;
    }
    for (const auto& [member, value] : {std::pair("scope", "cloud"), std::pair("action", "pray"),
                                        std::pair("verdict", "pass"), std::pair("code", "")}) {
        Json report = sample_report(1);
        report["verdict"] = "fail";
        report["findings"].push_back(sample_finding("fail"));
        ASSERT_EQ(error_of(report.dump()), "");
        report["findings"][0][member] = value;
        EXPECT_NE(error_of(report.dump()).find("findings[0]"), std::string::npos) << member;
    }
}

TEST(Document, WhatIsSaidTwiceMeansNothing) {
    const std::string text = sample_report(1).dump();
    const std::vector<std::pair<std::string, std::string>> twice = {
        {R"("verdict":"pass","gpu_count")", R"("verdict":"fail","verdict":"pass","gpu_count")"},
        {R"("bf16_tflops":742.53)", R"("bf16_tflops":742.53,"bf16_tflops":999)"},
        {R"("simulated":false)", R"("simulated":true,"simulated":false)"}};
    for (const auto& [once, doubled] : twice) {
        std::string spoiled = text;
        spoiled.replace(spoiled.find(once), once.size(), doubled);
        EXPECT_NE(error_of(spoiled).find("twice"), std::string::npos) << doubled;
    }
}

TEST(Document, BytesThatAreNoReport) {
    const std::string good = sample_report(1).dump();
    std::string nul = good, latin = good, cut = good.substr(0, good.size() / 2);
    nul[nul.find("node-1")] = '\0';
    latin[latin.find("node-1")] = '\xe9';
    std::string escaped = good;
    escaped.replace(escaped.find("node-1"), 6, "a\\u0000b");
    std::string deep = good;
    deep.insert(1, "\"deep\":" + std::string(5000, '[') + std::string(5000, ']') + ",");
    std::string huge = good;
    huge.replace(huge.find("742.53"), 6, "1e999");
    for (const std::string& text :
         {std::string(), std::string("null"), std::string("[]"), std::string("{}"), std::string("7"), nul,
          latin, escaped, cut, deep, huge, good + "x", good + good,
          std::string("{\"payloadType\":\"x\",\"payload\":\"\",\"signatures\":[]}"), std::string(200, '{')}) {
        EXPECT_NE(error_of(text), "") << text.substr(0, 60);
    }
    EXPECT_NE(error_of(deep).find("deeper"), std::string::npos);
    EXPECT_NE(error_of(latin).find("UTF-8"), std::string::npos);
    EXPECT_NE(error_of(escaped).find("control character"), std::string::npos);
    std::string bulky = good;
    bulky.insert(1, "\"pad\":\"" + std::string(std::size_t{9} << 20U, 'x') + "\",");
    EXPECT_NE(error_of(bulky).find("larger"), std::string::npos);
    std::string text = good;
    text.replace(text.find("node-1"), 6, std::string(600, 'n'));
    EXPECT_NE(error_of(text).find("host.hostname"), std::string::npos);
}

TEST(Document, APassBesideAFaultIsNoPass) {
    Json report = sample_report(1);
    report["findings"].push_back(sample_finding("fail"));
    EXPECT_NE(error_of(report.dump()).find("contradicts itself"), std::string::npos);
    report["findings"][0]["verdict"] = "warn";
    EXPECT_NE(error_of(report.dump()).find("contradicts itself"), std::string::npos);
    report["verdict"] = "warn";
    EXPECT_EQ(error_of(report.dump()), "");
    report["verdict"] = "fail";  // worse than its findings: fail is never too careful
    EXPECT_EQ(error_of(report.dump()), "");

    report = sample_report(1);
    report["checks"][0]["verdict"] = "fail";
    EXPECT_NE(error_of(report.dump()).find("contradicts itself"), std::string::npos);
    report["checks"][0]["verdict"] = "unknown";
    EXPECT_NE(error_of(report.dump()).find("contradicts itself"), std::string::npos);
    report["checks"][0]["required"] = false;  // as if nobody had to count the GPUs
    EXPECT_NE(error_of(report.dump()).find("its check gpu.count ended with unknown"), std::string::npos);
    for (Json& check : report["checks"]) {
        if (check["id"] != "run") check["verdict"] = "not_applicable";
    }
    EXPECT_NE(error_of(report.dump()).find("none of its checks passed"), std::string::npos);

    report = sample_report(1);
    report["gpus"][1]["verdict"] = "fail";
    EXPECT_NE(error_of(report.dump()).find("0000:11:00.0"), std::string::npos);
    report["gpus"][1]["verdict"] = "unknown";  // nobody had to look at it
    EXPECT_EQ(error_of(report.dump()), "");

    report["gpu_count"]["pci"] = 3;
    EXPECT_NE(error_of(report.dump()).find("counts 3 GPUs and shows 2"), std::string::npos);
    report["gpu_count"]["pci"] = nullptr;
    EXPECT_EQ(error_of(report.dump()), "");
}

TEST(Document, ChecksThatWereCutOut) {
    for (const char* claim : {"pass", "warn", "unknown"}) {
        for (const char* id :
             {"run", "gpu.count", "driver.loaded", "driver.bound", "nodes.access", "pcie.width"}) {
            Json report = sample_report(1);
            report["verdict"] = claim;
            Json& checks = report["checks"];
            checks.erase(std::find_if(checks.begin(), checks.end(),
                                      [&](const Json& each) { return each["id"] == id; }));
            EXPECT_EQ(error_of(report.dump()),
                      std::string("was cut or changed: its check ") + id + " is missing");
        }
    }
    Json report = sample_report(1);
    report["checks"] = Json::array({{{"id", "run"}, {"verdict", "pass"}, {"required", true}}});
    EXPECT_NE(error_of(report.dump()), "");
    report["verdict"] = "fail";
    EXPECT_EQ(error_of(report.dump()), "") << "a fault is believed with less";
    report = sample_report(1);
    report["checks"].erase(1);
    EXPECT_EQ(error_of(report.dump()), "") << "another version makes other checks";
    Fleet fleet = read(sample_report(1));
    fleet.reports[0].checks.resize(1);
    EXPECT_NE(error_of(condensed(fleet, fleet.reports[0])).find("was cut or changed"), std::string::npos);
}

TEST(Document, WhateverSaysRehearsalIsOne) {
    for (const Json& said :
         {Json(""), Json("ecc"), Json(true), Json(0), Json(Json::array()), Json({{"a", 1}})}) {
        Json report = sample_report(1);
        report["injected"] = said;
        EXPECT_TRUE(read(report).reports[0].injected) << said;
        report = sample_report(1);
        report["machine"] = said;
        EXPECT_TRUE(read(report).reports[0].simulated) << said;
    }
    for (const Json& said : {Json(nullptr), Json(false)}) {
        Json report = sample_report(1);
        report["injected"] = report["machine"] = said;
        EXPECT_FALSE(read(report).reports[0].injected) << said;
        EXPECT_FALSE(read(report).reports[0].simulated) << said;
    }
    Json report = sample_report(1);
    report.erase("machine");
    EXPECT_FALSE(read(report).reports[0].simulated);
}

TEST(Document, NoHostNameIsAnotherMachinesKey) {
    const auto key = [](const char* provider, const char* id, const char* hostname) {
        Json report = sample_report(1);
        report["instance"]["provider"] = provider != nullptr ? Json(provider) : Json(nullptr);
        report["instance"]["id"] = id != nullptr ? Json(id) : Json(nullptr);
        report["host"]["hostname"] = hostname != nullptr ? Json(hostname) : Json(nullptr);
        return read(report).reports[0].key;
    };
    const std::vector<std::string> keys = {key("aws", "i-1", "n"),
                                           key(nullptr, nullptr, "aws/i-1"),
                                           key("aws", nullptr, "aws%2Fi-1"),
                                           key("a", "b/c", "n"),
                                           key("a/b", "c", "n"),
                                           key("a%2Fb", "c", "n"),
                                           key(nullptr, nullptr, nullptr),
                                           key("boot", "00000000-0000-4000-8000-000000000001", "n"),
                                           key(nullptr, "x", "boot/00000000-0000-4000-8000-000000000001")};
    for (std::size_t i = 0; i < keys.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) EXPECT_NE(keys[i], keys[j]) << i << " " << j;
    }
    EXPECT_EQ(keys[0], "aws/i-1");
    EXPECT_EQ(key(nullptr, nullptr, "node.rack-7"), "node.rack-7");
}

TEST(Document, APlaceholderIsNobodysNumber) {
    for (const char* serial :
         {"0", "0000000000000", "N/A", "unknown", "ffffffffffffffff", " ", "Not Available"}) {
        Json report = sample_report(1);
        report["gpus"][1]["serial"] = serial;
        EXPECT_EQ(read(report).reports[0].gpus[1].identity, "GPU-1") << serial;
    }
    for (const char* uuid : {"GPU-00000000-0000-0000-0000-000000000000", "0000000000000000"}) {
        Json report = sample_report(1);
        report["gpus"][1]["serial"] = nullptr;
        report["gpus"][1]["uuid"] = uuid;
        EXPECT_EQ(read(report).reports[0].gpus[1].identity, "") << uuid;
    }
}

TEST(Condensed, ComesBackAsItWas) {
    Json report = sample_report(3, 0.1);
    report["verdict"] = "fail";
    report["findings"].push_back(sample_finding("fail"));
    report["findings"][0]["subject"] = "/dev/\xe2\x80\xae\"quoted\"\\";
    report["gpus"][0]["measurements"]["launch_us"] = 3.4028234e38;
    report["gpus"][0]["measurements"]["tiny"] = 1e-44;
    report["gpus"][0]["measurements"]["zero"] = 0;
    report["gpus"][1].erase("measurements");
    report["gpus"][1]["serial"] = nullptr;
    const Fleet first = read(report);
    const std::string line = condensed(first, first.reports[0]);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    Fleet second;
    second.names.intern("another number for the same names");
    ASSERT_EQ(add_document(second, line, {}).value_or(""), "");
    EXPECT_EQ(condensed(second, second.reports[0]), line);
    const NodeReport &a = first.reports[0], &b = second.reports[0];
    EXPECT_EQ(a.gpus[0].values.size(), b.gpus[0].values.size());
    for (std::size_t i = 0; i < a.gpus[0].values.size(); ++i) {
        EXPECT_EQ(a.gpus[0].values[i].value, b.gpus[0].values[i].value);
    }
    EXPECT_EQ(b.problems[0].gpu, -1);
    EXPECT_EQ(b.usd_per_hour, a.usd_per_hour);
    EXPECT_EQ(b.costs[0].tokens_per_s, a.costs[0].tokens_per_s);
    EXPECT_EQ(b.gpus[1].identity, "GPU-1");
}

TEST(Condensed, IsReadAsStrictlyAsAReport) {
    const Fleet fleet = read(sample_report(3));
    const Json good = Json::parse(condensed(fleet, fleet.reports[0]));
    ASSERT_EQ(error_of(good.dump()), "");
    const std::vector<std::pair<const char*, Json>> wrong = {{"/gpucheck_condensed", "2.0"},
                                                             {"/report_id", "x"},
                                                             {"/created", "2026-11-30T12:00:00+02:00"},
                                                             {"/verdict", "good"},
                                                             {"/node", ""},
                                                             {"/key", "aws/"},
                                                             {"/key", "gcp/i-3"},
                                                             {"/key", "node-4"},
                                                             {"/injected", ""},
                                                             {"/profile", "fast"},
                                                             {"/gpus/0", Json::array()},
                                                             {"/gpus/0/3", "fine"},
                                                             {"/gpus/0/6", "x"},
                                                             {"/gpus/0/0", 5},
                                                             {"/checks/0/1", "fail"},
                                                             {"/checks/0", Json::array({"a", "pass", "b"})},
                                                             {"/costs/0/2", -1},
                                                             {"/gpus_found", -3},
                                                             {"/gpus/1/0", "0000:10:00.0"}};
    for (const auto& [place, value] : wrong) {
        Json spoiled = good;
        spoiled[Json::json_pointer(place)] = value;
        EXPECT_NE(error_of(spoiled.dump()), "") << place << " " << value;
    }
    Json swapped = good;
    std::swap(swapped["gpus"][0][5], swapped["gpus"][0][7]);
    EXPECT_NE(error_of(swapped.dump()).find("order"), std::string::npos);
}

}  // namespace
}  // namespace gpucheck::fleet
