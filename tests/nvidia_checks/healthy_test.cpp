// Healthy machines of every kind are not blamed, and machines that nobody asked are not passed.
#include <gtest/gtest.h>

#include <set>

#include "tests/nvidia_checks/change.h"

namespace gpucheck {
namespace {

std::vector<const Check*> nvidia_checks() {
    std::vector<const Check*> checks;
    for (const Check& check : all_checks()) {
        if (check.id.starts_with("nvidia.") && check.id != "nvidia.excluded") checks.push_back(&check);
        if (check.id == "nvml.coverage") checks.push_back(&check);
    }
    return checks;
}

void expect_silent(const Snapshot& machine, const char* name) {
    for (const Check* check : nvidia_checks())
        EXPECT_EQ(said(*check, machine), "") << name << " " << check->id;
}

TEST(HealthyNvidia, EveryCheckIsSilent) {
    ASSERT_GT(nvidia_checks().size(), 18U);
    expect_silent(telling_h100_x8(), "H100 x8");
    expect_silent(telling_h100_mig(), "H100 in MIG");
    expect_silent(telling_vgpu(), "vGPU");
    expect_silent(telling_gh200(), "GH200");
    expect_silent(telling_a100_pcie(), "A100 PCIe");
    expect_silent(telling_t4(), "T4");
    expect_silent(telling_h200_guest(), "H200 guest");
    expect_silent(healthy_mi300x_vf(), "MI300X");
}

TEST(HealthyNvidia, EveryCheckPassesSomething) {
    const Snapshot machine = telling_h100_x8();
    for (const Check* check : nvidia_checks()) {
        const CheckResult result = run_check(*check, machine, Profile::boot);
        const bool may_not_apply = check->id == "nvidia.c2c" || check->id == "nvidia.mig" ||
                                   check->id == "nvidia.pages" || check->id == "nvidia.confidential";
        EXPECT_EQ(result.verdict, may_not_apply ? Verdict::not_applicable : Verdict::pass) << check->id;
    }
}

// Nobody asked NVML: no pass, and one line a check.
TEST(HealthyNvidia, WithoutTelemetryNothingPassesAndOneLineIsSaid) {
    Snapshot machine = telling_h100_x8();
    for (Device& gpu : machine.gpus) gpu.telemetry = Telemetry{};
    machine.host.nvml = NvmlSystem{};
    machine.host.units = Missing{"units", "not looked at"};
    for (const Check* check : nvidia_checks()) {
        const CheckResult result = run_check(*check, machine, Profile::boot);
        if (result.verdict == Verdict::not_applicable) {
            EXPECT_EQ(check->id.substr(0, 13) == "nvidia.fabric" || check->id == "nvidia.c2c", true)
                << check->id;
            continue;
        }
        EXPECT_EQ(result.verdict, Verdict::unknown) << check->id;
        EXPECT_LE(result.findings.size(), 2U) << check->id;
        for (const Finding& finding : result.findings)
            EXPECT_EQ(finding.code, "telemetry.unread") << check->id;
        EXPECT_FALSE(run_check(*check, machine, Profile::quick).required) << check->id;
    }
}

// Every fact refused: nothing passes, nothing fails.
TEST(HealthyNvidia, ARefusalIsNeitherGoodNorBad) {
    Snapshot machine = telling_h100_x8();
    for (Device& gpu : machine.gpus) {
        for (Reading* reading : {&gpu.telemetry.first, &gpu.telemetry.last}) {
            reading->nvidia = NvidiaTelemetry{};
            reading->nvidia.identity.handle = fact(true);
            const Missing refused{"NVML", "NO_PERMISSION"};
            NvidiaTelemetry::fields([&](auto... part) {
                const auto refuse = [&](auto& value) {
                    using Part = std::decay_t<decltype(value)>;
                    if constexpr (HasFields<Part>) {
                        Part::fields([&](auto... field) { ((value.*(field.member) = refused), ...); });
                    } else {
                        value = refused;
                    }
                };
                (refuse(reading->nvidia.*(part.member)), ...);
            });
            reading->nvidia.identity.handle = fact(true);
        }
    }
    for (const Check* check : nvidia_checks()) {
        for (const Finding& finding : run_check(*check, machine, Profile::boot).findings) {
            if (finding.subject.id == "host") continue;
            const bool counted = check->id == "nvml.coverage";  // the handle was given
            EXPECT_EQ(finding.verdict, counted ? Verdict::pass : Verdict::unknown)
                << check->id << " " << finding.code;
        }
    }
}

}  // namespace
}  // namespace gpucheck
