// Finds GPUs that draw far too little while they work: units that are switched off, or a supply that gives no
// more, look like a cool and healthy GPU.
#include <algorithm>
#include <cmath>

#include "checks/all.h"
#include "checks/burn_facts.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "burn.power";
// DCGM's power test demands three quarters of the limit of a load made for that. Ours is made to compare
// bits: less than 40 % with all matrix units at work is beyond what a difference between loads explains.
constexpr double kLeast = 0.40;
// Drivers tell a mean over a second, so that a peak needs seconds to show.
constexpr double kLeastBusySeconds = 5;

double busy_seconds(const LoadSamples& load) {
    if (!load.busy_share.known() || !load.seconds.known()) return 0;
    return *load.busy_share * *load.seconds;
}

bool worked(const Device& gpu) {
    const auto rates = rates_of(gpu);
    return std::any_of(rates.begin(), rates.end(),
                       [](const MeasuredRate& rate) { return rate.metric.starts_with("matrix_"); });
}

void judge_gpu(const Device& gpu, Findings& findings) {
    const LoadSamples& load = gpu.burn_in.load;
    const Fact<double> limit = power_limit_w(gpu);
    const std::string expected = "at least 40 % of the power limit at some moment under load";
    const auto say = [&](std::string_view code, Verdict verdict, const std::string& observed) {
        findings.push_back(finding(code, verdict, gpu.bdf, expected, observed, load.power_w.source()));
    };
    if (const auto why = untimed(gpu)) {
        findings.push_back(not_by_time(kId, gpu, *why));
        return;
    }
    if (!load.power_w.known()) {
        findings.push_back(unsampled(kId, gpu, expected, load.power_w.missing()));
        return;
    }
    const double watts = load.power_w->max;
    // The second die of an MI250X reads 0 W: power is told for the package.
    if (!std::isfinite(watts) || watts <= 0)
        return say(kId, Verdict::not_applicable, "no reading of its own");
    if (!limit.known()) return say(kId, Verdict::not_applicable, "no limit is known: " + limit.why());
    if (partition_share(gpu).factor < 0.9)
        return say(kId, Verdict::not_applicable, "a part of the board was at work");
    if (!worked(gpu) || busy_seconds(load) < kLeastBusySeconds)
        return say(kId, Verdict::not_applicable, "too short a load for a mean over a second");
    const bool low = watts < *limit * kLeast;
    say(low ? std::string_view("burn.power.low") : kId, low ? Verdict::warn : Verdict::pass,
        number_text(watts) + " W at most, " + number_text(load.power_w->median) + " W usually, of " +
            number_text(*limit) + " W");
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : tested_gpus(snapshot)) judge_gpu(*gpu, findings);
}

}  // namespace

const Check kBurnPowerCheck{.id = kId,
                            .title = "Power under load",
                            .impact = Impact::passive,
                            .required_from = Profile::acceptance,
                            .applies = without_burn_in,
                            .judge = judge};

}  // namespace gpucheck
