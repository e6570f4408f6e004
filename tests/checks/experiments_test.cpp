// The experiments check: boot cannot pass while nobody looked, quick only lists it.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

TEST(Experiments, IsUnknownUntilDone) {
    Snapshot machine = healthy_h100_x8();
    EXPECT_EQ(said(kExperimentsCheck, machine), "experiments.not_run host unknown");
    machine.measurements.experiments = fact(false);
    EXPECT_EQ(said(kExperimentsCheck, machine), "experiments.not_run host unknown");
    machine.measurements.experiments = fact(true);
    EXPECT_EQ(said(kExperimentsCheck, machine), "");
    EXPECT_EQ(run_check(kExperimentsCheck, machine, Profile::boot).verdict, Verdict::pass);
}

TEST(Experiments, OneThatHungIsNotNothing) {
    Snapshot machine = healthy_h100_x8();
    machine.measurements.experiments = Missing{"0000:29:00.0 matrix", "hangs"};
    EXPECT_EQ(said(kExperimentsCheck, machine), "experiments.not_run host unknown");
    ExperimentResult result;
    result.ran = Fact<bool>(true, "kernels");
    machine.gpus[0].burn_in.results = Fact<std::vector<ExperimentResult>>({result}, "experiments");
    EXPECT_EQ(said(kExperimentsCheck, machine), "");
    machine.gpus[0].burn_in.results =
        Fact<std::vector<ExperimentResult>>({ExperimentResult{}}, "experiments");
    EXPECT_EQ(said(kExperimentsCheck, machine), "experiments.not_run host unknown") << "nothing ran there";
}

TEST(Experiments, IsRequiredFromBoot) {
    const Snapshot machine = healthy_h100_x8();
    EXPECT_FALSE(run_check(kExperimentsCheck, machine, Profile::quick).required);
    EXPECT_TRUE(run_check(kExperimentsCheck, machine, Profile::boot).required);
}

TEST(Experiments, NeedsAGpu) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus.clear();
    EXPECT_EQ(run_check(kExperimentsCheck, machine, Profile::boot).verdict, Verdict::not_applicable);
}

}  // namespace
}  // namespace gpucheck
