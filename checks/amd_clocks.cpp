// Finds AMD GPUs that somebody left at low or fixed clocks, and those whose clock stays at the bottom while
// they work: both look healthy and compute at a fraction of their speed.
#include <algorithm>

#include "checks/all.h"
#include "checks/amd_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "amd.clocks";
// An idle MI300X shows 120 to 145 MHz, one that was stuck 60 MHz under load (ROCm/ROCm#4414). Clock readings
// alone prove little there: a tenth of the top clock while busy is no working point of any board.
constexpr unsigned kBusyPercent = 90;

/// The fastest of its dies, in a reading that says that the GPU was busy at this moment.
Fact<unsigned> busy_clock_mhz(const AmdTelemetry& reading) {
    const AmdMetrics& metrics = reading.metrics;
    if (!metrics.gfx_activity_percent.known() || *metrics.gfx_activity_percent < kBusyPercent ||
        *metrics.gfx_activity_percent > 100 || !metrics.gfxclk_mhz.known() || metrics.gfxclk_mhz->empty())
        return Missing{metrics.gfxclk_mhz.source(), "not busy"};
    return Fact<unsigned>(*std::max_element(metrics.gfxclk_mhz->begin(), metrics.gfxclk_mhz->end()),
                          metrics.gfxclk_mhz.source());
}

/// Says so when a reading of a busy GPU shows a clock at the bottom.
bool judge_stuck(const Device& gpu, Findings& findings) {
    const Fact<unsigned>& top = amd_newest(gpu, &AmdTelemetry::sclk_max_mhz);
    if (!top.known() || *top < 100) return false;
    for (const AmdTelemetry* reading : {&gpu.telemetry.last.amd, &gpu.telemetry.first.amd}) {
        const Fact<unsigned> clock = busy_clock_mhz(*reading);
        if (!clock.known() || *clock >= *top / 10) continue;
        findings.push_back(finding("amd.clocks.stuck", Verdict::warn, gpu.bdf,
                                   "more than a tenth of " + std::to_string(*top) + " MHz while busy",
                                   std::to_string(*clock) + " MHz at " +
                                       std::to_string(*reading->metrics.gfx_activity_percent) + " % activity",
                                   clock.source()));
        return true;
    }
    return false;
}

/// Noted, not judged: the firmware locks dies for reasons of its own.
std::string locked_dies(const Device& gpu) {
    const Fact<std::uint64_t>& locked = amd_newest(gpu, &AmdMetrics::gfxclk_lock_status);
    if (!locked.known() || *locked == 0) return {};
    unsigned dies = 0;
    for (std::uint64_t bits = *locked; bits != 0; bits &= bits - 1) ++dies;
    return "; clock locked on " + count_of(dies, "die");
}

void judge_gpu(const Snapshot& snapshot, const Device& gpu, Findings& findings) {
    const std::string expected = "performance level auto";
    const std::size_t before = findings.size();
    judge_stuck(gpu, findings);
    const Fact<std::string>& level = gpu.telemetry.first.amd.performance_level;
    if (!level.known()) {
        findings.push_back(amd_gap(kId, snapshot, gpu, expected, level.missing()));
        return;
    }
    if (*level != "auto") {
        Finding pinned =
            finding("amd.clocks.pinned", Verdict::warn, gpu.bdf, expected, *level, level.source());
        if (in_guest(snapshot, gpu)) pinned.scope = Scope::host;
        findings.push_back(std::move(pinned));
    } else if (findings.size() == before) {
        findings.push_back(
            finding(kId, Verdict::pass, gpu.bdf, expected, *level + locked_dies(gpu), level.source()));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    judge_each_amd(snapshot, findings, judge_gpu);
}

}  // namespace

const Check kAmdClocksCheck{.id = kId,
                            .title = "Clocks of AMD GPUs",
                            .impact = Impact::passive,
                            .required_from = Profile::boot,
                            .applies = without_usable_amd,
                            .judge = judge};

}  // namespace gpucheck
