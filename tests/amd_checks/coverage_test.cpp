// One GPU that no longer answers beside others that do, of both vendors.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"
#include "tests/checks/healthy_amd_telemetry.h"

namespace gpucheck {
namespace {

void silence(Device& gpu, const char* why) {
    AmdTelemetry& amd = gpu.telemetry.first.amd;
    amd.metrics.layout = Missing{"gpu_metrics", why};
    amd.power_uw = Missing{"power1_input", why};
    amd.gpu_busy_percent = Missing{"gpu_busy_percent", why};
    amd.temperatures = Missing{"hwmon", why};
}

TEST(TelemetryCoverage, OneAmdGpuFails) {
    Snapshot machine = telling_mi300x_x8();
    silence(machine.gpus[2], "EIO");
    EXPECT_EQ(said(kSensorsCoverageCheck, machine), "telemetry.gpu.silent 0000:45:00.0 fail");
    silence(machine.gpus[2], "EACCES");  // not allowed is not sick
    EXPECT_EQ(said(kSensorsCoverageCheck, machine), "");
    silence(machine.gpus[2], "EIO");
    machine.gpus[2].telemetry.first.amd.power_uw = fact(std::uint64_t{1});  // it answers one question
    EXPECT_EQ(said(kSensorsCoverageCheck, machine), "");
}

TEST(TelemetryCoverage, AllOfThemFailIsUnknown) {
    Snapshot machine = telling_mi300x_x8();
    machine.gpus.resize(2);
    for (Device& gpu : machine.gpus) silence(gpu, "ENODEV");
    EXPECT_EQ(said(kSensorsCoverageCheck, machine),
              "telemetry.gpu.silent 0000:05:00.0 unknown\ntelemetry.gpu.silent 0000:25:00.0 unknown");
}

TEST(TelemetryCoverage, NvidiaGpuWithAHandleAndNoAnswer) {
    Snapshot machine = healthy_h100_x8();
    for (Device& gpu : machine.gpus) {
        gpu.telemetry.first.nvidia.identity.handle = fact(true);
        gpu.telemetry.first.nvidia.power.temperature_c = fact(34);
    }
    EXPECT_EQ(said(kSensorsCoverageCheck, machine), "");
    NvidiaTelemetry& sick = machine.gpus[0].telemetry.first.nvidia;
    sick.power.temperature_c = Missing{"nvmlDeviceGetTemperature", "TIMEOUT"};
    EXPECT_EQ(said(kSensorsCoverageCheck, machine), "telemetry.gpu.silent 0000:19:00.0 fail");
    sick.power.temperature_c = Missing{"nvmlDeviceGetTemperature", "GPU_IS_LOST"};  // nvml.coverage says so
    EXPECT_EQ(said(kSensorsCoverageCheck, machine), "");
    sick.power.temperature_c = Missing{"nvmlDeviceGetTemperature", "NOT_SUPPORTED"};
    EXPECT_EQ(said(kSensorsCoverageCheck, machine), "");
}

TEST(TelemetryCoverage, NobodyAskedIsNotApplicable) {
    EXPECT_EQ(run_check(kSensorsCoverageCheck, healthy_mi300x_x8(), Profile::boot).verdict,
              Verdict::not_applicable);
}

}  // namespace
}  // namespace gpucheck
