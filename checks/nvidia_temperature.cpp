// Finds GPUs at the temperature where they slow themselves down: a dead fan, a cold plate that lost contact,
// an inlet that is too warm.
#include <string>

#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.temperature";
// Since Ada thresholds may be margins ("T.Limit", -2 or -8) in place of temperatures: only what can be a
// temperature limit of a chip is compared with one.
constexpr int kLeastThreshold = 50, kMostThreshold = 150;
constexpr int kColdest = -40, kHottest = 200;

const Fact<int>& value(const Device& gpu, Fact<int> NvPower::*fact) {
    return newest(gpu, &NvidiaTelemetry::power, fact);
}

bool plausible(const Fact<int>& temperature) {
    return temperature.known() && *temperature >= kColdest && *temperature <= kHottest;
}

bool is_threshold(const Fact<int>& limit) {
    return limit.known() && *limit >= kLeastThreshold && *limit <= kMostThreshold;
}

std::string degrees(int celsius) {
    return std::to_string(celsius) + " C";
}

/// The hotter of the readings counts: a GPU cools within seconds of the load.
template <class Judge>
void worst(const Device& gpu, Judge judge_one) {
    if (!judge_one(gpu.telemetry.first.nvidia.power)) judge_one(gpu.telemetry.last.nvidia.power);
}

bool judge_core(const Device& gpu, Findings& findings) {
    bool complained = false;
    worst(gpu, [&](const NvPower& power) {
        const Fact<int>& slowdown = value(gpu, &NvPower::slowdown_c);
        if (power.margin_c.known() && *power.margin_c <= 0 && *power.margin_c > -kHottest) {
            findings.push_back(finding("nvidia.temperature.limit", Verdict::fail, gpu.bdf,
                                       "degrees left to the first slowdown",
                                       degrees(*power.margin_c) + " left", power.margin_c.source()));
            complained = true;
        } else if (plausible(power.temperature_c) && is_threshold(slowdown) &&
                   *power.temperature_c >= *slowdown) {
            findings.push_back(finding("nvidia.temperature.limit", Verdict::fail, gpu.bdf,
                                       "below " + degrees(*slowdown), degrees(*power.temperature_c),
                                       power.temperature_c.source()));
            complained = true;
        }
        return complained;
    });
    return complained;
}

bool judge_memory(const Device& gpu, Findings& findings) {
    bool complained = false;
    const Fact<int>& limit = value(gpu, &NvPower::memory_max_c);
    if (!is_threshold(limit)) return false;
    worst(gpu, [&](const NvPower& power) {
        if (!plausible(power.memory_temperature_c) || *power.memory_temperature_c < *limit) return false;
        findings.push_back(finding("nvidia.temperature.memory", Verdict::fail, gpu.bdf,
                                   "memory below " + degrees(*limit), degrees(*power.memory_temperature_c),
                                   power.memory_temperature_c.source()));
        return complained = true;
    });
    return complained;
}

void judge_gpu(const Device& gpu, Findings& findings) {
    const bool core = judge_core(gpu, findings), memory = judge_memory(gpu, findings);
    if (core || memory) return;
    const Fact<int>&margin = value(gpu, &NvPower::margin_c), &now = value(gpu, &NvPower::temperature_c),
          &slowdown = value(gpu, &NvPower::slowdown_c);
    const std::string expected = "below its limits";
    if (!now.known()) {
        findings.push_back(missing_fact(kId, gpu.bdf, expected, now.missing()));
    } else if (!plausible(now)) {
        findings.push_back(
            unread_fact(gpu.bdf, expected, Missing{now.source(), "no temperature: " + degrees(*now)}));
    } else if (margin.known()) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected,
                                   degrees(*now) + ", " + degrees(*margin) + " left", margin.source()));
    } else if (is_threshold(slowdown)) {
        findings.push_back(
            finding(kId, Verdict::pass, gpu.bdf, "below " + degrees(*slowdown), degrees(*now), now.source()));
    } else {
        findings.push_back(finding(kId, Verdict::not_applicable, gpu.bdf, "",
                                   degrees(*now) + "; the driver tells no limit", now.source()));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : answering_nvidia(snapshot, "temperatures", findings)) {
        judge_gpu(*gpu, findings);
    }
}

}  // namespace

const Check kNvidiaTemperatureCheck{.id = kId,
                                    .title = "Temperature",
                                    .impact = Impact::passive,
                                    .required_from = Profile::boot,
                                    .applies = without_usable_nvidia,
                                    .judge = judge};

}  // namespace gpucheck
