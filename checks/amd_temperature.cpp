// Finds AMD GPUs that run too hot: at their limit they throttle, above it they switch off in the middle of a
// job, and one that is hot while idle has lost its cooling.
#include <algorithm>
#include <optional>

#include "checks/all.h"
#include "checks/amd_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "amd.temperature";
// ROCm Validation Suite counts a junction at 105 degrees as a violation (pulse module); used where the driver
// names no limit of its own.
constexpr int kJunctionLimitC = 105;
// AMD's acceptance guides want an idle GPU "well under 85 degrees".
constexpr int kIdleLimitC = 85;
constexpr unsigned kIdlePercent = 5;

struct Judged {
    std::optional<Finding> worst;
    std::string seen;  ///< "junction 46, mem 39"
    bool compared = false;
};

bool believable(int celsius) {
    return celsius > -40 && celsius < 200;
}

std::string degrees(int celsius) {
    return std::to_string(celsius) + " °C";
}

void judge_one(const Device& gpu, const HwmonTemperature& sensor, Judged& judged) {
    if (!sensor.celsius.known() || !believable(*sensor.celsius)) return;
    judged.seen += (judged.seen.empty() ? "" : ", ") + sensor.label + " " + degrees(*sensor.celsius);
    std::optional<int> limit;
    // A limit of 0 is how drivers print "none".
    if (sensor.critical_c.known() && *sensor.critical_c > 0) {
        limit = *sensor.critical_c;
    } else if (sensor.label == "junction") {
        limit = kJunctionLimitC;
    }
    if (!limit) return;
    judged.compared = true;
    if (*sensor.celsius < *limit) return;
    const bool emergency =
        sensor.emergency_c.known() && *sensor.emergency_c > *limit && *sensor.celsius >= *sensor.emergency_c;
    const Verdict verdict = emergency ? Verdict::fail : Verdict::warn;
    if (judged.worst && judged.worst->verdict >= verdict) return;
    judged.worst = finding("amd.temperature.critical", verdict, gpu.bdf,
                           sensor.label + " below " + degrees(emergency ? *sensor.emergency_c : *limit),
                           degrees(*sensor.celsius), sensor.celsius.source());
}

/// gpu_metrics has the same sensors without limits; on many virtual functions only they are there.
std::vector<HwmonTemperature> sensors_of(const AmdTelemetry& reading) {
    if (reading.temperatures.known() && !reading.temperatures->empty()) return *reading.temperatures;
    std::vector<HwmonTemperature> sensors;
    if (reading.metrics.hotspot_c.known()) {
        HwmonTemperature junction;
        junction.label = "junction";
        junction.celsius = reading.metrics.hotspot_c;
        sensors.push_back(junction);
    }
    return sensors;
}

/// Hot although idle for certain: the firmware's own activity figure in the same reading.
std::optional<Finding> idle_hot(const Device& gpu, const AmdTelemetry& reading) {
    const AmdMetrics& metrics = reading.metrics;
    if (!metrics.gfx_activity_percent.known() || *metrics.gfx_activity_percent > kIdlePercent ||
        !metrics.memory_activity_percent.known() || *metrics.memory_activity_percent > kIdlePercent ||
        !metrics.hotspot_c.known() || !believable(*metrics.hotspot_c) || *metrics.hotspot_c < kIdleLimitC)
        return std::nullopt;
    return finding(
        "amd.temperature.idle", Verdict::warn, gpu.bdf,
        "hotspot below " + degrees(kIdleLimitC) + " while idle",
        degrees(*metrics.hotspot_c) + " at " + std::to_string(*metrics.gfx_activity_percent) + " % activity",
        metrics.hotspot_c.source());
}

void judge_gpu(const Snapshot& snapshot, const Device& gpu, Findings& findings) {
    const std::string expected = "every temperature below its critical limit";
    const AmdTelemetry& first = gpu.telemetry.first.amd;
    Judged judged, again;
    for (const HwmonTemperature& sensor : sensors_of(first)) judge_one(gpu, sensor, judged);
    for (const HwmonTemperature& sensor : sensors_of(gpu.telemetry.last.amd)) judge_one(gpu, sensor, again);
    if (again.worst && (!judged.worst || again.worst->verdict > judged.worst->verdict))
        judged.worst = again.worst;
    if (judged.worst) {
        findings.push_back(std::move(*judged.worst));
    } else if (std::optional<Finding> hot = idle_hot(gpu, first)) {
        // The last reading follows a load: only the first can be called idle.
        findings.push_back(std::move(*hot));
    } else if (judged.compared || again.compared) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected,
                                   judged.seen + (again.seen.empty() ? "" : "; at the end " + again.seen),
                                   first.temperatures.source()));
    } else if (!first.temperatures.known()) {
        findings.push_back(amd_gap(kId, snapshot, gpu, expected, first.temperatures.missing()));
    } else {
        const std::string why =
            judged.seen.empty() ? "no sensor with a temperature" : judged.seen + ": no limit is known";
        findings.push_back(unread_fact(gpu.bdf, expected, Missing{first.temperatures.source(), why}));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    judge_each_amd(snapshot, findings, judge_gpu);
}

}  // namespace

const Check kAmdTemperatureCheck{.id = kId,
                                 .title = "Temperatures of AMD GPUs",
                                 .impact = Impact::passive,
                                 .required_from = Profile::boot,
                                 .applies = without_usable_amd,
                                 .judge = judge};

}  // namespace gpucheck
