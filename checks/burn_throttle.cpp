// Finds what slows a GPU down while it works: heat, a power brake or an alarm of the board; a power limit
// that somebody set is none of them.
#include <algorithm>
#include <array>

#include "checks/all.h"
#include "checks/burn_facts.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kId = "burn.throttle";
// A violation of a fraction of a second says nothing (NVIDIA/DCGM#242); heat that takes a tenth of a run that
// began cool takes all of a long job.
constexpr double kLeast = 0.01, kLasting = 0.10;
// A flag that was seen once or twice flashed: NVSentinel#1666 asked for three in a row.
constexpr double kLeastSeen = 3;

struct Cause {
    std::string_view name;  ///< as the sampler writes it
    std::string_view words;
    std::string_view code;
    bool fails;  ///< when it lasts
};
// Half of a healthy GB200 fleet asserts the power brake (NVIDIA/NVSentinel#1666), and the hardware slowdown
// bit flashes when clocks change: both are warnings.
constexpr std::array kCauses{
    Cause{"sw_thermal_slowdown"sv, "software thermal slowdown"sv, "burn.throttle.thermal"sv, true},
    Cause{"hw_thermal_slowdown"sv, "hardware thermal slowdown"sv, "burn.throttle.thermal"sv, true},
    Cause{"socket_thermal"sv, "socket temperature"sv, "burn.throttle.thermal"sv, true},
    Cause{"vr_thermal"sv, "regulator temperature"sv, "burn.throttle.thermal"sv, true},
    Cause{"hbm_thermal"sv, "memory temperature"sv, "burn.throttle.thermal"sv, true},
    Cause{"thermal"sv, "temperature"sv, "burn.throttle.thermal"sv, true},
    Cause{"prochot"sv, "PROCHOT"sv, "burn.throttle.prochot"sv, true},
    Cause{"hw_power_brake"sv, "power brake"sv, "burn.throttle.power_brake"sv, false},
    Cause{"hw_slowdown"sv, "hardware slowdown"sv, "burn.throttle.slowdown"sv, false},
};

const Cause* cause_of(std::string_view name) {
    const auto found =
        std::find_if(kCauses.begin(), kCauses.end(), [&](const Cause& each) { return each.name == name; });
    return found != kCauses.end() ? &*found : nullptr;
}

double share_of(const LoadSamples& load, std::string_view name) {
    for (const CauseShare& each : load.throttled_by) {
        if (each.cause == name) return each.share;
    }
    return 0;
}

/// The hardware slowdown bit is the parent of the two hardware reasons: what they do not explain.
double own_share(const LoadSamples& load, const CauseShare& each) {
    if (each.cause != "hw_slowdown") return each.share;
    return each.share - std::max(share_of(load, "hw_thermal_slowdown"), share_of(load, "hw_power_brake"));
}

std::string limits_text(const LoadSamples& load) {
    std::string text;
    for (const CauseShare& each : load.throttled_by) {
        if (cause_of(each.cause) != nullptr || each.cause == "gpu_idle" || each.share <= 0) continue;
        text += (text.empty() ? "; at a wanted limit: " : ", ") + each.cause + " " + percent_text(each.share);
    }
    return text;
}

void judge_gpu(const Device& gpu, Findings& findings) {
    const LoadSamples& load = gpu.burn_in.load;
    const std::string expected = "less than 1 % of the time under load slowed by heat, power brake or alarm";
    if (!load.throttled_share.known()) {
        findings.push_back(unsampled(kId, gpu, expected, load.throttled_share.missing()));
        return;
    }
    if (auto few = too_few_samples(kId, gpu, expected)) {
        findings.push_back(std::move(*few));
        return;
    }
    const std::size_t before = findings.size();
    const auto samples = static_cast<double>(*load.samples);
    for (const CauseShare& each : load.throttled_by) {
        const Cause* cause = cause_of(each.cause);
        const double share = own_share(load, each);
        if (cause == nullptr || !(share >= kLeast) || share * samples < kLeastSeen) continue;
        const bool fails = cause->fails && share >= kLasting;
        findings.push_back(finding(cause->code, fails ? Verdict::fail : Verdict::warn, gpu.bdf, expected,
                                   std::string(cause->words) + " for " + percent_text(std::min(share, 1.0)) +
                                       " of " + count_of(*load.samples, "sample"),
                                   load.throttled_share.source()));
    }
    if (findings.size() != before) return;
    findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected,
                               "less, of " + count_of(*load.samples, "sample") + limits_text(load),
                               load.throttled_share.source()));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : tested_gpus(snapshot)) judge_gpu(*gpu, findings);
}

}  // namespace

const Check kBurnThrottleCheck{.id = kId,
                               .title = "Throttling under load",
                               .impact = Impact::passive,
                               .required_from = Profile::boot,
                               .applies = without_burn_in,
                               .judge = judge};

}  // namespace gpucheck
