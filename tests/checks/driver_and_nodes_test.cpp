// Every check about GPUs, drivers and nodes keeps silent about healthy machines, survives an empty snapshot
// without a pass about GPUs, and gives each of its subjects a finding.
#include <gtest/gtest.h>

#include <array>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

const std::array<const Check*, 14> kChecks{
    &kGpuCountCheck,      &kGpuExpectedCheck,   &kDriverBoundCheck, &kDriverLoadedCheck, &kDkmsCheck,
    &kDriverVersionCheck, &kKernelVersionCheck, &kFirmwareCheck,    &kBoardCheck,        &kUnitsCheck,
    &kMemoryCheck,        &kNodesCheck,         &kKfdCheck,         &kExcludedCheck};

TEST(GpuAndDriverChecks, SayNothingAboutHealthyMachines) {
    for (const Check* check : kChecks) {
        EXPECT_EQ(said(*check, healthy_h100_x8()), "") << check->id;
        EXPECT_EQ(said(*check, healthy_mi300x_vf()), "") << check->id;
        EXPECT_EQ(said(*check, healthy_mi300x_x8()), "") << check->id;
        EXPECT_EQ(said(*check, healthy_mi300x_x8_cpx()), "") << check->id;
    }
}

TEST(GpuAndDriverChecks, NeverPassASnapshotThatHoldsNothing) {
    for (const Check* check : kChecks) {
        const CheckResult result = run_check(*check, Snapshot{}, Profile::acceptance);
        EXPECT_TRUE(result.verdict == Verdict::unknown || result.verdict == Verdict::not_applicable)
            << check->id;
        if (result.verdict == Verdict::not_applicable) {
            EXPECT_FALSE(result.reason.empty()) << check->id;
        }
    }
}

// GPUs of which nothing but their existence is known: no check may pass or fail them.
TEST(GpuAndDriverChecks, NeitherPassNorFailUnreadGpus) {
    for (const Vendor vendor : {Vendor::nvidia, Vendor::amd}) {
        Snapshot machine;
        machine.gpus.resize(2);
        for (Device& gpu : machine.gpus) gpu.vendor = vendor;
        for (const Check* check : kChecks) {
            for (const Finding& finding : run_check(*check, machine, Profile::acceptance).findings) {
                EXPECT_TRUE(finding.verdict == Verdict::unknown || finding.verdict == Verdict::not_applicable)
                    << check->id << ": " << finding.code << " " << finding.observed;
            }
        }
    }
}

// The same with the driver bound and nothing else readable.
TEST(GpuAndDriverChecks, DoNotFailBoundGpusOfWhichNothingElseIsKnown) {
    for (const Vendor vendor : {Vendor::nvidia, Vendor::amd}) {
        Snapshot machine;
        machine.host.pci_functions = fact(3U);
        machine.gpus.resize(2);
        for (Device& gpu : machine.gpus) {
            gpu.vendor = vendor;
            gpu.pci.driver = fact(vendor == Vendor::amd ? "amdgpu" : "nvidia");
        }
        for (const Check* check : kChecks) {
            const CheckResult result = run_check(*check, machine, Profile::acceptance);
            EXPECT_NE(result.verdict, Verdict::fail) << check->id;
            EXPECT_NE(result.verdict, Verdict::warn) << check->id;
        }
    }
}

TEST(GpuAndDriverChecks, GiveEachGpuAFinding) {
    const Snapshot machine = healthy_h100_x8();
    for (const Check* check : {&kDriverBoundCheck, &kBoardCheck, &kExcludedCheck}) {
        EXPECT_EQ(run_check(*check, machine, Profile::quick).findings.size(), 8U) << check->id;
    }
    EXPECT_EQ(run_check(kNodesCheck, machine, Profile::quick).findings.size(),
              10U);  // and nvidiactl, nvidia-uvm
}

TEST(GpuAndDriverChecks, LeaveGuestsFunctionsOnTheirHostAlone) {
    Snapshot machine = healthy_mi300x_x8();
    for (unsigned i = 0; i < 8; ++i) machine.gpus[i].pci.driver = fact("gim");
    for (unsigned i = 0; i < 8; ++i) {
        Device function = machine.gpus[i];
        function.bdf.function = 1;
        function.pci.has_physfn = fact(true);
        function.pci.driver = fact("vfio-pci");
        machine.gpus.push_back(function);
    }
    for (const Check* check : kChecks) EXPECT_EQ(said(*check, machine), "") << check->id;
}

}  // namespace
}  // namespace gpucheck
