// Memory and matrix rates against floors and peaks: what is comparable, how it is scaled, what proves a
// fault.
#include <gtest/gtest.h>

#include <limits>

#include "checks/burn_floors.h"
#include "tests/burn_checks/burnt.h"
#include "tests/checks/healthy_amd_telemetry.h"

namespace gpucheck {
namespace {

using U64 = std::uint64_t;

std::vector<const Check*> burn_checks() {
    return {&kBurnMemoryCheck,      &kBurnMatrixCheck, &kBurnUnevenCheck, &kBurnHostLinkCheck,
            &kBurnPeerCheck,        &kBurnLaunchCheck, &kBurnEccCheck,    &kBurnThrottleCheck,
            &kBurnTemperatureCheck, &kBurnPowerCheck};
}

TEST(BurnSpeed, HealthyMachinesSayNothing) {
    for (const Check* check : burn_checks()) {
        for (const Snapshot& machine : {burnt_h100_x8(), burnt_mi300x_x8()}) {
            EXPECT_EQ(said(*check, machine), "") << check->id;
            // Nobody published matrix rates of NVIDIA's boards that are ours to compare.
            const bool none = check == &kBurnMatrixCheck && machine.gpus[0].vendor == Vendor::nvidia;
            EXPECT_EQ(run_check(*check, machine, Profile::boot).verdict,
                      none ? Verdict::not_applicable : Verdict::pass)
                << check->id;
        }
        for (const Snapshot& machine : {healthy_h100_x8(), healthy_mi300x_vf()})
            EXPECT_EQ(run_check(*check, machine, Profile::boot).verdict, Verdict::not_applicable)
                << check->id;
    }
}

TEST(BurnSpeed, WhatWasNotTimedIsNotJudgedByTime) {
    Snapshot machine = burnt_mi300x_x8();
    for (Device& gpu : machine.gpus) {
        each_result(gpu, [](ExperimentResult& result) {
            result.timed = fact(false);
            for (Quantity& quantity : result.quantities) quantity.median = quantity.min = quantity.max = 1e-6;
        });
        gpu.burn_in.load = LoadSamples{};
    }
    for (const Check* check : burn_checks()) {
        const CheckResult result = run_check(*check, machine, Profile::boot);
        EXPECT_EQ(result.verdict, Verdict::not_applicable) << check->id;
        EXPECT_GE(result.findings.size(), 8U) << check->id << ": each GPU is told";
    }
    const CheckResult memory = run_check(kBurnMemoryCheck, machine, Profile::boot);
    EXPECT_NE(memory.findings[0].observed.find("not judged by time"), std::string::npos);
}

TEST(BurnMemory, BelowTheFloorWarnsAndFarBelowFails) {
    Snapshot machine = burnt_mi300x_x8();
    set_rate(machine.gpus[0], "memory_stream", "copy", 4180);
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "");
    set_rate(machine.gpus[0], "memory_stream", "copy", 4170);
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "burn.memory.slow 0000:05:00.0 warn");
    set_rate(machine.gpus[0], "memory_stream", "copy", 3500);
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "burn.memory.slow 0000:05:00.0 fail");
    EXPECT_EQ(expected_by(kBurnMemoryCheck, machine),
              "at least 4177 GB/s (BabelStream Copy; AMD system acceptance guide)");
    EXPECT_EQ(observed_by(kBurnMemoryCheck, machine),
              "memory_stream copy: 3500 GB/s (3465 to 3535 in 10 samples)");
}

TEST(BurnMemory, AFailureNeedsARepeat) {
    Snapshot machine = burnt_mi300x_x8();
    set_rate(machine.gpus[0], "memory_stream", "triad", 2000);
    Quantity& quantity = result_of(machine.gpus[0], "memory_stream", "triad").quantities[0];
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "burn.memory.slow 0000:05:00.0 fail");
    quantity.samples = 2;
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "burn.memory.slow 0000:05:00.0 warn");
    quantity.samples = 10;
    quantity.max = 3900;  // one sample shows that the board can
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "burn.memory.slow 0000:05:00.0 warn");
}

TEST(BurnMemory, DcgmsFigureIsATriad) {
    Snapshot machine = burnt_h100_x8();
    set_rate(machine.gpus[0], "memory_stream", "copy", 1000);  // nothing comparable: burn.uneven sees it
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "");
    set_rate(machine.gpus[0], "memory_stream", "triad", 1906);
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "");
    set_rate(machine.gpus[0], "memory_stream", "triad", 1850);
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "burn.memory.slow 0000:19:00.0 fail");
}

TEST(BurnRate, MoreThanThePeakIsNoMeasurement) {
    Snapshot machine = burnt_h100_x8();
    set_rate(machine.gpus[0], "memory_stream", "read", 3500);  // 104.5 %
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "");
    set_rate(machine.gpus[0], "memory_stream", "read", 3520);
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "burn.rate.implausible 0000:19:00.0 unknown");
    machine = burnt_h100_x8();
    set_rate(machine.gpus[0], "memory_stream", "write", 3800);  // part of it is still in a cache
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "");
    machine = burnt_h100_x8();
    set_rate(machine.gpus[0], "matrix", "bf16", 1100);  // 111 %: above the boost clock of the datasheet
    EXPECT_EQ(said(kBurnMatrixCheck, machine), "");
    set_rate(machine.gpus[0], "matrix", "bf16", 1140);
    EXPECT_EQ(said(kBurnMatrixCheck, machine), "burn.rate.implausible 0000:19:00.0 unknown");
    machine = burnt_mi300x_x8();
    set_rate(machine.gpus[0], "matrix", "bf16", 1400);  // AMD prints the highest clock
    EXPECT_EQ(said(kBurnMatrixCheck, machine), "burn.rate.implausible 0000:05:00.0 unknown");
}

TEST(BurnMatrix, RegistersDoAtLeastWhatMemoryDoes) {
    Snapshot machine = burnt_mi300x_x8();
    set_rate(machine.gpus[0], "matrix", "bf16", 553);
    EXPECT_EQ(said(kBurnMatrixCheck, machine), "");
    set_rate(machine.gpus[0], "matrix", "bf16", 540);
    EXPECT_EQ(said(kBurnMatrixCheck, machine), "burn.matrix.slow 0000:05:00.0 fail");
    result_of(machine.gpus[0], "matrix", "bf16").quantities[0].samples = 1;
    EXPECT_EQ(said(kBurnMatrixCheck, machine), "burn.matrix.slow 0000:05:00.0 warn");
}

TEST(BurnMatrix, OurGemmIsHeldToNobodysFigure) {
    Snapshot machine = burnt_mi300x_x8();
    ExperimentResult gemm = result_of(machine.gpus[0], "matrix", "bf16");
    gemm.experiment = "gemm";
    gemm.quantities[0].name = "rate";
    gemm.quantities[0].median = 300;
    std::vector<ExperimentResult> results = *machine.gpus[0].burn_in.results;
    results.push_back(gemm);
    machine.gpus[0].burn_in.results = fact(results);
    EXPECT_EQ(said(kBurnMatrixCheck, machine), "");
    bool told = false;
    for (const Finding& finding : run_check(kBurnMatrixCheck, machine, Profile::boot).findings)
        told = told || (finding.verdict == Verdict::not_applicable &&
                        finding.observed.find("gemm bf16: 300 TFLOP/s") != std::string::npos);
    EXPECT_TRUE(told);
    results.back().quantities[0].median = 1400;
    machine.gpus[0].burn_in.results = fact(results);
    EXPECT_EQ(said(kBurnMatrixCheck, machine), "burn.rate.implausible 0000:05:00.0 unknown");
}

TEST(BurnSpeed, BoardsWithoutAFloorAreToldSo) {
    Snapshot machine = burnt_h100_x8();
    const CheckResult matrix = run_check(kBurnMatrixCheck, machine, Profile::boot);
    EXPECT_EQ(matrix.verdict, Verdict::not_applicable);
    EXPECT_NE(matrix.findings[0].observed.find("judged against the other GPUs of this machine alone"),
              std::string::npos);
    for (Device& gpu : machine.gpus) gpu.board = Missing{"gpus.json", "no row"};
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "");
    EXPECT_EQ(said(kBurnMatrixCheck, machine), "");
}

TEST(BurnSpeed, FloorsScaleWithPartitionsAndPowerLimits) {
    Snapshot machine = burnt_mi300x_x8();
    Device& gpu = machine.gpus[0];
    gpu.burn_in.units = fact(U64{38});
    set_rate(gpu, "memory_stream", "copy", 525);
    set_rate(gpu, "memory_stream", "triad", 490);
    // A whole GPU that lost units is no partition.
    EXPECT_EQ(said(kBurnMemoryCheck, machine),
              "burn.memory.slow 0000:05:00.0 fail\nburn.memory.slow 0000:05:00.0 fail");
    gpu.amd.kfd_nodes.push_back(gpu.amd.kfd_nodes.front());
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "");
    set_rate(gpu, "memory_stream", "copy", 430);
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "burn.memory.slow 0000:05:00.0 fail");
    EXPECT_EQ(
        expected_by(kBurnMemoryCheck, machine),
        "at least 522.2 GB/s = 4177 GB/s x 38 of 304 units (BabelStream Copy; AMD system acceptance guide)");
    machine = burnt_mi300x_x8();
    set_rate(machine.gpus[0], "matrix", "bf16", 450);
    EXPECT_EQ(said(kBurnMatrixCheck, machine), "burn.matrix.slow 0000:05:00.0 fail");
    machine.gpus[0].burn_in.load.power_limit_w = fact(600.0);  // 441.6 are enough
    EXPECT_EQ(said(kBurnMatrixCheck, machine), "");
    set_rate(machine.gpus[0], "matrix", "bf16", 430);
    EXPECT_EQ(expected_by(kBurnMatrixCheck, machine),
              "at least 441.6 TFLOP/s = 552 TFLOP/s x 600 of 750 W (gst, random data, best interval; RVS)");
}

TEST(BurnSpeed, APartOfUnknownSizeIsNotHeldToAFloor) {
    Snapshot machine = healthy_mi300x_x8_cpx();
    const Snapshot whole = burnt_mi300x_x8();
    for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
        machine.gpus[i].board = whole.gpus[i].board;
        machine.gpus[i].burn_in = whole.gpus[i].burn_in;
        machine.gpus[i].burn_in.units = Missing{"library", "no number of units"};
        set_rate(machine.gpus[i], "memory_stream", "copy", 500);
    }
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "");
}

TEST(BurnSpeed, AVirtualMachineMayLoseThreePercent) {
    Snapshot machine = burnt_mi300x_x8();
    set_rate(machine.gpus[0], "memory_stream", "copy", 4100);
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "burn.memory.slow 0000:05:00.0 warn");
    machine.host.hypervisor = fact("kvm");
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "");
}

TEST(BurnRate, AMissingRateIsUnknown) {
    Snapshot machine = burnt_h100_x8();
    each_result(machine.gpus[0], [](ExperimentResult& result) {
        if (result.experiment == "memory_stream") result.experiment = "memory_pattern";
    });
    result_of(machine.gpus[1], "matrix", "bf16").quantities.clear();
    EXPECT_EQ(said(kBurnMatrixCheck, machine), "") << "e4m3 was timed; some formats are compared alone";
    result_of(machine.gpus[1], "matrix", "e4m3").quantities.clear();
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "burn.rate.unmeasured 0000:19:00.0 unknown");
    EXPECT_EQ(said(kBurnMatrixCheck, machine), "burn.rate.unmeasured 0000:29:00.0 unknown");
    EXPECT_EQ(observed_by(kBurnMatrixCheck, machine),
              "matrix bf16: ended before a second repetition, matrix e4m3: ended before a second repetition");
    EXPECT_TRUE(run_check(kBurnMatrixCheck, machine, Profile::boot).required);
    EXPECT_FALSE(run_check(kBurnMatrixCheck, machine, Profile::quick).required);
    // What failed or was wrong is said by the check burn, once.
    machine = burnt_h100_x8();
    result_of(machine.gpus[0], "memory_stream", "copy").ran = Missing{"stream_copy", "hangs"};
    result_of(machine.gpus[0], "memory_stream", "triad").mismatches = fact(U64{1});
    EXPECT_EQ(said(kBurnMemoryCheck, machine), "");
}

TEST(BurnSpeed, HostileNumbersAreNoRates) {
    Snapshot machine = burnt_mi300x_x8();
    using Limits = std::numeric_limits<double>;
    for (const double bad : {0.0, -5.0, Limits::infinity(), Limits::quiet_NaN()}) {
        set_rate(machine.gpus[0], "memory_stream", "copy", bad);
        machine.gpus[0].burn_in.units = fact(~U64{0});
        for (const Check* check : burn_checks()) EXPECT_EQ(said(*check, machine), "") << check->id << bad;
    }
}

}  // namespace
}  // namespace gpucheck
