// A run that broke off knows nothing about any GPU: whatever it had seen, its report passes none.
#include <gtest/gtest.h>

#include <algorithm>

#include "agent/report/exit_status.h"
#include "agent/run_report.h"
#include "checks/model/check.h"

namespace gpucheck {
namespace {

cli::RunOptions at_boot() {
    cli::RunOptions options;
    options.profile = Profile::boot;
    options.machine.metadata_base = "http://127.0.0.1:1";
    return options;
}

TEST(OutOfTime, EveryCheckIsUnknownAndSoIsTheVerdict) {
    Outcome outcome;
    outcome.kind = Outcome::Kind::out_of_time;
    outcome.last_step = "/sys/class/drm/card1/device/gpu_busy_percent";
    outcome.refused = {"/sys/class/drm/card0/device/gpu_busy_percent"};
    report::Readiness waited;
    waited.ready = true;
    // What was fine before the run does not make it a pass.
    const Findings before{
        finding("run", Verdict::pass, {}, "drivers in time", "after 1 s", "readiness wait")};
    const report::Report report = out_of_time_report(at_boot(), waited, before, outcome, {});
    EXPECT_EQ(report.verdict, Verdict::unknown);
    EXPECT_EQ(report::exit_status(report.verdict, report::ExitMap::standard), 2);
    EXPECT_FALSE(report.cost.missing.empty());
    EXPECT_TRUE(report.simulated);
    ASSERT_TRUE(report.readiness);
    EXPECT_TRUE(report.readiness->ready);
    for (const report::CheckLine& line : report.checks)
        EXPECT_EQ(line.result.verdict, Verdict::unknown) << line.result.check->id;
    for (const Check& check : all_checks()) {
        EXPECT_EQ(std::count_if(report.checks.begin(), report.checks.end(),
                                [&](const auto& line) { return line.result.check == &check; }),
                  1)
            << check.id;
    }
    ASSERT_EQ(report.checks.size(), all_checks().size() + 1);
    std::vector<std::string> codes;
    for (const Finding& each : report.checks.front().result.findings) codes.emplace_back(each.code);
    EXPECT_EQ(codes, (std::vector<std::string>{"host.read.hangs", "run", "run.out_of_time"}));
}

TEST(RunLine, TheWorstOfWhatTheRunHasToSay) {
    const auto of = [](Verdict verdict) { return finding("x", verdict, {}, "a", "b", "c"); };
    EXPECT_EQ(run_line({}).result.verdict, Verdict::pass);
    EXPECT_EQ(run_line({of(Verdict::warn), of(Verdict::pass)}).result.verdict, Verdict::warn);
    EXPECT_EQ(run_line({of(Verdict::unknown), of(Verdict::warn)}).result.verdict, Verdict::unknown);
    EXPECT_TRUE(run_line({}).result.required);
}

TEST(Judge, AMachineOfWhichNothingIsKnownDoesNotPass) {
    report::Report report = blank_report(at_boot());
    EXPECT_EQ(report.verdict, Verdict::unknown);
    judge(report);
    EXPECT_EQ(report.verdict, Verdict::unknown);
    EXPECT_EQ(report.checks.size(), all_checks().size());
}

}  // namespace
}  // namespace gpucheck
