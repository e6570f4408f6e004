// Wrong values fail, what was not looked at is unknown, and a clean and complete run passes.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

Fact<std::uint64_t> number(std::uint64_t value) {
    return {value, "counted"};
}

ExperimentResult clean(const char* experiment, const char* variant) {
    ExperimentResult result;
    result.experiment = experiment;
    result.variant = variant;
    result.ran = Fact<bool>(true, "kernels");
    result.values_checked = result.values_expected = number(1000);
    result.mismatches = number(0);
    result.units_tested = result.units_total = number(132);
    result.bytes_tested = number(std::uint64_t{90} << 30);
    result.bytes_total = number(std::uint64_t{100} << 30);
    result.seed = number(7);
    return result;
}

void set(Device& gpu, std::vector<ExperimentResult> results) {
    gpu.burn_in.results = Fact<std::vector<ExperimentResult>>(std::move(results), "experiments");
}

Snapshot burnt(ExperimentResult result) {
    Snapshot machine = healthy_h100_x8();
    for (Device& gpu : machine.gpus) set(gpu, {clean("matrix", "bf16"), clean("memory_pattern", "random")});
    set(machine.gpus[1], {clean("matrix", "bf16"), std::move(result)});
    return machine;
}

TEST(BurnInCheck, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kBurnInCheck, burnt(clean("memory_stream", "copy"))), "");
    // Nothing ran at all: another check says that.
    EXPECT_EQ(run_check(kBurnInCheck, healthy_h100_x8(), Profile::boot).verdict, Verdict::not_applicable);
    EXPECT_EQ(run_check(kBurnInCheck, healthy_mi300x_vf(), Profile::boot).verdict, Verdict::not_applicable);
}

TEST(BurnInCheck, OneWrongValueFails) {
    ExperimentResult result = clean("memory_pattern", "random");
    result.mismatches = number(1);
    result.repeat = Fact<std::string>("transient", "the same seed");
    MismatchRecord& record = result.records.emplace_back();
    record.offset = number(4096);
    record.unit = number(3);
    record.expected = 8;
    const Snapshot machine = burnt(result);
    EXPECT_EQ(said(kBurnInCheck, machine), "burn.wrong 0000:29:00.0 fail");
    const CheckResult judged = run_check(kBurnInCheck, machine, Profile::boot);
    bool told = false;
    for (const Finding& finding : judged.findings) {
        if (finding.code != "burn.wrong") continue;
        told = true;
        EXPECT_NE(finding.observed.find("offset 0x1000 unit 3, expected 0x8, got 0x0"), std::string::npos)
            << finding.observed;
        EXPECT_NE(finding.observed.find("seed 7"), std::string::npos) << finding.observed;
    }
    EXPECT_TRUE(told);
}

ExperimentResult wrong_on(std::uint64_t units, const char* variant) {
    ExperimentResult result = clean("matrix", variant);
    result.units_tested = result.units_total = number(16);
    result.mismatches = number(units * 10);
    result.repeat = Fact<std::string>("sticky", "the same seed");
    for (std::uint64_t unit = 0; unit < units; ++unit) result.by_unit.push_back({unit, 10});
    return result;
}

TEST(BurnInCheck, AProductWrongOnEveryUnitCondemnsOnlyWhereANeighbourIsRight) {
    const std::string everywhere = "burn.wrong.everywhere 0000:29:00.0 unknown";
    EXPECT_EQ(said(kBurnInCheck, burnt(wrong_on(16, "f16"))), everywhere);
    // Near misses: one unit is right; right with the same seed once more; a fault on purpose; memory.
    const std::string fails = "burn.wrong 0000:29:00.0 fail";
    EXPECT_EQ(said(kBurnInCheck, burnt(wrong_on(15, "f16"))), fails);
    ExperimentResult result = wrong_on(16, "f16");
    result.repeat = Fact<std::string>("transient", "the same seed");
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), fails);
    result = wrong_on(16, "f16");
    result.injected = Fact<std::string>("lane", "--inject");
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), fails);
    result = wrong_on(16, "random");
    result.experiment = "memory_pattern";
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), fails);
    // The others are right in bf16: this GPU is broken. Of another architecture they say nothing.
    Snapshot machine = burnt(wrong_on(16, "bf16"));
    for (Device& gpu : machine.gpus) gpu.burn_in.architecture = Fact<std::string>("sm_90", "cuda");
    EXPECT_EQ(said(kBurnInCheck, machine), fails);
    machine.gpus[1].burn_in.architecture = Fact<std::string>("sm_100", "cuda");
    EXPECT_EQ(said(kBurnInCheck, machine), everywhere);
}

TEST(BurnInCheck, AWholeGpuWithFewerUnitsThanItsBoard) {
    Snapshot machine = burnt(clean("memory_stream", "copy"));
    machine.gpus[1].burn_in.units = number(*machine.gpus[1].board->compute_units);
    EXPECT_EQ(said(kBurnInCheck, machine), "");
    machine.gpus[1].burn_in.units = number(*machine.gpus[1].board->compute_units - 32);
    EXPECT_EQ(said(kBurnInCheck, machine), "") << "a MIG instance, for all that anybody knows";
    machine.gpus[1].telemetry.first.nvidia.state.mig_current = Fact<bool>(false, "NVML");
    EXPECT_EQ(said(kBurnInCheck, machine), "burn.units.short 0000:29:00.0 warn");
}

TEST(BurnInCheck, AnInjectedFaultThatNobodySawIsNoPass) {
    ExperimentResult result = clean("launch", "empty");
    result.injected = Fact<std::string>("bit", "--inject");
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), "burn.inject.unseen 0000:29:00.0 unknown");
    result.mismatches = number(1);
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), "burn.wrong 0000:29:00.0 fail");
    result.mismatches = number(0);
    result.values_checked = number(999);  // a launch that was left out
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), "burn.incomplete 0000:29:00.0 unknown");
    // A path that is not proven on hardware disowns what it found, and keeps where.
    result = clean("matrix", "bf16 wgmma");
    result.injected = Fact<std::string>("lane", "--inject");
    result.ran = Missing{"matrix", "not proven on hardware yet"};
    result.mismatches = Missing{"matrix", "not proven on hardware yet"};
    result.records.emplace_back();
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), "burn.not_run 0000:29:00.0 unknown");
}

TEST(BurnInCheck, AnErrorOfAPairCondemnsNeitherGpu) {
    ExperimentResult result = clean("peer", "direct");
    result.ran = Missing{"cuStreamSynchronize", "CUDA_ERROR_ECC_UNCORRECTABLE"};
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), "burn.fault 0000:29:00.0 fail");
    result.peer = "0000:39:00.0";
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), "burn.not_run 0000:29:00.0 unknown");
}

TEST(BurnInCheck, WrongValuesCountHoweverTheExperimentEnded) {
    ExperimentResult result = clean("matrix", "f16");
    result.mismatches = number(5);
    result.ran = Missing{"cuLaunchKernel", "CUDA_ERROR_LAUNCH_FAILED"};
    EXPECT_EQ(said(kBurnInCheck, burnt(result)),
              "burn.not_run 0000:29:00.0 unknown\nburn.wrong 0000:29:00.0 fail");
}

TEST(BurnInCheck, PartsThatNobodyLookedAtAreNoPass) {
    ExperimentResult result = clean("matrix", "f16");
    result.values_checked = number(999);
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), "burn.incomplete 0000:29:00.0 unknown");
    result = clean("matrix", "f16");
    result.units_tested = number(131);
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), "burn.incomplete 0000:29:00.0 unknown");
    result = clean("matrix", "f16");
    result.values_checked = Missing{"matrix", "not read"};
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), "burn.incomplete 0000:29:00.0 unknown");
    result = clean("memory_pattern", "random");
    result.bytes_tested = number(std::uint64_t{79} << 30);
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), "burn.incomplete 0000:29:00.0 unknown");
    result.bytes_tested = number(std::uint64_t{81} << 30);
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), "");
    // A copy does not have to go through all memory.
    result = clean("memory_stream", "copy");
    result.bytes_tested = number(1U << 30);
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), "");
}

TEST(BurnInCheck, OnlyTheDriversWordForBrokenHardwareIsAFault) {
    ExperimentResult result = clean("matrix", "f16");
    result.ran = Missing{"cuStreamSynchronize", "CUDA_ERROR_ECC_UNCORRECTABLE"};
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), "burn.fault 0000:29:00.0 fail");
    result.ran = Missing{"hipStreamSynchronize", "hipErrorECCNotCorrectable"};
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), "burn.fault 0000:29:00.0 fail");
    for (const char* why : {"CUDA_ERROR_ILLEGAL_ADDRESS", "hangs: no answer within 100 ms", "out of time"}) {
        result.ran = Missing{"cuStreamSynchronize", why};
        EXPECT_EQ(said(kBurnInCheck, burnt(result)), "burn.not_run 0000:29:00.0 unknown") << why;
    }
    result.ran = Missing{"image", "image absent: no image for sm_70"};
    EXPECT_EQ(said(kBurnInCheck, burnt(result)), "burn.image.absent 0000:29:00.0 unknown");
}

TEST(BurnInCheck, GpuWithoutResultsAmongOthers) {
    Snapshot machine = burnt(clean("matrix", "f16"));
    machine.gpus[2].burn_in.results = Missing{"libcuda.so.1", "ENOENT"};
    set(machine.gpus[3], {});
    EXPECT_EQ(said(kBurnInCheck, machine),
              "burn.not_run 0000:39:00.0 unknown\nburn.not_run 0000:49:00.0 unknown");
    machine = healthy_h100_x8();
    machine.gpus[0].burn_in.results = Missing{"NVML", "in use by 2 processes"};
    EXPECT_NE(said(kBurnInCheck, machine), "");
}

}  // namespace
}  // namespace gpucheck
