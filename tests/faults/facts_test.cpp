// A report that nobody can trust is not read: it may come from anywhere.
#include "providers/render/report_facts.h"

#include <gtest/gtest.h>

#include "providers/render/render.h"

#include "tests/faults/a_report.h"

namespace gpucheck::faults {
namespace {

TEST(ReportFacts, ReadsWhatIsTold) {
    const auto read =
        read_report(dump_json(with(a_report(), {a_finding("gpu.count.missing", "fail", "host", "host")})));
    ASSERT_TRUE(std::holds_alternative<ReportFacts>(read)) << std::get<std::string>(read);
    const auto& facts = std::get<ReportFacts>(read);
    EXPECT_EQ(facts.report_id, "0199f3a0-0000-7000-8000-000000000001");
    EXPECT_TRUE(facts.hostname.is(std::string("gpu-node-01")));
    EXPECT_FALSE(facts.instance_id.known());
    ASSERT_EQ(facts.problems.size(), 1U);
    EXPECT_EQ(facts.problems[0].scope, Scope::host);
    ASSERT_EQ(facts.gpus.size(), 2U);
    EXPECT_TRUE(facts.gpus[0].serial.is(std::string("SN1")));
    EXPECT_FALSE(facts.gpus[1].serial.known()) << "null is not a serial";
}

TEST(ReportFacts, RefusesWhatIsNoReport) {
    const auto refused = [](const Json& document) {
        return std::holds_alternative<std::string>(read_report(dump_json(document)));
    };
    EXPECT_TRUE(std::holds_alternative<std::string>(read_report("")));
    EXPECT_TRUE(refused(Json::array()));
    EXPECT_TRUE(refused(Json::object()));
    for (const char* key : {"schema_version", "report_id", "created", "simulated", "verdict", "findings"}) {
        for (const Json& value : {Json(), Json(1), Json("x"), Json::object()}) {
            Json bad = a_report();
            bad[key] = value;
            EXPECT_TRUE(refused(bad)) << key << " " << value;
        }
        Json bad = a_report();
        bad.erase(key);
        EXPECT_TRUE(refused(bad)) << key;
    }
    Json other = a_report();
    other["schema_version"] = "2.0";
    EXPECT_TRUE(refused(other));
    other = a_report();
    other["report_id"] = "0199f3a0-0000-7000-8000-00000000000/";
    EXPECT_TRUE(refused(other)) << "it goes into URLs";
    for (const char* key : {"code", "verdict", "scope"}) {
        Json finding = a_finding("gpu.count.missing", "fail", "host", "host");
        finding[key] = "";
        EXPECT_TRUE(refused(with(a_report(), {finding}))) << key;
    }
    EXPECT_FALSE(refused(a_report()));
}

TEST(ReportFacts, AnythingInjectedIsInjected) {
    for (const Json& value : {Json("bitflip"), Json(true), Json(1), Json::object()}) {
        Json report = a_report();
        report["injected"] = value;
        EXPECT_FALSE(std::get<ReportFacts>(read_report(dump_json(report))).injected.empty()) << value;
    }
}

TEST(ReportFacts, TamesTexts) {
    Json finding = a_finding("gpu.count.missing", "fail", "host", "host");
    finding["observed"] = "a\r\nX-Injected: 1" + std::string(5000, 'x');
    const auto facts = std::get<ReportFacts>(read_report(dump_json(with(a_report(), {finding}))));
    EXPECT_EQ(facts.problems[0].observed.find('\n'), std::string::npos);
    EXPECT_LE(facts.problems[0].observed.size(), 2000U);
}

// Whatever is left of a report after damage is read or refused, and what is read can be rendered.
TEST(ReportFacts, SurvivesDamage) {
    const std::string whole =
        dump_json(with(a_report(), {a_finding("gpu.count.missing", "fail", "host", "host"),
                                    a_finding("xid.79", "fail", "host", "0000:83:00.0")}),
                  -1);
    const auto& table = std::get<FaultTable>(FaultTable::embedded());
    std::size_t read_again = 0;
    for (std::size_t at = 0; at < whole.size(); at += 5) {
        for (const char byte : {'0', '"', '}', '\x80'}) {
            std::string damaged = whole;
            damaged[at] = byte;
            const auto facts = read_report(damaged);
            const auto* report = std::get_if<ReportFacts>(&facts);
            if (report == nullptr) continue;
            ++read_again;
            for (const Target target : {Target::azure_ghr, Target::nvsentinel, Target::npd})
                EXPECT_LT(text_of(render(target, *report, place_of(*report), table)).size(), 20'000U);
        }
        EXPECT_TRUE(std::holds_alternative<std::string>(read_report(whole.substr(0, at))));
    }
    EXPECT_GT(read_again, 20U);
}

}  // namespace
}  // namespace gpucheck::faults
