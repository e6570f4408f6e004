// GPUs that NVML cannot use: each reason with its own verdict, and those that are no fault.
#include <gtest/gtest.h>

#include "tests/nvidia_checks/change.h"

namespace gpucheck {
namespace {

/// NVML gives no handle for the first GPU.
Snapshot without_handle(const char* why) {
    Snapshot machine = telling_h100_x8();
    const Missing missing{"nvmlDeviceGetHandleByPciBusId", why};
    for (NvidiaTelemetry* reading : {&first(machine), &last(machine)}) {
        *reading = NvidiaTelemetry{};
        reading->identity.handle = missing;
    }
    return machine;
}

std::string said_without_handle(const char* why) {
    return said(kNvmlCoverageCheck, without_handle(why));
}

TEST(NvmlCoverage, EachReasonHasItsVerdict) {
    EXPECT_EQ(said_without_handle("GPU_IS_LOST"), "nvml.gpu.lost 0000:19:00.0 fail");
    EXPECT_EQ(said_without_handle("RESET_REQUIRED"), "nvml.gpu.reset_required 0000:19:00.0 fail");
    EXPECT_EQ(said_without_handle("INSUFFICIENT_POWER"), "nvml.gpu.no_power 0000:19:00.0 fail");
    EXPECT_EQ(said_without_handle("IRQ_ISSUE"), "nvml.gpu.no_interrupt 0000:19:00.0 fail");
    EXPECT_EQ(said_without_handle("CORRUPTED_INFOROM"), "nvidia.inforom.corrupt 0000:19:00.0 fail");
    EXPECT_EQ(said_without_handle("NOT_FOUND"), "nvml.gpu.unlisted 0000:19:00.0 fail");
    EXPECT_EQ(said_without_handle("NO_PERMISSION"), "nvml.gpu.denied 0000:19:00.0 unknown");
    EXPECT_EQ(said_without_handle("OPERATING_SYSTEM"), "nvml.gpu.blocked 0000:19:00.0 unknown");
    EXPECT_EQ(said_without_handle("UNKNOWN"), "telemetry.unread 0000:19:00.0 unknown");
    EXPECT_EQ(said_without_handle("did not return within 800 ms"), "telemetry.unread 0000:19:00.0 unknown");
    EXPECT_EQ(said(kNvmlCoverageCheck, telling_h100_x8()), "");
}

TEST(NvmlCoverage, AGpuIsLostBetweenTwoCallsOrReadings) {
    Snapshot machine = telling_h100_x8();
    first(machine, 2).power.temperature_c = Missing{"nvmlDeviceGetTemperature", "GPU_IS_LOST"};
    EXPECT_EQ(said(kNvmlCoverageCheck, machine), "nvml.gpu.lost 0000:39:00.0 fail");
    machine = telling_h100_x8();
    last(machine, 1) = NvidiaTelemetry{};
    last(machine, 1).identity.handle = Missing{"NVML", "GPU_IS_LOST"};
    EXPECT_EQ(said(kNvmlCoverageCheck, machine), "nvml.gpu.lost 0000:29:00.0 fail");
}

TEST(NvmlCoverage, TheOthersAreJudgedAndTheLostOneIsNamedOnce) {
    const Snapshot machine = without_handle("GPU_IS_LOST");
    EXPECT_EQ(said(kNvidiaEccErrorsCheck, machine), "telemetry.unread 0000:19:00.0 unknown");
    EXPECT_EQ(run_check(kNvidiaEccErrorsCheck, machine, Profile::boot).findings.size(), 8U);
}

TEST(NvmlCoverage, ExcludedAndUnpassedGpusAreNoFault) {
    Snapshot machine = without_handle("NOT_FOUND");
    machine.gpus[0].nvidia.excluded = fact(true);
    machine.host.nvml.gpu_count = fact(7U);
    EXPECT_EQ(said(kNvmlCoverageCheck, machine), "");
    machine = without_handle("NOT_FOUND");
    machine.host.container = fact("docker");
    machine.expected.gpu_count = fact(7U);
    machine.host.nvml.gpu_count = fact(7U);
    machine.gpus[0].nodes[0].stat = Missing{"/dev/nvidia0", "ENOENT"};
    EXPECT_EQ(said(kNvmlCoverageCheck, machine), "");
}

TEST(NvmlCoverage, CountsAreCompared) {
    Snapshot machine = telling_h100_x8();
    machine.host.nvml.gpu_count = fact(7U);
    EXPECT_EQ(said(kNvmlCoverageCheck, machine), "nvml.count.short host fail");
    machine.host.nvml.gpu_count = fact(9U);
    EXPECT_EQ(said(kNvmlCoverageCheck, machine), "nvml.count.extra host unknown");
    machine.host.nvml.gpu_count = fact(8U);
    EXPECT_EQ(said(kNvmlCoverageCheck, machine), "");
    // The missing one is named already.
    machine = without_handle("NOT_FOUND");
    machine.host.nvml.gpu_count = fact(7U);
    EXPECT_EQ(said(kNvmlCoverageCheck, machine), "nvml.gpu.unlisted 0000:19:00.0 fail");
}

std::string said_without_library(const char* why) {
    Snapshot machine = telling_h100_x8();
    for (Device& gpu : machine.gpus) gpu.telemetry = Telemetry{};
    machine.host.nvml = NvmlSystem{};
    machine.host.nvml.library = Missing{"libnvidia-ml.so.1", why};
    return said(kNvmlCoverageCheck, machine);
}

TEST(NvmlCoverage, TheLibraryAsAWhole) {
    EXPECT_EQ(said_without_library("ENOENT"), "nvml.library.absent host unknown");
    EXPECT_EQ(said_without_library("DRIVER_NOT_LOADED"), "nvml.driver.not_loaded host fail");
    EXPECT_EQ(said_without_library("nvmlInit_v2: LIB_RM_VERSION_MISMATCH"),
              "driver.library.mismatch libnvidia-ml.so.1 fail");
    EXPECT_EQ(said_without_library("NO_PERMISSION"), "nvml.gpu.denied host unknown");
    EXPECT_EQ(said_without_library("crashed: SIGSEGV"), "telemetry.unread host unknown");
    EXPECT_EQ(said_without_library("not captured"), "telemetry.unread host unknown");
}

TEST(NvmlCoverage, NvmlAndTheModuleTellOneVersion) {
    Snapshot machine = telling_h100_x8();
    machine.host.nvml.driver_version = fact("570.133");  // NVML truncates
    EXPECT_EQ(said(kNvmlCoverageCheck, machine), "");
    machine.host.nvml.driver_version = fact("565.57.01");
    EXPECT_EQ(said(kNvmlCoverageCheck, machine), "driver.version.contradictory host unknown");
}

}  // namespace
}  // namespace gpucheck
