// A check that applies and says nothing is unknown: silence never becomes a pass.
#include <gtest/gtest.h>

#include "checks/model/check.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

void nothing(const Snapshot&, Findings&) {}
void pass(const Snapshot&, Findings& findings) {
    findings.push_back(finding("test", Verdict::pass, {}, "1", "1", "test"));
}

TEST(SilentCheck, IsUnknownAndASpeakingOneIsNot) {
    const Check silent{
        .id = "test", .title = "Test", .impact = Impact::passive, .applies = nullptr, .judge = nothing};
    EXPECT_EQ(said(silent, healthy_h100_x8()), "check.silent host unknown");
    EXPECT_EQ(run_check(silent, healthy_h100_x8(), Profile::quick).verdict, Verdict::unknown);
    const Check speaking{
        .id = "test", .title = "Test", .impact = Impact::passive, .applies = nullptr, .judge = pass};
    EXPECT_EQ(said(speaking, healthy_h100_x8()), "");
}

}  // namespace
}  // namespace gpucheck
