// Finds GPUs that are in the fabric and not well there: degraded bandwidth, unhealthy routes, a wrong
// configuration. Collectives then run slowly or stop, on this GPU's account.
#include <array>
#include <string>

#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.fabric.health";

// nvml.h, NVML_GPU_FABRIC_HEALTH_MASK_*: fields of 2 bits, 0 not available, 1 true, 2 false.
struct Bit {
    unsigned shift;
    std::string_view name;
    std::string_view code;
    Verdict verdict;
};
constexpr std::array kBits{
    Bit{0, "degraded bandwidth", "nvidia.fabric.degraded", Verdict::fail},
    Bit{2, "route recovery in progress", "nvidia.fabric.recovering", Verdict::warn},
    Bit{4, "route unhealthy", "nvidia.fabric.unhealthy", Verdict::fail},
    Bit{6, "access time-out recovery", "nvidia.fabric.recovering", Verdict::warn},
};
constexpr unsigned kConfigurationShift = 8;
// NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_*: 4 bits, 0 not available, 1 correct.
constexpr std::array<std::string_view, 9> kConfigurations{
    "not available",  "correct",         "wrong system GUID",         "wrong chassis serial",
    "no partition",   "too few NVLinks", "incompatible GPU firmware", "wrong location",
    "wrong GPU state"};

std::string hex(std::uint64_t value) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (; value != 0 || text.empty(); value >>= 4) text.insert(text.begin(), kDigits[value & 0xf]);
    return "0x" + text;
}

bool judge_mask(const Device& gpu, const std::string& expected, Findings& findings) {
    const Fact<std::uint64_t>& mask = newest(gpu, &NvidiaTelemetry::fabric, &NvFabric::health_mask);
    if (!mask.known()) return false;
    const std::size_t before = findings.size();
    for (const Bit& bit : kBits) {
        if (((*mask >> bit.shift) & 3) != 1) continue;
        findings.push_back(finding(bit.code, bit.verdict, gpu.bdf, expected,
                                   std::string(bit.name) + " (mask " + hex(*mask) + ")", mask.source()));
    }
    const std::uint64_t configuration = (*mask >> kConfigurationShift) & 0xf;
    if (configuration > 1) {
        const std::string words = configuration < kConfigurations.size()
                                      ? std::string(kConfigurations[configuration])
                                      : "configuration code " + std::to_string(configuration);
        findings.push_back(finding("nvidia.fabric.misconfigured", Verdict::fail, gpu.bdf, expected,
                                   words + " (mask " + hex(*mask) + ")", mask.source()));
    }
    return findings.size() > before;
}

void judge_gpu(const Device& gpu, Findings& findings) {
    const Fact<std::string>& summary = newest(gpu, &NvidiaTelemetry::fabric, &NvFabric::health_summary);
    const Fact<std::uint64_t>& mask = newest(gpu, &NvidiaTelemetry::fabric, &NvFabric::health_mask);
    const std::string expected = "healthy in the fabric";
    if (judge_mask(gpu, expected, findings)) return;
    if (summary.is("unhealthy")) {
        findings.push_back(
            finding("nvidia.fabric.unhealthy", Verdict::fail, gpu.bdf, expected, *summary, summary.source()));
    } else if (summary.is("limited_capacity")) {
        findings.push_back(
            finding("nvidia.fabric.degraded", Verdict::warn, gpu.bdf, expected, *summary, summary.source()));
    } else if (summary.is("healthy")) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected, *summary, summary.source()));
    } else if (mask.known() && *mask != 0) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected,
                                   "no fault (mask " + hex(*mask) + ")", mask.source()));
    } else if (mask.known() || summary.known()) {
        findings.push_back(finding(kId, Verdict::not_applicable, gpu.bdf, expected,
                                   "the driver tells no health",
                                   (mask.known() ? mask.source() : summary.source())));
    } else {
        findings.push_back(missing_fact(kId, gpu.bdf, expected, mask.missing()));
    }
}

NotApplicable applies(const Snapshot& snapshot) {
    if (NotApplicable none = without_usable_nvidia(snapshot)) return none;
    for (const Device* gpu : usable_nvidia(snapshot)) {
        if (newest(*gpu, &NvidiaTelemetry::fabric, &NvFabric::state).is("completed")) return std::nullopt;
    }
    return "no GPU has joined an NVSwitch fabric";
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : usable_nvidia(snapshot)) {
        if (newest(*gpu, &NvidiaTelemetry::fabric, &NvFabric::state).is("completed")) {
            judge_gpu(*gpu, findings);
        }
    }
}

}  // namespace

const Check kNvidiaFabricHealthCheck{.id = kId,
                                     .title = "Health in the NVSwitch fabric",
                                     .impact = Impact::passive,
                                     .required_from = Profile::boot,
                                     .applies = applies,
                                     .judge = judge};

}  // namespace gpucheck
