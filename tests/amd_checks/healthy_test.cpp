// Healthy AMD machines of every kind must not hear a word from any telemetry check.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"
#include "tests/checks/healthy_amd_telemetry.h"

namespace gpucheck {
namespace {

const std::vector<const Check*>& amd_checks() {
    static const std::vector<const Check*> checks{
        &kKfdEccCheck,      &kAmdIdentityCheck, &kAmdRasCheck,         &kAmdBadPagesCheck, &kAmdMetricsCheck,
        &kAmdThrottleCheck, &kAmdClocksCheck,   &kAmdTemperatureCheck, &kAmdPowerCheck,    &kAmdPcieCheck,
        &kAmdXgmiCheck,     &kRocmVersionCheck, &kSensorsCoverageCheck};
    return checks;
}

void expect_silence(const Snapshot& machine) {
    for (const Check* check : amd_checks()) EXPECT_EQ(said(*check, machine), "") << check->id;
    EXPECT_EQ(said(kKfdCheck, machine), "");
}

TEST(AmdHealthy, EightMi300xWithHistoryOfThrottling) {
    expect_silence(telling_mi300x_x8());
    for (const Check* check : amd_checks())
        EXPECT_EQ(run_check(*check, telling_mi300x_x8(), Profile::boot).verdict, Verdict::pass) << check->id;
}

TEST(AmdHealthy, Partitioned) {
    expect_silence(telling_mi300x_x8_cpx());
}

TEST(AmdHealthy, VirtualFunction) {
    const Snapshot machine = telling_mi300x_vf();
    expect_silence(machine);
    for (const Check* check :
         {&kAmdRasCheck, &kAmdBadPagesCheck, &kAmdPcieCheck, &kAmdXgmiCheck, &kAmdClocksCheck}) {
        const CheckResult result = run_check(*check, machine, Profile::boot);
        EXPECT_EQ(result.verdict, Verdict::not_applicable) << check->id;
        ASSERT_EQ(result.findings.size(), 1U) << check->id;
        EXPECT_NE(result.findings.front().observed, "") << check->id;
    }
    EXPECT_EQ(run_check(kAmdTemperatureCheck, machine, Profile::boot).verdict, Verdict::pass);
}

TEST(AmdHealthy, Mi210AndMi350x) {
    expect_silence(telling_mi210_x2());
    expect_silence(telling_mi350x_x8());
}

TEST(AmdHealthy, NothingWasAskedIsOneUnknownPerCheck) {
    const Snapshot machine = healthy_mi300x_x8();
    for (const Check* check : {&kAmdRasCheck, &kAmdBadPagesCheck, &kAmdMetricsCheck, &kAmdThrottleCheck,
                               &kAmdClocksCheck, &kAmdTemperatureCheck, &kAmdPowerCheck, &kAmdPcieCheck}) {
        EXPECT_EQ(said(*check, machine), "telemetry.unread host unknown") << check->id;
        // quick does not require them: they are listed under "not checked".
        EXPECT_FALSE(run_check(*check, machine, Profile::quick).required) << check->id;
    }
}

TEST(AmdHealthy, WithoutAmdGpusNothingApplies) {
    for (const Check* check : amd_checks()) {
        if (check == &kSensorsCoverageCheck) continue;
        EXPECT_EQ(run_check(*check, healthy_h100_x8(), Profile::boot).verdict, Verdict::not_applicable)
            << check->id;
    }
}

/// Absent on bare metal is no answer: the driver makes these files for every Instinct board.
TEST(AmdHealthy, AbsentWhereItShouldBeIsUnknown) {
    Snapshot machine = telling_mi300x_x8();
    AmdTelemetry& amd = machine.gpus[0].telemetry.first.amd;
    amd.ras = Missing{"ras", "ENOENT"};
    amd.bad_pages = Missing{"ras/gpu_vram_bad_pages", "ENOENT"};
    amd.metrics.layout = Missing{"gpu_metrics", "ENOENT"};
    for (const Check* check : {&kAmdRasCheck, &kAmdBadPagesCheck, &kAmdMetricsCheck})
        EXPECT_EQ(said(*check, machine), "telemetry.unread 0000:05:00.0 unknown") << check->id;
}

}  // namespace
}  // namespace gpucheck
