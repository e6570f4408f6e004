// The text report says the right thing in the right place, and fits a terminal.
#include <gtest/gtest.h>

#include <sstream>

#include "agent/report/escape.h"
#include "agent/report/render.h"
#include "tests/checks/healthy.h"
#include "tests/report/samples.h"

namespace gpucheck::report {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::size_t count(const std::string& text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

std::string text_of(const Report& report, RenderOptions options = {}) {
    return render(report, Format::text, options);
}

TEST(Text, FirstLineSaysItAll) {
    const std::string pass = lines_of(text_of(passing()))[0], fail = lines_of(text_of(failing()))[0];
    EXPECT_TRUE(pass.starts_with("PASS: gpu-node-01 (bare metal): 8 of 8 GPUs")) << pass;
    EXPECT_TRUE(fail.starts_with("FAIL: gpu-node-01 (aws p5.48xlarge, bare metal): 7 of 8 GPUs")) << fail;
    EXPECT_TRUE(has(fail, "4 faults")) << fail;
    EXPECT_TRUE(text_of(unknowing()).starts_with("UNKNOWN: "));
}

TEST(Text, APassClaimsNoMoreThanWasChecked) {
    const std::string text = text_of(passing());
    EXPECT_TRUE(has(text, "nothing wrong in what was checked"));
    EXPECT_FALSE(has(text, "What is wrong"));
    EXPECT_TRUE(has(text, "Not checked"));
    EXPECT_TRUE(has(text, "kfd: no AMD GPU"));
    EXPECT_TRUE(has(text, "telemetry: ")) << text;
    EXPECT_TRUE(has(text, "3 checks applied, 2 passed")) << text;
    EXPECT_TRUE(has(text, "Exit status 0"));
}

TEST(Text, FaultsComeWithOwnerAndRemedy) {
    const std::string text = text_of(failing());
    const std::size_t missing = text.find("gpu.count.missing"), narrow = text.find("example.link.narrow"),
                      clock = text.find("clock.wrong");
    EXPECT_LT(missing, narrow);
    EXPECT_LT(narrow, clock) << "the warning comes last";
    EXPECT_TRUE(has(text, "found  7 GPUs, expected 8 GPUs (--expect)"));
    EXPECT_TRUE(has(text, "whoever runs the host"));
    EXPECT_TRUE(has(text, "timedatectl set-ntp true")) << "the remedy of the catalogue";
    EXPECT_TRUE(has(text, "14 times, first 2026-11-30T09:00:00Z, last 2026-11-30T09:59:00Z")) << text;
    EXPECT_TRUE(has(text, "no advice for this code")) << "a code without a row still renders";
    EXPECT_TRUE(has(text, "gpucheck explain gpu.count.missing"));
    EXPECT_TRUE(has(text, "Exit status 1"));
    EXPECT_TRUE(has(text_of(failing(), {.exit_map = ExitMap::nagios}), "Exit status 2"));
}

TEST(Text, AFaultOfManyGpusIsToldOnce) {
    const std::string text = text_of(failing());
    EXPECT_EQ(count(text, "FAIL  example.link.narrow"), 1U);
    EXPECT_TRUE(has(text, "0000:19:00.0, 0000:29:00.0, 0000:39:00.0 (3)")) << text;
}

TEST(Text, TheTableNamesEveryGpu) {
    const Report report = failing();
    const std::string text = text_of(report);
    std::size_t rows = 0;
    for (const std::string& row : lines_of(text)) {
        if (!row.starts_with("0000:")) continue;
        EXPECT_TRUE(has(row, "NVIDIA H100 SXM5 80GB")) << row;
        EXPECT_TRUE(has(row, "nvidia 570.133.20")) << row;
        EXPECT_TRUE(has(row, "Gen5 x16/Gen5 x16")) << row;
        EXPECT_TRUE(row.ends_with(rows < 3 ? "FAIL" : "PASS")) << row;
        ++rows;
    }
    EXPECT_EQ(rows, 7U);
    EXPECT_FALSE(has(text, "Partition")) << "no column without a cell";
}

TEST(Text, AnIdleLinkIsExplained) {
    Report report = passing();
    EXPECT_FALSE(has(text_of(report), "while idle"));
    report.snapshot.gpus[0].pci.link.current_speed = fact(LinkSpeed::gen1);
    const std::string text = text_of(report);
    EXPECT_TRUE(has(text, "Gen1 x16/Gen5 x16"));
    EXPECT_TRUE(has(text, "while idle"));
}

TEST(Text, WhatIsNotKnownShowsAsUnknown) {
    Report report = passing();
    Device& gpu = report.snapshot.gpus[0];
    gpu.board = Missing{"gpus.json", "no row"};
    gpu.pci.driver = Missing{"driver", "EACCES"};
    gpu.pci.link = PciLink{};
    gpu.nodes[0].open_rw = fact("EACCES");
    const std::string text = text_of(report);
    EXPECT_TRUE(has(text, "10de:2330 (no data row)"));
    EXPECT_TRUE(has(text, "? EACCES"));
    EXPECT_TRUE(has(text, "?/?")) << "without a board nobody knows what to expect";
    EXPECT_TRUE(has(text, "0/1 EACCES"));
    EXPECT_TRUE(has(text, "drivers could not be read"));
}

CheckLine unread(const Check& check, std::string why) {
    CheckLine line;
    line.result.check = &check;
    line.result.verdict = Verdict::unknown;
    line.result.findings = {
        finding("telemetry.unread", Verdict::unknown, {}, "an answer", std::move(why), "vendor.json")};
    return line;
}

TEST(Text, ChecksThatMissTheSameShareALine) {
    Report report = passing();
    report.checks = {unread(kLinkCheck, "not captured"), unread(kKfdCheck, "not captured"),
                     unread(kTelemetryCheck, "NO_PERMISSION")};
    const std::string text = text_of(report, {.width = 200});
    EXPECT_EQ(count(text, "not captured"), 1U) << text;
    EXPECT_TRUE(has(text, std::string(kLinkCheck.id) + ", " + std::string(kKfdCheck.id) + ": ")) << text;
    EXPECT_EQ(count(text, "NO_PERMISSION"), 1U) << text;
    EXPECT_FALSE(has(text, "more")) << text;
}

TEST(Text, WithoutAGpuItSaysWhatWasLookedAt) {
    const std::string text = text_of(empty_machine());
    EXPECT_TRUE(text.starts_with("UNKNOWN: plain-vm: no GPU; no check applied, so nothing is known\n"))
        << text;
    EXPECT_TRUE(has(text, "Looked at 17 PCI functions: no GPU of NVIDIA or AMD")) << text;
    EXPECT_TRUE(has(text, "AMD KFD: absent"));
    Report blind = empty_machine();
    blind.snapshot.host.pci_functions = Missing{"/sys/bus/pci/devices", "EACCES"};
    EXPECT_TRUE(has(text_of(blind), "GPUs could not be counted"));
    EXPECT_TRUE(has(text_of(blind), "EACCES"));
}

TEST(Text, ASimulatedRunSaysSo) {
    EXPECT_TRUE(
        has(text_of(unknowing()), "Not a live machine: recorded machine tests/machines/h100-x8, simulated"));
    Report report = passing();
    report.injected = "flip";
    EXPECT_TRUE(has(text_of(report), "fault injected on purpose: flip"));
}

TEST(Text, PartitionsAndCrowdsStayReadable) {
    const std::string partitions = text_of(partitioned());
    EXPECT_EQ(count(partitions, "CPX/NPS4 x8"), 7U) << partitions;
    EXPECT_EQ(count(partitions, "CPX/NPS4 x7"), 1U) << "the GPU that lacks a partition stands out";
    const std::string crowd = text_of(crowded());
    EXPECT_TRUE(has(crowd, "0000:01:00.0 +63")) << crowd;
    EXPECT_TRUE(has(crowd, "64 GPUs (no number was promised)"));
    EXPECT_LT(lines_of(crowd).size(), 15U);
}

TEST(Text, FitsTheTerminal) {
    for (const std::size_t width : {80U, 100U, 120U}) {
        for (const Report& report :
             {passing(), failing(), unknowing(), empty_machine(), partitioned(), crowded()}) {
            for (const std::string& row : lines_of(text_of(report, {.width = width}))) {
                EXPECT_LE(columns(row), width) << row;
            }
        }
    }
}

TEST(Text, ColourOnlyWhenTold) {
    EXPECT_FALSE(has(text_of(failing()), "\x1b"));
    const std::string colour = text_of(failing(), {.colour = true});
    EXPECT_TRUE(colour.starts_with("\x1b[1;31mFAIL\x1b[0m: "));
    std::string stripped = colour;
    for (const char* code : {"\x1b[1;31m", "\x1b[1;32m", "\x1b[1;33m", "\x1b[1;36m", "\x1b[1m", "\x1b[0m"}) {
        for (std::size_t at; (at = stripped.find(code)) != std::string::npos;)
            stripped.erase(at, std::string_view(code).size());
    }
    EXPECT_EQ(stripped, text_of(failing())) << "colour changes nothing else";
}

}  // namespace
}  // namespace gpucheck::report
