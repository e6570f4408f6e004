// Finds AMD GPUs that slow themselves down because of heat or an alarm of the board: they pass every test
// that looks at idle machines and are the slowest member of every job.
#include <algorithm>
#include <array>

#include "checks/all.h"
#include "checks/amd_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "amd.throttle";
// A violation of a fraction of a second says nothing (NVIDIA/DCGM#242), and healthy MI300X show some in their
// lifetime totals: one percent of the run is demanded.
constexpr double kLeast = 0.01;
// A run begins cool and lasts half a minute: heat that takes a tenth of it takes all of a long job.
constexpr double kLasting = 0.1;

using Counter = Fact<std::uint64_t> AmdResidency::*;
struct Reason {
    Counter counter;
    std::string_view name, code;
};
// ppt, the power limit, is missing here on purpose: every GEMM runs into it (ROCm/rocm-systems#3547).
constexpr std::array<Reason, 4> kReasons{
    {{&AmdResidency::prochot, "prochot", "amd.throttle.prochot"},
     {&AmdResidency::socket_thermal, "socket temperature", "amd.throttle.hot"},
     {&AmdResidency::hbm_thermal, "memory temperature", "amd.throttle.hot"},
     {&AmdResidency::vr_thermal, "regulator temperature", "amd.throttle.hot"}}};

// Linux amdgpu_smu.h: SMU_THROTTLER_TEMP_* and VRHOT are bits 32 to 45, PROCHOT 46 and 47. Power (0 to 15)
// and current (16 to 31) limits are normal under load.
constexpr std::uint64_t kThermalBits = 0x00003fff00000000;
constexpr std::uint64_t kProchotBits = 0x0000c00000000000;

/// Steps of a running total. The firmware's totals are 32 bits wide and wrap after weeks; one that fell from
/// elsewhere was reset.
Fact<std::uint64_t> steps(const Fact<std::uint64_t>& first, const Fact<std::uint64_t>& last) {
    constexpr std::uint64_t kWidth = std::uint64_t{1} << 32;
    if (first.known() && last.known() && *last < *first && *first >= kWidth / 2 && *first < kWidth)
        return Fact<std::uint64_t>(kWidth - *first + *last, last.source());
    return growth(first, last);
}

/// "prochot 0, ppt 731902, ..." of 5120774: what a lifetime shows and no run is blamed for.
std::string history(const AmdResidency& residency) {
    std::string text;
    const auto add = [&](std::string_view name, const Fact<std::uint64_t>& total) {
        if (total.known() && *total > 0)
            text += (text.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(*total);
    };
    for (const Reason& reason : kReasons) add(reason.name, residency.*reason.counter);
    add("power limit", residency.ppt);
    const std::string of = residency.accumulation_counter.known()
                               ? " of " + std::to_string(*residency.accumulation_counter) + " samples"
                               : std::string();
    return text.empty() ? "none ever" : text + of;
}

void judge_status(const Device& gpu, const Fact<std::uint64_t>& status, Findings& findings) {
    const std::string expected = "no throttling because of heat or an alarm";
    const std::uint64_t hot = *status & kThermalBits, alarm = *status & kProchotBits;
    if (hot == 0 && alarm == 0) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected,
                                   *status == 0 ? "none now" : "a power or current limit now",
                                   status.source()));
        return;
    }
    // A bit at one moment: how long it is set is not known, so it is a warning at most.
    findings.push_back(finding(alarm != 0 ? "amd.throttle.prochot" : "amd.throttle.hot", Verdict::warn,
                               gpu.bdf, expected, "set when it was read", status.source()));
}

void judge_residency(const Snapshot& snapshot, const Device& gpu, Findings& findings) {
    const AmdResidency &first = gpu.telemetry.first.amd.metrics.residency,
                       &last = gpu.telemetry.last.amd.metrics.residency;
    const std::string expected = "less than 1 % of the run slowed by heat or an alarm";
    const std::string& source = first.accumulation_counter.source();
    const Fact<std::uint64_t> samples = steps(first.accumulation_counter, last.accumulation_counter);
    if (!samples.known() && !read_twice(gpu)) {
        findings.push_back(finding(kId, Verdict::not_applicable, gpu.bdf, expected,
                                   "one reading only; in its life " + history(first), source));
        return;
    }
    if (!samples.known()) {
        findings.push_back(amd_gap(kId, snapshot, gpu, expected, samples.missing()));
        return;
    }
    if (*samples == 0) {
        findings.push_back(
            unread_fact(gpu.bdf, expected, Missing{source, "the firmware's sample counter stands still"}));
        return;
    }
    const std::size_t before = findings.size();
    const auto share_of = [&](std::uint64_t grown) {
        return static_cast<double>(std::min(grown, *samples)) / static_cast<double>(*samples);
    };
    for (const Reason& reason : kReasons) {
        const Fact<std::uint64_t> grown = steps(first.*reason.counter, last.*reason.counter);
        if (!grown.known()) {
            if (!not_reported(grown.missing()))
                findings.push_back(unread_fact(gpu.bdf, expected, grown.missing()));
            continue;
        }
        const double share = share_of(*grown);
        if (share < kLeast) continue;
        findings.push_back(finding(
            reason.code, share >= kLasting ? Verdict::fail : Verdict::warn, gpu.bdf, expected,
            std::string(reason.name) + ": " + percent_text(share) + " of the samples", grown.source()));
    }
    if (findings.size() > before) return;
    const Fact<std::uint64_t> power = steps(first.ppt, last.ppt);
    findings.push_back(
        finding(kId, Verdict::pass, gpu.bdf, expected,
                "less, of " + std::to_string(*samples) + " samples" +
                    (power.known() ? "; at the power limit, as is normal: " + percent_text(share_of(*power))
                                   : std::string()),
                source));
}

void judge_gpu(const Snapshot& snapshot, const Device& gpu, Findings& findings) {
    const AmdResidency& residency = gpu.telemetry.first.amd.metrics.residency;
    if (residency.accumulation_counter.known()) return judge_residency(snapshot, gpu, findings);
    // Layout 1.3 (MI200) has bits of this moment; 1.4 and 1.5 have a word that the driver always sets to 0
    // (Linux smu_v13_0_6_ppt.c), which says nothing.
    const Fact<std::uint64_t>& status =
        newer(residency.independent_throttle_status,
              gpu.telemetry.last.amd.metrics.residency.independent_throttle_status);
    if (status.known()) return judge_status(gpu, status, findings);
    const std::string expected = "throttle reasons of the firmware";
    const Fact<std::string>& layout = gpu.telemetry.first.amd.metrics.layout;
    if (layout.is("1.4") || layout.is("1.5")) {
        findings.push_back(finding(kId, Verdict::not_applicable, gpu.bdf, expected,
                                   "layout " + *layout + " of gpu_metrics has none", layout.source()));
        return;
    }
    findings.push_back(amd_gap(kId, snapshot, gpu, expected, residency.accumulation_counter.missing()));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    judge_each_amd(snapshot, findings, judge_gpu);
}

}  // namespace

const Check kAmdThrottleCheck{.id = kId,
                              .title = "Throttling of AMD GPUs",
                              .impact = Impact::passive,
                              .required_from = Profile::boot,
                              .applies = without_usable_amd,
                              .judge = judge};

}  // namespace gpucheck
