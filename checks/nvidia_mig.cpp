// Finds GPUs that are cut into MIG slices where whole ones were promised, or the other way round, and cuts
// that wait for a reset: programs then see a seventh of the GPU, or none.
#include <string>

#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.mig";

std::string on_off(bool on) {
    return on ? "MIG on" : "MIG off";
}

void judge_gpu(const Fact<bool>& promised, const Device& gpu, Findings& findings) {
    const Fact<bool>& current = newest(gpu, &NvidiaTelemetry::state, &NvState::mig_current);
    const Fact<bool>& pending = newest(gpu, &NvidiaTelemetry::state, &NvState::mig_pending);
    const Fact<unsigned>& instances = newest(gpu, &NvidiaTelemetry::state, &NvState::mig_instances);
    const std::string expected = promised.known() ? on_off(*promised) + " (" + promised.source() + ")" : "";
    if (!current.known()) {
        // A GPU without MIG is whole; only a promise of slices needs the answer.
        const bool whole_is_right = !promised.is(true) && not_offered(current.missing());
        findings.push_back(whole_is_right || !not_offered(current.missing())
                               ? missing_fact(kId, gpu.bdf, expected, current.missing())
                               : finding("nvidia.mig.unexpected", Verdict::fail, gpu.bdf, expected,
                                         "no MIG: " + current.why(), current.source()));
        return;
    }
    if (pending.known() && *pending != *current) {
        findings.push_back(
            finding("nvidia.mig.pending", Verdict::warn, gpu.bdf, "no change pending",
                    on_off(*current) + " now, " + (*pending ? "on" : "off") + " after the next reset",
                    pending.source()));
    }
    if (promised.known() && *promised != *current) {
        findings.push_back(finding("nvidia.mig.unexpected", Verdict::fail, gpu.bdf, expected,
                                   on_off(*current), current.source()));
    } else if (*current && instances.is(0U)) {
        findings.push_back(finding("nvidia.mig.empty", Verdict::warn, gpu.bdf, "MIG instances",
                                   "MIG on, no instance", instances.source()));
    } else {
        std::string observed = on_off(*current);
        if (*current && instances.known()) observed += ", " + count_of(*instances, "instance");
        findings.push_back(finding(kId, promised.known() ? Verdict::pass : Verdict::not_applicable, gpu.bdf,
                                   expected, observed, current.source()));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : answering_nvidia(snapshot, "the MIG mode", findings)) {
        judge_gpu(snapshot.expected.mig, *gpu, findings);
    }
}

}  // namespace

const Check kNvidiaMigCheck{.id = kId,
                            .title = "MIG mode",
                            .impact = Impact::passive,
                            .required_from = Profile::boot,
                            .applies = without_usable_nvidia,
                            .judge = judge};

}  // namespace gpucheck
