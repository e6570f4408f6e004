// Running a check and folding verdicts: the two places where a "yes" could slip through.
#include "checks/model/check.h"

#include <gtest/gtest.h>

namespace gpucheck {
namespace {

void silent(const Snapshot&, Findings&) {}
void passes(const Snapshot&, Findings& findings) {
    findings.push_back(finding("a", Verdict::pass, {}, "", "", ""));
}
void unsure(const Snapshot&, Findings& findings) {
    findings.push_back(finding("a.unread", Verdict::unknown, {}, "", "", ""));
    findings.push_back(finding("a", Verdict::pass, "b", "", "", ""));
}
void warns(const Snapshot&, Findings& findings) {
    findings.push_back(finding("a.odd", Verdict::warn, {}, "", "", ""));
}
NotApplicable never(const Snapshot&) {
    return "no AMD GPU";
}

Check check(Judge judge, Profile required_from = Profile::quick, Applies applies = nullptr) {
    return {.id = "a",
            .title = "A",
            .impact = Impact::passive,
            .required_from = required_from,
            .applies = applies,
            .judge = judge};
}
Verdict verdict(std::initializer_list<Check> checks, Profile profile = Profile::quick) {
    std::vector<CheckResult> results;
    const std::vector<Check> list(checks);
    for (const Check& each : list) results.push_back(run_check(each, Snapshot{}, profile));
    return aggregate(results);
}

TEST(Check, SilenceIsUnknownAndNeverAPass) {
    const Check mute = check(silent);
    const CheckResult result = run_check(mute, Snapshot{}, Profile::quick);
    ASSERT_EQ(result.findings.size(), 1U);
    EXPECT_EQ(result.findings[0].code, "check.silent");
    EXPECT_EQ(result.verdict, Verdict::unknown);
    const CheckResult spoken = run_check(check(passes), Snapshot{}, Profile::quick);
    EXPECT_NE(spoken.findings[0].code, "check.silent");
}

TEST(Check, WhatDoesNotApplySaysWhy) {
    const Check other = check(passes, Profile::quick, never);
    const CheckResult result = run_check(other, Snapshot{}, Profile::quick);
    EXPECT_EQ(result.verdict, Verdict::not_applicable);
    EXPECT_EQ(result.reason, "no AMD GPU");
    EXPECT_TRUE(result.findings.empty());
}

TEST(Aggregate, TheWorstCounts) {
    EXPECT_EQ(verdict({check(passes)}), Verdict::pass);
    EXPECT_EQ(verdict({check(passes), check(warns)}), Verdict::warn);
    EXPECT_EQ(verdict({check(warns), check(unsure)}), Verdict::unknown);
}

TEST(Aggregate, AnUnknownCountsFromTheProfileThatRequiresIt) {
    const Check later = check(unsure, Profile::boot);
    EXPECT_EQ(verdict({later}, Profile::quick), Verdict::pass);
    EXPECT_EQ(verdict({later}, Profile::boot), Verdict::unknown);
    EXPECT_EQ(verdict({later}, Profile::acceptance), Verdict::unknown);
}

TEST(Aggregate, NothingAppliedIsUnknown) {
    EXPECT_EQ(verdict({}), Verdict::unknown);
    EXPECT_EQ(verdict({check(passes, Profile::quick, never)}), Verdict::unknown);
}

}  // namespace
}  // namespace gpucheck
