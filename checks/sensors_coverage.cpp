// Finds the one GPU that no longer answers while its neighbours do: its driver is bound and its files are
// there, and everything read from it fails.
#include <algorithm>
#include <array>

#include "checks/all.h"
#include "checks/amd_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "telemetry.coverage";

enum class Answer : std::uint8_t { answers, failed, silent };

/// Errors of the device, as opposed to those of permissions (EACCES, EPERM), of absence, and of not having
/// asked. A lost GPU is NVML's own word (nvml.coverage); a call that hangs may be one that starts the GPU.
bool device_error(const Missing& missing) {
    static constexpr std::array<std::string_view, 7> kErrors{"EIO",   "ENODEV",    "ENXIO",  "ETIMEDOUT",
                                                             "ETIME", "EREMOTEIO", "TIMEOUT"};
    return std::any_of(kErrors.begin(), kErrors.end(),
                       [&](std::string_view error) { return missing.why.starts_with(error); });
}

template <class T>
void count(const Fact<T>& fact, bool& any, std::string& error) {
    if (fact.known()) {
        any = true;
    } else if (error.empty() && device_error(fact.missing())) {
        error = fact.source() + ": " + fact.why();
    }
}

/// Facts that need the GPU's own firmware to answer, and that each working board has.
Answer answer_of(const Device& gpu, std::string& error) {
    bool any = false;
    if (gpu.vendor == Vendor::amd) {
        const AmdTelemetry& amd = gpu.telemetry.first.amd;
        count(amd.metrics.layout, any, error);
        count(amd.power_uw, any, error);
        count(amd.gpu_busy_percent, any, error);
        if (amd.temperatures.known()) {
            for (const HwmonTemperature& sensor : *amd.temperatures) count(sensor.celsius, any, error);
        } else {
            count(amd.temperatures, any, error);
        }
    } else {
        const NvidiaTelemetry& nvidia = gpu.telemetry.first.nvidia;
        // Without a handle it is nvml.coverage that judges.
        if (!nvidia.identity.handle.is(true)) return Answer::silent;
        count(nvidia.power.temperature_c, any, error);
        count(nvidia.power.power_mw, any, error);
        count(nvidia.clocks.sm_mhz, any, error);
        count(nvidia.pcie.width, any, error);
    }
    if (any) return Answer::answers;
    return error.empty() ? Answer::silent : Answer::failed;
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const std::string expected = "every GPU answers";
    for (const Vendor vendor : {Vendor::nvidia, Vendor::amd}) {
        const Gpus gpus = vendor == Vendor::amd ? usable_amd(snapshot) : usable_nvidia(snapshot);
        if (gpus.empty()) continue;
        std::size_t answering = 0;
        std::string error;
        Findings failed;
        for (const Device* gpu : gpus) {
            std::string why;
            const Answer answer = answer_of(*gpu, why);
            if (answer == Answer::answers) ++answering;
            if (answer == Answer::failed)
                failed.push_back(finding("telemetry.gpu.silent", Verdict::unknown, gpu->bdf, expected, why,
                                         std::string(native_driver(vendor))));
        }
        // One that fails beside others that answer the same questions is sick itself. Where all fail it may
        // be the driver.
        for (Finding& finding : failed) {
            if (answering > 0) finding.verdict = Verdict::fail;
            findings.push_back(std::move(finding));
        }
        if (!failed.empty()) continue;
        const std::string seen = std::to_string(answering) + " of " + count_of(gpus.size(), "GPU");
        findings.push_back(finding(kId, answering == 0 ? Verdict::not_applicable : Verdict::pass, {},
                                   expected, answering == 0 ? "none was asked, or none may be" : seen,
                                   std::string(native_driver(vendor))));
    }
}

NotApplicable applies(const Snapshot& snapshot) {
    if (NotApplicable none = without_any_driven(snapshot)) return none;
    if (usable_amd(snapshot).empty() && usable_nvidia(snapshot).empty())
        return "no GPU is meant for this process";
    return std::nullopt;
}

}  // namespace

const Check kSensorsCoverageCheck{.id = kId,
                                  .title = "GPUs that no longer answer",
                                  .impact = Impact::passive,
                                  .required_from = Profile::boot,
                                  .applies = applies,
                                  .judge = judge};

}  // namespace gpucheck
