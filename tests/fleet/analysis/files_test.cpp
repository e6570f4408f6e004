// Policies and baselines: what is read is what was written, and what cannot be meant is refused with a
// sentence.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "fleet/analysis/files.h"
#include "tests/fleet/generate/synthetic.h"
#include "tests/source_dir.h"

namespace gpucheck::fleet {
namespace {

std::string error_of(const std::string& text) {
    const auto read = read_policy(text, "p.json");
    return std::holds_alternative<std::string>(read) ? std::get<std::string>(read) : "";
}

std::string with_rule(const std::string& members) {
    return R"({"schema_version":1,"name":"x","rules":[{"name":"r","decision":"reject",)" + members + "}]}";
}

TEST(FleetFiles, ThePolicyOfTheHouseIsReadAsWritten) {
    const std::string text = write_policy(default_policy());
    const auto read = read_policy(text);
    ASSERT_TRUE(std::holds_alternative<Policy>(read)) << std::get<std::string>(read);
    EXPECT_EQ(write_policy(std::get<Policy>(read)), text);
    EXPECT_EQ(std::get<Policy>(read).rules.size(), default_policy().rules.size());
}

TEST(FleetFiles, SenselessPoliciesAreRefusedWithASentence) {
    const std::pair<std::string, std::string> refused[] = {
        {"", "p.json"},
        {"[]", "not an object"},
        {R"({"schema_version":2,"name":"x","rules":[]})", "schema_version"},
        {R"({"schema_version":1,"rules":[]})", "name"},
        {R"({"schema_version":1,"name":"x"})", "rules"},
        {R"({"schema_version":1,"name":"x","rules":{}})", "rules"},
        {R"({"schema_version":1,"name":"x","name":"y","rules":[]})", "name"},
        {R"({"schema_version":1,"name":"x","rules":[],"min_grup":4})", "min_grup"},
        {R"({"schema_version":1,"name":"x","rules":[],"min_group":1})", "min_group"},
        {R"({"schema_version":1,"name":"x","rules":[],"min_group":2.5})", "min_group"},
        {R"({"schema_version":1,"name":"x","rules":[],"accept_unknown":"no"})", "accept_unknown"},
        {R"({"schema_version":1,"name":"x","rules":[],"max_reject_share":1.5})", "max_reject_share"},
        {R"({"schema_version":1,"name":"x","rules":[3]})", "rule 1"},
        {R"({"schema_version":1,"name":"x","rules":[{"name":"r","decision":"drop","codes":["a"]}]})", "drop"},
        {R"({"schema_version":1,"name":"x","rules":[{"decision":"reject","codes":["a"]}]})", "name"},
        {with_rule(R"("when":"x<-0.05")"), "when"},
        {with_rule(R"("comment":"nothing")"), "matches nothing"},
        {with_rule(R"("codes":[])"), "codes"},
        {with_rule(R"("codes":["xid*"])"), "xid*"},
        {with_rule(R"("codes":[".*"])"), ".*"},
        {with_rule(R"("codes":"xid")"), "codes"},
        {with_rule(R"("scopes":["mine"])"), "mine"},
        {with_rule(R"("verdicts":["bad"])"), "bad"},
        {with_rule(R"("metric":"memory_*")"), "needs"},
        {with_rule(R"("metric":"mem*ory","ratio_below":0.9)"), "mem*ory"},
        {with_rule(R"("ratio_below":0.9)"), "metric"},
        {with_rule(R"("metric":"*","ratio_below":1.2)"), "ratio_below"},
        {with_rule(R"("metric":"*","z_below":4)"), "z_below"},
        {with_rule(R"("metric":"*","value_below":"low")"), "value_below"},
        {with_rule(R"("missing_metric":true)"), "metric"},
        {with_rule(R"("metric":"*","missing_metric":true,"z_below":-5)"), "missing_metric"},
        {R"({"schema_version":1,"name":"x","rules":[{"name":"r","decision":"accept","metric":"*","z_below":-5}]})",
         "accept"},
        {with_rule(R"("metric":"memory_raed_gb_s","value_below":9)"), "did you mean memory_read_gb_s"},
        {with_rule(R"("metric":"memory_read_gb","value_below":9)"), "did you mean memory_read_gb_s"},
        {with_rule(R"("metric":"memroy_*","ratio_below":0.9)"), "memroy_*"},
        {with_rule(R"("metric":"*_tflop","missing_metric":true)"), "*_tflop"},
        {with_rule(R"("metric":"power_w","value_below":9)"), "never judged"},
        {with_rule(R"("metric":"capacity_bytes","missing_metric":true)"), "never judged"},
        {with_rule(R"("metric":"launch_us","value_below":9)"), "a time is among it"},
        {with_rule(R"("metric":"*","value_below":9)"), "a time is among it"},
        {with_rule(R"("boards":["h100-sxm-80g"])"), "did you mean h100-sxm-80gb"},
        {with_rule(R"("boards":["mi300x","mi300y"])"), "mi300x"},
        {with_rule(R"("codes":["pcie.link.narow"])"), "did you mean pcie.link.narrow"},
        {with_rule(R"("codes":["xid.79","pice.*"])"), "pice.*"},
        {with_rule(R"("codes":["PCIE.LINK.NARROW"])"), "pcie.link.narrow"},
    };
    for (const auto& [text, word] : refused) {
        const std::string error = error_of(text);
        EXPECT_NE(error.find(word), std::string::npos) << text << "\n" << error;
        EXPECT_TRUE(error.starts_with("p.json")) << error;
    }
    EXPECT_EQ(error_of(with_rule(R"("metric":"*_tflops","ratio_below":0.9)")), "");
    EXPECT_EQ(error_of(with_rule(R"("metric":"launch_us","ratio_below":0.9)")), "");
    EXPECT_EQ(error_of(with_rule(R"("metric":"host_link_*","value_below":20)")), "");
    EXPECT_EQ(error_of(with_rule(R"("boards":["mi300x"],"codes":["xid.79","pcie.*","pcie.link.narrow"])")),
              "");
}

TEST(FleetFiles, ABaselineIsLearnedWrittenReadAndApplied) {
    Recipe recipe;
    recipe.nodes = 50;
    const Synthetic healthy = synthetic(recipe);
    const Baseline learned = learn(healthy.fleet, default_policy());
    ASSERT_EQ(learned.rows.size(), 12U) << "power and capacity have no bar";
    EXPECT_EQ(learned.created, "2026-11-01T10:00:49Z");
    const std::string text = write_baseline(learned);
    const auto read = read_baseline(text);
    ASSERT_TRUE(std::holds_alternative<Baseline>(read)) << std::get<std::string>(read);
    const Baseline& baseline = std::get<Baseline>(read);
    EXPECT_EQ(write_baseline(baseline), text);
    const Analysis again = analyse(healthy.fleet, default_policy(), &baseline);
    EXPECT_EQ(again.decision, Decision::accept);
    EXPECT_TRUE(again.groups[0].metrics[0].from_baseline);
    // A fleet that is slow as a whole accepts itself, and not against what another has shown.
    Synthetic slow = synthetic(recipe);
    for (NodeReport& report : slow.fleet.reports) {
        for (Gpu& gpu : report.gpus) {
            for (Value& value : gpu.values) {
                if (slow.fleet.names.text(value.metric).starts_with("memory_")) value.value *= 0.93F;
            }
        }
    }
    EXPECT_EQ(analyse(slow.fleet, default_policy(), nullptr).decision, Decision::accept);
    const Analysis held = analyse(slow.fleet, default_policy(), &baseline);
    EXPECT_EQ(held.decisions.at(Decision::reject), 50U);
}

TEST(FleetFiles, SenselessBaselinesAreRefused) {
    const std::string row =
        R"({"board":"b","instance_type":"","driver":"","profile":"boot","metric":"memory_read_gb_s",)";
    const auto file = [](const std::string& rows) {
        return R"({"schema_version":1,"created":"2026-11-30T00:00:00Z","rows":[)" + rows + "]}";
    };
    const std::string good = row + R"("value":3000,"spread":12,"bar":2900,"kept":80})";
    EXPECT_TRUE(std::holds_alternative<Baseline>(read_baseline(file(good))));
    for (const std::string& text :
         {file(""), file(good + "," + good), file(row + R"("value":3000,"spread":12,"bar":3100,"kept":80})"),
          file(row + R"("value":0,"spread":12,"bar":0,"kept":80})"),
          file(row + R"("value":3000,"spread":-1,"bar":2900,"kept":80})"),
          file(row + R"("value":3000,"spread":9000,"bar":2900,"kept":80})"),
          file(row + R"("value":3000,"spread":12,"bar":2900})"),
          file(row + R"("value":3000,"spread":12,"bar":2900,"kept":80,"mean":3})"), std::string("{}"),
          std::string("nonsense")}) {
        EXPECT_TRUE(std::holds_alternative<std::string>(read_baseline(text))) << text;
    }
}

TEST(FleetFiles, WhatTheDocumentShowsIsTaken) {
    std::ifstream file(GPUCHECK_SOURCE_DIR "/docs/fleet-policy.md");
    std::stringstream all;
    all << file.rdbuf();
    const std::string text = all.str();
    std::size_t policies = 0;
    for (std::size_t at = text.find("```json\n"); at != std::string::npos; at = text.find("```json\n", at)) {
        at += 8;
        const std::string block = text.substr(at, text.find("```", at) - at);
        const bool policy = block.find("\"rules\"") != std::string::npos;
        const auto taken = policy ? read_policy(block) : std::variant<Policy, std::string>(Policy{});
        EXPECT_TRUE(std::holds_alternative<Policy>(taken)) << std::get<std::string>(taken);
        EXPECT_TRUE(policy || std::holds_alternative<Baseline>(read_baseline(block)));
        policies += policy ? 1U : 0U;
    }
    EXPECT_GE(policies, 2U);
}

}  // namespace
}  // namespace gpucheck::fleet
