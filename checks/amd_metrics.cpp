// Finds AMD GPUs whose gpu_metrics cannot be read or understood: temperatures, throttling and link counters
// come from there, and tools that guess at a layout show a sick GPU as idle and cool.
#include "checks/all.h"
#include "checks/amd_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "amd.metrics";

void judge_gpu(const Snapshot& snapshot, const Device& gpu, Findings& findings) {
    const std::string expected = "gpu_metrics in a layout that is known (1.3 to 1.9)";
    const Fact<std::string>& layout = gpu.telemetry.first.amd.metrics.layout;
    if (layout.known()) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected, *layout, layout.source()));
        return;
    }
    // The kernel's layouts grow faster than tools (ROCm/rocm-systems#7997): the file is there, its words are
    // not.
    if (layout.why().find("layout") != std::string::npos) {
        findings.push_back(finding("amd.metrics.layout", Verdict::unknown, gpu.bdf, expected, layout.why(),
                                   layout.source()));
        return;
    }
    findings.push_back(amd_gap(kId, snapshot, gpu, expected, layout.missing()));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    judge_each_amd(snapshot, findings, judge_gpu);
}

}  // namespace

const Check kAmdMetricsCheck{.id = kId,
                             .title = "Metrics of AMD GPUs",
                             .impact = Impact::passive,
                             .required_from = Profile::boot,
                             .applies = without_usable_amd,
                             .judge = judge};

}  // namespace gpucheck
