// The expected number: acceptance cannot pass without one, quick and boot only list it.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

TEST(GpuExpected, FiresWithoutAPromiseOnly) {
    Snapshot machine = healthy_h100_x8();
    EXPECT_EQ(said(kGpuExpectedCheck, machine), "");
    machine.expected.gpu_count = fact(0U);  // a promise of none is a promise
    EXPECT_EQ(said(kGpuExpectedCheck, machine), "");
    machine.expected.gpu_count = Missing{"instances.json", "no row for gpu-x"};
    EXPECT_EQ(said(kGpuExpectedCheck, machine), "gpu.count.unasserted host unknown");
    EXPECT_EQ(complaints(kGpuExpectedCheck, machine).front().observed,
              "8 GPUs present; expected number: no row for gpu-x");
}

TEST(GpuExpected, IsRequiredFromAcceptance) {
    Snapshot machine = healthy_h100_x8();
    machine.expected.gpu_count = Missing{"", "not stated"};
    const auto verdict = [&](Profile profile) {
        return aggregate(
            {run_check(kGpuCountCheck, machine, profile), run_check(kGpuExpectedCheck, machine, profile)});
    };
    EXPECT_EQ(verdict(Profile::quick), Verdict::pass);
    EXPECT_EQ(verdict(Profile::boot), Verdict::pass);
    EXPECT_EQ(verdict(Profile::acceptance), Verdict::unknown);
}

}  // namespace
}  // namespace gpucheck
