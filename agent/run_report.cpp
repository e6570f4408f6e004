// See run_report.h.
#include "agent/run_report.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "agent/readiness_wait.h"
#include "agent/report/report_id.h"
#include "agent/run_findings.h"
#include "agent/version.h"
#include "checks/model/check.h"

namespace gpucheck {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Check kRunCheck{.id = "run",
                          .title = "The run itself",
                          .impact = Impact::passive,
                          .required_from = Profile::quick,
                          .applies = nullptr,
                          .judge = nullptr};

}  // namespace

report::CheckLine run_line(Findings findings) {
    report::CheckLine line;
    line.result.check = &kRunCheck;
    line.result.required = true;
    line.result.verdict = Verdict::pass;
    if (findings.empty())
        findings.push_back(finding(kRunCheck.id, Verdict::pass, {}, "ends on time", "it did", ""));
    for (const Finding& each : findings) line.result.verdict = std::max(line.result.verdict, each.verdict);
    line.result.findings = std::move(findings);
    return line;
}

report::Report blank_report(const cli::RunOptions& options) {
    report::Report report;
    report.report_id = report::new_report_id();
    report.created = report::rfc3339_now();
    report.tool_version = kVersion;
    report.profile = options.profile;
    report.simulated = !options.machine.machine.empty() || !options.machine.driver_dir.empty() ||
                       !options.machine.metadata_base.empty() || !options.machine.api_base.empty();
    report.machine = options.machine.machine;
    report.injected = options.inject;
    return report;
}

void judge(report::Report& report) {
    std::vector<CheckResult> results;
    for (const Check& check : all_checks()) {
        const Clock::time_point start = Clock::now();
        report::CheckLine line;
        line.result = run_check(check, report.snapshot, report.profile);
        line.duration_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
        report.checks.push_back(std::move(line));
    }
    if (report.readiness) readiness::excuse(*report.readiness, report.checks);
    for (const report::CheckLine& line : report.checks) results.push_back(line.result);
    report.verdict = aggregate(results);
}

report::Report out_of_time_report(const cli::RunOptions& options,
                                  const std::optional<report::Readiness>& readiness, const Findings& before,
                                  const Outcome& outcome, const Supervision& limits) {
    report::Report report = blank_report(options);
    report.readiness = readiness;
    Findings own = refused_findings(outcome.refused, limits.stall);
    own.insert(own.end(), before.begin(), before.end());
    own.push_back(out_of_time_finding(limits.budget, outcome.last_step));
    report.checks.push_back(run_line(std::move(own)));
    for (const Check& check : all_checks()) {
        report::CheckLine line;
        line.result.check = &check;
        line.result.verdict = Verdict::unknown;
        line.result.reason = "the run ended before it";
        report.checks.push_back(std::move(line));
    }
    report.verdict = Verdict::unknown;
    report.cost.missing = "the run ended before it";
    report.duration_s = std::chrono::duration<double>(limits.budget).count();
    return report;
}

}  // namespace gpucheck
