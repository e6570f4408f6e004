// Finds GPUs that reach their temperature limit within seconds of work: cooling that holds an idle machine
// and fails the first job.
#include <algorithm>
#include <cmath>
#include <optional>

#include "checks/all.h"
#include "checks/amd_facts.h"
#include "checks/burn_facts.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "burn.temperature";
// Since Ada thresholds may be margins in place of temperatures: only what can be a limit of a chip is one.
constexpr int kLeastLimit = 50, kMostLimit = 150;
// The ROCm Validation Suite counts a junction at 105 degrees as a violation (pulse module); used where the
// driver names no limit of its own.
constexpr int kJunctionLimitC = 105;
constexpr double kColdest = -40, kHottest = 200;

struct Limit {
    int celsius = 0;
    std::string source;
};

std::optional<Limit> as_limit(const Fact<int>& fact) {
    if (!fact.known() || *fact < kLeastLimit || *fact > kMostLimit) return std::nullopt;
    return Limit{*fact, fact.source()};
}

/// The driver's own limit of a sensor: "junction", "mem".
std::optional<Limit> amd_limit(const Device& gpu, std::string_view label) {
    for (const Reading* reading : {&gpu.telemetry.first, &gpu.telemetry.last}) {
        const auto& sensors = reading->amd.temperatures;
        if (!sensors.known()) continue;
        for (const HwmonTemperature& sensor : *sensors) {
            if (sensor.label != label) continue;
            if (auto limit = as_limit(sensor.critical_c)) return limit;
        }
    }
    if (label == "junction") return Limit{kJunctionLimitC, "ROCm Validation Suite, pulse"};
    return std::nullopt;
}

std::optional<Limit> limit_of(const Device& gpu, bool memory) {
    if (gpu.vendor == Vendor::amd) return amd_limit(gpu, memory ? "mem" : "junction");
    return as_limit(
        newest(gpu, &NvidiaTelemetry::power, memory ? &NvPower::memory_max_c : &NvPower::slowdown_c));
}

bool believable(const Quantity& quantity) {
    return std::isfinite(quantity.max) && quantity.max > kColdest && quantity.max < kHottest;
}

std::string degrees(double celsius) {
    return number_text(celsius) + " °C";
}

void judge_sensor(const Device& gpu, bool memory, Findings& findings) {
    const LoadSamples& load = gpu.burn_in.load;
    const Fact<Quantity>& reached = memory ? load.memory_temperature_c : load.temperature_c;
    const std::string name = memory ? "memory" : "GPU";
    const std::optional<Limit> limit = limit_of(gpu, memory);
    const std::string expected =
        name + " below " + (limit ? degrees(limit->celsius) + " (" + limit->source + ")" : "its limit");
    if (const auto few = too_few_samples(kId, gpu, expected)) {
        if (!memory) findings.push_back(*few);
        return;
    }
    if (!reached.known() || !believable(*reached)) {
        const Missing why = reached.known() ? Missing{reached.source(), "no temperature"} : reached.missing();
        // Many boards have no sensor in their memory.
        if (!memory) findings.push_back(unsampled(kId, gpu, expected, why));
        return;
    }
    const std::string observed = degrees(reached->max) + " at most, " + degrees(reached->median) + " usually";
    if (!limit && memory) return;  // a sensor without a limit; the die speaks for the GPU
    if (!limit) {
        findings.push_back(finding(kId, Verdict::not_applicable, gpu.bdf, expected,
                                   name + " " + observed + "; no limit is known", reached.source()));
    } else if (reached->max < limit->celsius) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected, observed, reached.source()));
    } else {
        const bool lasts = reached->samples >= 10 && reached->median >= limit->celsius;
        findings.push_back(finding("burn.temperature.limit", lasts ? Verdict::fail : Verdict::warn, gpu.bdf,
                                   expected, observed, reached.source()));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : tested_gpus(snapshot)) {
        judge_sensor(*gpu, false, findings);
        judge_sensor(*gpu, true, findings);
    }
}

}  // namespace

const Check kBurnTemperatureCheck{.id = kId,
                                  .title = "Temperature under load",
                                  .impact = Impact::passive,
                                  .required_from = Profile::boot,
                                  .applies = without_burn_in,
                                  .judge = judge};

}  // namespace gpucheck
