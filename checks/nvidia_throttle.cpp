// Finds GPUs that are slowed by heat or by a power brake: the whole job then runs at their pace, with no
// error anywhere.
#include <algorithm>
#include <array>
#include <string>

#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.throttle";
// A violation of a fraction of a second says nothing (DCGM fails at "0.0 s": NVIDIA/DCGM#242): one percent of
// the run is demanded.
constexpr double kLeastShare = 0.01;
constexpr double kMostShare = 2;  // a counter that ran faster than time is no counter of time

// nvml.h, nvmlClocksEventReasons. Idle (1), application clocks (2), software power cap (4), sync boost (0x10)
// and display clocks (0x100) are ordinary; so whole values must not be compared, only bits.
struct Reason {
    std::uint64_t bit;
    std::string_view name;
    std::string_view code;
};
constexpr std::array kReasons{
    Reason{0x20, "software thermal slowdown", "nvidia.throttle.thermal"},
    Reason{0x40, "hardware thermal slowdown", "nvidia.throttle.thermal"},
    Reason{0x80, "power brake", "nvidia.throttle.power_brake"},
    Reason{0x08, "hardware slowdown", "nvidia.throttle.slowdown"},
};

struct Timer {
    Fact<std::uint64_t> NvClocks::*fact;
    std::string_view name;
    std::string_view code;
    Verdict verdict;
};
// Running totals in nanoseconds. Heat under load is a fault (DCGM's mask); half of a healthy GB200 fleet
// asserts the power brake (NVIDIA/NVSentinel#1666).
constexpr std::array kTimers{
    Timer{&NvClocks::hw_thermal_ns, "hardware thermal slowdown", "nvidia.throttle.thermal", Verdict::fail},
    Timer{&NvClocks::sw_thermal_ns, "software thermal slowdown", "nvidia.throttle.thermal", Verdict::fail},
    Timer{&NvClocks::thermal_ns, "thermal limit", "nvidia.throttle.thermal", Verdict::fail},
    Timer{&NvClocks::power_brake_ns, "power brake", "nvidia.throttle.power_brake", Verdict::warn},
};

struct Timed {
    unsigned known = 0;
    bool thermal = false, brake = false;  ///< these have an answer in time, which is better than a bit
    bool complained = false;
};

/// By the time that was lost between two readings.
Timed judge_times(const Device& gpu, Findings& findings) {
    Timed timed;
    for (const Timer& timer : kTimers) {
        const Fact<double> share = share_of_run(gpu, growth(gpu, &NvidiaTelemetry::clocks, timer.fact));
        if (!share.known() || *share > kMostShare) continue;
        ++timed.known;
        const bool brake = timer.fact == &NvClocks::power_brake_ns;
        const bool complained_of = std::any_of(findings.begin(), findings.end(), [&](const Finding& said) {
            return said.code == timer.code && said.subject == Subject(gpu.bdf);
        });
        (brake ? timed.brake : timed.thermal) = true;
        if (*share < kLeastShare || complained_of) continue;
        findings.push_back(finding(timer.code, timer.verdict, gpu.bdf, "less than 1 % of the run",
                                   std::string(timer.name) + " for " + percent_text(*share), share.source()));
        timed.complained = true;
    }
    return timed;
}

/// Set in every reading that was made.
std::uint64_t lasting(const Device& gpu) {
    const auto& first = gpu.telemetry.first.nvidia.clocks;
    const auto& last = gpu.telemetry.last.nvidia.clocks;
    if (!first.event_reasons.known()) return last.event_reasons.known() ? *last.event_reasons : 0;
    return *first.event_reasons & (last.event_reasons.known() ? *last.event_reasons : ~std::uint64_t{0});
}

/// By bits: a moment. It is at most a warning, and the hardware slowdown bit, which flashes when the clock
/// changes, needs two readings.
bool judge_bits(const Device& gpu, const Timed& timed, Findings& findings) {
    const auto& reasons = newest(gpu, &NvidiaTelemetry::clocks, &NvClocks::event_reasons);
    const auto& supported = newest(gpu, &NvidiaTelemetry::clocks, &NvClocks::event_reasons_supported);
    std::uint64_t bits = lasting(gpu);
    if (supported.known() && *supported != 0) bits &= *supported;
    bool complained = false;
    for (const Reason& reason : kReasons) {
        if ((bits & reason.bit) == 0) continue;
        const bool parent = reason.bit == 0x08;  // of the two hardware reasons below it
        if (parent && ((bits & 0xc0) != 0 || !read_twice(gpu))) continue;
        if (reason.bit == 0x80 ? timed.brake : !parent && timed.thermal) continue;
        findings.push_back(
            finding(reason.code, Verdict::warn, gpu.bdf, "not slowed by heat or power brake",
                    std::string(reason.name) + (read_twice(gpu) ? " in both readings" : ", seen once"),
                    reasons.source()));
        complained = true;
    }
    return complained;
}

void judge_gpu(const Device& gpu, Findings& findings) {
    const auto& reasons = newest(gpu, &NvidiaTelemetry::clocks, &NvClocks::event_reasons);
    const std::string expected = "not slowed by heat or power brake";
    const Timed timed = judge_times(gpu, findings);
    const bool seen = judge_bits(gpu, timed, findings);
    if (timed.complained || seen) return;
    if (reasons.known()) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected,
                                   timed.known > 0 ? "no time lost" : "no such reason now",
                                   reasons.source()));
    } else if (timed.known == kTimers.size()) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected, "no time lost", "NVML counters"));
    } else {
        findings.push_back(missing_fact(kId, gpu.bdf, expected, reasons.missing()));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : answering_nvidia(snapshot, "why clocks are not higher", findings)) {
        judge_gpu(*gpu, findings);
    }
}

}  // namespace

const Check kNvidiaThrottleCheck{.id = kId,
                                 .title = "Throttling",
                                 .impact = Impact::passive,
                                 .required_from = Profile::boot,
                                 .applies = without_usable_nvidia,
                                 .judge = judge};

}  // namespace gpucheck
