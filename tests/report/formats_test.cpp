// JUnit, Prometheus, Nagios and HTML: what their readers rely on.
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <set>
#include <sstream>

#include "agent/report/render.h"
#include "tests/checks/healthy.h"
#include "tests/report/samples.h"

namespace gpucheck::report {
namespace {

TEST(Format, NamesBothWays) {
    for (const Format format :
         {Format::text, Format::json, Format::junit, Format::prometheus, Format::nagios, Format::html}) {
        EXPECT_EQ(format_from(name_of(format)), format);
        EXPECT_EQ(render(passing(), format), render(passing(), format))
            << "the same report gives the same bytes";
        EXPECT_TRUE(render(passing(), format).ends_with("\n"));
    }
    for (const char* name : {"", "JSON", "yaml", "invalid", "text "})
        EXPECT_FALSE(format_from(name).has_value()) << name;
}

TEST(Junit, VerdictsBecomeOutcomes) {
    const std::string text = render(failing(), Format::junit);
    EXPECT_TRUE(has(text, R"(<testcase classname="gpucheck.gpu.count" name="host")"));
    EXPECT_TRUE(has(text, R"(<failure message="gpu.count.missing: )"));
    EXPECT_TRUE(has(text, "<system-out>clock.wrong: ")) << "a warning passes and tells";
    EXPECT_TRUE(has(text, R"(<skipped message="does not apply: no AMD GPU"/>)"));
    EXPECT_TRUE(has(text, R"(<skipped message="not checked: telemetry.absent)"));
    EXPECT_TRUE(has(text, R"( tests="11" failures="4" errors="0" skipped="2")")) << text;
    EXPECT_TRUE(has(render(unknowing(), Format::junit), R"(<error message="telemetry.absent)"));
}

TEST(Junit, ARunWithoutChecksIsNotGreen) {
    Report report = passing();
    report.checks.clear();
    EXPECT_TRUE(has(render(report, Format::junit), R"(errors="1")"));
}

TEST(Junit, FindingsOfOneSubjectShareACase) {
    Report report = passing();
    report.checks = {
        line(kLinkCheck, true,
             {finding("a.b", Verdict::warn, "x", "", "", ""), finding("a.c", Verdict::fail, "x", "", "", ""),
              finding("a", Verdict::pass, "y", "", "", "")})};
    const std::string text = render(report, Format::junit);
    EXPECT_TRUE(has(text, R"( tests="2" failures="1")")) << text;
    EXPECT_TRUE(has(text, "a.b: ")) << "the body keeps both";
}

// The grammar of the text format (Prometheus exposition formats 0.0.4), a line at a time.
void check_exposition(const std::string& text, const std::string& name) {
    static const std::regex kHelp(R"(# HELP [a-z_]+ [ -~]+)"), kType(R"(# TYPE ([a-z_]+) gauge)");
    static const std::regex kBare(R"(([a-z_]+) (NaN|[-+]?[0-9.]+(e[-+]?[0-9]+)?))");
    std::set<std::string> families, samples;
    std::istringstream stream(text);
    for (std::string row; std::getline(stream, row);) {
        std::smatch match;
        if (row.starts_with("# HELP")) {
            EXPECT_TRUE(std::regex_match(row, kHelp)) << name << ": " << row;
            continue;
        }
        if (std::regex_match(row, match, kType)) {
            EXPECT_TRUE(families.insert(match[1]).second) << name << ": twice " << row;
            continue;
        }
        // Labels by hand: std::regex recurses on long ones.
        const std::size_t open = row.find('{');
        std::string bare = row, labels;
        if (open != std::string::npos) {
            std::size_t at = open + 1;
            while (at < row.size() && row[at] != '}') {
                const std::size_t equals = row.find("=\"", at);
                ASSERT_NE(equals, std::string::npos) << name << ": " << row.substr(0, 200);
                EXPECT_TRUE(std::regex_match(row.substr(at, equals - at), std::regex("[a-z_]+")));
                at = equals + 2;
                while (at < row.size() && row[at] != '"') {
                    EXPECT_GE(static_cast<unsigned char>(row[at]), 0x20U);
                    if (row[at] == '\\') {
                        ASSERT_LT(at + 1, row.size());
                        EXPECT_TRUE(row[at + 1] == '\\' || row[at + 1] == '"' || row[at + 1] == 'n')
                            << row.substr(0, 200);
                        ++at;
                    }
                    ++at;
                }
                ASSERT_LT(at + 1, row.size()) << name << ": " << row.substr(0, 200);
                ++at;
                if (row[at] == ',') ++at;
            }
            ASSERT_LT(at, row.size());
            bare = row.substr(0, open) + row.substr(at + 1);
        }
        ASSERT_TRUE(std::regex_match(bare, match, kBare)) << name << ": " << bare;
        EXPECT_TRUE(families.contains(match[1])) << name << ": a sample before its TYPE: " << row;
        EXPECT_TRUE(samples.insert(row.substr(0, row.rfind(' '))).second) << name << ": twice " << row;
    }
    EXPECT_TRUE(families.contains("gpucheck_verdict")) << name;
}

TEST(Prometheus, EveryLineFollowsTheGrammar) {
    for (const auto& [name, report] : all_samples())
        check_exposition(render(report, Format::prometheus), name);
}

TEST(Prometheus, SamplesSayWhatAlertsNeed) {
    const std::string text = render(failing(), Format::prometheus);
    EXPECT_TRUE(has(text, "\ngpucheck_verdict 4\n"));
    EXPECT_TRUE(has(text, "\ngpucheck_check_verdict{check=\"pcie.link\"} 4\n"));
    EXPECT_TRUE(
        has(text,
            "gpucheck_finding{code=\"example.link.narrow\",subject=\"0000:19:00.0\",verdict=\"fail\"} 1\n"));
    EXPECT_TRUE(has(text, "gpucheck_finding{code=\"clock.wrong\",subject=\"host\",verdict=\"warn\"} 14\n"));
    EXPECT_TRUE(has(text, "gpucheck_gpus{state=\"expected\"} 8\n"));
    EXPECT_TRUE(has(text, "gpucheck_gpus{state=\"pci\"} 7\n"));
    EXPECT_TRUE(has(text, "gpucheck_gpus{state=\"bound\"} 7\n"));
    EXPECT_TRUE(has(text, "gpucheck_run_timestamp_seconds 1796032800\n"));
    EXPECT_TRUE(has(text, "gpucheck_run_duration_seconds 0.0213\n"));
    EXPECT_TRUE(has(render(unknowing(), Format::prometheus), "\ngpucheck_verdict 3\n"));
}

TEST(Prometheus, WhatWasNotCountedHasNoSample) {
    Report report = empty_machine();
    report.snapshot.host.pci_functions = Missing{"/sys/bus/pci/devices", "EACCES"};
    EXPECT_FALSE(has(render(report, Format::prometheus), "gpucheck_gpus"));
}

TEST(Nagios, OneLineWithStatusAndPerformance) {
    const std::string text = render(failing(), Format::nagios);
    EXPECT_TRUE(text.starts_with("GPUCHECK CRITICAL - gpu-node-01")) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    EXPECT_TRUE(has(text, "gpu.count.missing on host (expected 8 GPUs, observed 7 GPUs)")) << text;
    EXPECT_TRUE(has(text, " | gpus_expected=8 gpus_pci=7 gpus_bound=7 faults=4 unknowns=0 warnings=1"))
        << text;
    EXPECT_TRUE(render(passing(), Format::nagios).starts_with("GPUCHECK OK - "));
    EXPECT_TRUE(render(unknowing(), Format::nagios).starts_with("GPUCHECK UNKNOWN - "));
    EXPECT_TRUE(has(render(unknowing(), Format::nagios), "simulated"));
    Report warning = passing();
    warning.verdict = Verdict::warn;
    EXPECT_TRUE(render(warning, Format::nagios).starts_with("GPUCHECK WARNING - "));
}

TEST(Nagios, FitsEightKibibytesWhateverIsWrong) {
    Report report = failing();
    Findings findings;
    for (int i = 0; i < 500; ++i) {
        static std::vector<std::string> codes;
        if (codes.empty()) {
            for (int k = 0; k < 500; ++k) codes.push_back("made.up" + std::to_string(k));
        }
        findings.push_back(finding(codes[static_cast<std::size_t>(i)], Verdict::fail, "a|b",
                                   std::string(200, 'e'), "\xe6\x97\xa5|", ""));
    }
    report.checks.push_back(line(kKfdCheck, true, findings));
    const std::string text = render(report, Format::nagios);
    EXPECT_LE(text.size(), 8192U);
    EXPECT_EQ(std::count(text.begin(), text.end(), '|'), 1) << "only the performance data begins with a bar";
    EXPECT_TRUE(has(text, "gpus_pci=7"));
}

TEST(Html, OnePageForEverything) {
    const std::string text = render(failing(), Format::html);
    EXPECT_TRUE(text.starts_with("<!DOCTYPE html>"));
    for (const char* part : {"lang=\"en\"", "prefers-color-scheme:dark", "@media print", "<caption>",
                             "scope=\"col\"", "scope=\"row\"", "default-src 'none'", "example.link.narrow",
                             "0000:19:00.0", "timedatectl set-ntp true", "no AMD GPU"}) {
        EXPECT_TRUE(has(text, part)) << part;
    }
    EXPECT_FALSE(has(text, "http://"));
    EXPECT_FALSE(has(text, "https://"));
    EXPECT_LT(text.size(), 20000U);
}

}  // namespace
}  // namespace gpucheck::report
