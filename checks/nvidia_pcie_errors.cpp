// Finds host links that repeat what they send: copies are slow, and one day the GPU is lost. NVML counts what
// the system's error reporting does not show in a guest.
#include <algorithm>
#include <optional>
#include <string>

#include "checks/all.h"
#include "checks/model/wiring.h"
#include "checks/pcie_budget.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.pcie.errors";
// Every change of the link's speed passes through recovery. Idle GPUs made 20 changes a minute each
// (rtx6kpro PR#88: 1,415 of 35 devices in 2 minutes); thrice that is allowed on top.
constexpr double kSpeedChangesPerMinute = 60;

struct Link {
    unsigned generation = 0, lanes = 0;
    std::string source;
};

/// As NVML saw it, the faster of two readings: an idle link sleeps at Gen1 and would be allowed too little.
Link link_of(const Device& gpu) {
    Link link;
    for (const Reading* reading : {&gpu.telemetry.first, &gpu.telemetry.last}) {
        const NvPcie& pcie = reading->nvidia.pcie;
        if (pcie.generation.known()) link.generation = std::max(link.generation, *pcie.generation);
        if (pcie.generation_max.known()) link.generation = std::max(link.generation, *pcie.generation_max);
        if (pcie.width.known()) link.lanes = std::max(link.lanes, *pcie.width);
    }
    return link;
}

std::optional<std::uint64_t> budget_of(const Link& link, double seconds) {
    constexpr unsigned kNewest = static_cast<unsigned>(LinkSpeed::gen7);
    return replay_budget(static_cast<LinkSpeed>(std::min(link.generation, kNewest)), link.lanes, seconds);
}

Fact<std::uint64_t> grown(const Device& gpu, Fact<std::uint64_t> NvPcie::*fact) {
    return growth(gpu, &NvidiaTelemetry::pcie, fact);
}

/// Fatal and nonfatal errors have no budget.
void judge_uncorrected(const Device& gpu, Findings& findings) {
    const Fact<std::uint64_t> fatal = grown(gpu, &NvPcie::fatal), nonfatal = grown(gpu, &NvPcie::nonfatal);
    if (fatal.known() && *fatal > 0) {
        findings.push_back(finding("nvidia.pcie.fatal", Verdict::fail, gpu.bdf, "none during the run",
                                   std::to_string(*fatal) + " fatal", fatal.source()));
    }
    if (nonfatal.known() && *nonfatal > 0) {
        findings.push_back(finding("nvidia.pcie.nonfatal", Verdict::warn, gpu.bdf, "none during the run",
                                   std::to_string(*nonfatal) + " nonfatal", nonfatal.source()));
    }
}

void judge_budget(const Device& gpu, const Link& link, std::uint64_t budget, double seconds,
                  Findings& findings) {
    const auto judge_one = [&](Fact<std::uint64_t> NvPcie::*fact, std::string_view name,
                               std::string_view code, std::uint64_t allowed) {
        const Fact<std::uint64_t> errors = grown(gpu, fact);
        if (!errors.known() || *errors <= allowed) return;
        findings.push_back(finding(code, Verdict::warn, gpu.bdf,
                                   "at most " + std::to_string(allowed) + " on Gen" +
                                       std::to_string(link.generation) + " x" + std::to_string(link.lanes),
                                   std::to_string(*errors) + " " + std::string(name) + " in " +
                                       std::to_string(static_cast<std::uint64_t>(seconds)) + " s",
                                   errors.source()));
    };
    judge_one(&NvPcie::replays, "replays", "nvidia.pcie.replays", budget);
    judge_one(&NvPcie::naks_received, "NAKs received", "nvidia.pcie.naks", budget);
    judge_one(&NvPcie::naks_sent, "NAKs sent", "nvidia.pcie.naks", budget);
    const double speed_changes = kSpeedChangesPerMinute * std::max(1.0, seconds / 60);
    judge_one(&NvPcie::l0_to_recovery, "recoveries", "nvidia.pcie.recoveries",
              budget + static_cast<std::uint64_t>(speed_changes));
}

void judge_gpu(const Device& gpu, Findings& findings) {
    const std::string expected = "no more errors than the link's budget";
    const std::size_t before = findings.size();
    judge_uncorrected(gpu, findings);
    const Fact<std::uint64_t> replays = grown(gpu, &NvPcie::replays);
    const Fact<double> seconds = seconds_between(gpu);
    const Link link = link_of(gpu);
    // On superchips the PCI link is a placeholder (nvtop PR#499).
    const std::optional<std::uint64_t> budget =
        seconds.known() && !on_superchip(gpu) ? budget_of(link, *seconds) : std::nullopt;
    if (budget) judge_budget(gpu, link, *budget, *seconds, findings);
    if (findings.size() > before) return;
    if (on_superchip(gpu)) {
        findings.push_back(finding(kId, Verdict::not_applicable, gpu.bdf, "",
                                   "reaches its CPU over a coherent link", replays.source()));
    } else if (!replays.known()) {
        findings.push_back(missing_fact(kId, gpu.bdf, expected, replays.missing()));
    } else if (!budget) {
        findings.push_back(unread_fact(
            gpu.bdf, expected,
            Missing{replays.source(), seconds.known() ? "the link's speed and width" : seconds.why()}));
    } else {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected,
                                   std::to_string(*replays) + " replays", replays.source()));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : answering_nvidia(snapshot, "error counters of the host link", findings)) {
        judge_gpu(*gpu, findings);
    }
}

}  // namespace

const Check kNvidiaPcieErrorsCheck{.id = kId,
                                   .title = "Errors of the host link",
                                   .impact = Impact::passive,
                                   .required_from = Profile::boot,
                                   .applies = without_usable_nvidia,
                                   .judge = judge};

}  // namespace gpucheck
