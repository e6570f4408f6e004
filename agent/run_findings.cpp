// Findings of the run itself; see run_findings.h.
#include "agent/run_findings.h"

namespace gpucheck {

Findings refused_findings(const std::vector<std::string>& refused, std::chrono::milliseconds stall) {
    Findings findings;
    for (const std::string& path : refused) {
        findings.push_back(finding("host.read.hangs", Verdict::unknown, path, "an answer at once",
                                   "none within " + std::to_string(stall.count()) + " ms; it was left out",
                                   path));
    }
    return findings;
}

Findings promise_findings(const Promised& promise, const std::vector<std::string>& identities) {
    Findings findings;
    for (const std::string& conflict : promise.conflicts) {
        findings.push_back(finding("expect.conflict", Verdict::warn, {}, "one answer", conflict,
                                   "--expect, config, provider, instances.json"));
    }
    for (const std::string& conflict : identities) {
        findings.push_back(finding("instance.conflict", Verdict::warn, {}, "one answer", conflict,
                                   "options, firmware, metadata"));
    }
    if (!promise.unknown_type.known()) return findings;
    const Fact<std::string>& provider = promise.instance.provider;
    findings.push_back(finding("instance.type.unknown",
                               promise.type_by_option ? Verdict::unknown : Verdict::warn, {},
                               "a type whose GPUs are known",
                               (provider.known() ? *provider : "no provider") + " \"" +
                                   *promise.unknown_type + "\": " + promise.expected.gpu_count.why(),
                               promise.unknown_type.source()));
    return findings;
}

Finding out_of_time_finding(std::chrono::milliseconds budget, const std::string& last_step) {
    return finding("run.out_of_time", Verdict::unknown, {},
                   "done within " + std::to_string(budget.count()) + " ms",
                   "still at " + (last_step.empty() ? "the start" : last_step), last_step);
}

}  // namespace gpucheck
