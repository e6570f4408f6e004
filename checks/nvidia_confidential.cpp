// Finds confidential machines whose GPUs are not released for work yet: cuInit fails on all of them while
// monitoring shows nothing wrong.
#include <string>

#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.confidential";

void judge(const Snapshot& snapshot, Findings& findings) {
    const std::string expected = "GPUs released for work, or no confidential computing";
    if (answering_nvidia(snapshot, expected, findings).empty()) return;
    const Fact<bool>&on = snapshot.host.nvml.confidential_compute,
          &ready = snapshot.host.nvml.confidential_compute_ready;
    if (!on.known()) {
        findings.push_back(missing_fact(kId, {}, expected, on.missing()));
    } else if (!*on) {
        findings.push_back(finding(kId, Verdict::not_applicable, {}, expected, "off", on.source()));
    } else if (!ready.known()) {
        // It is on, so its state exists: an answer that is not offered is none.
        findings.push_back(unread_fact({}, expected, ready.missing()));
    } else if (!*ready) {
        findings.push_back(finding("nvidia.confidential.not_ready", Verdict::fail, {}, expected,
                                   "on, and not ready", ready.source()));
    } else {
        findings.push_back(finding(kId, Verdict::pass, {}, expected, "on and ready", ready.source()));
    }
}

}  // namespace

const Check kNvidiaConfidentialCheck{.id = kId,
                                     .title = "Confidential computing",
                                     .impact = Impact::passive,
                                     .required_from = Profile::boot,
                                     .applies = without_usable_nvidia,
                                     .judge = judge};

}  // namespace gpucheck
