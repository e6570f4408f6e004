// Running one check and folding many verdicts into one: the two places where a "yes" could slip through.
#include "checks/model/check.h"

#include <algorithm>

namespace gpucheck {

CheckResult run_check(const Check& check, const Snapshot& snapshot, Profile profile) {
    CheckResult result;
    result.check = &check;
    result.required = profile >= check.required_from;
    if (check.applies != nullptr) {
        if (NotApplicable reason = check.applies(snapshot)) {
            result.verdict = Verdict::not_applicable;
            result.reason = std::move(*reason);
            return result;
        }
    }
    check.judge(snapshot, result.findings);
    if (result.findings.empty()) {
        result.findings.push_back(finding("check.silent", Verdict::unknown, {}, "at least one finding",
                                          "none", std::string(check.id)));
    }
    result.verdict = Verdict::not_applicable;
    for (const Finding& finding : result.findings) result.verdict = std::max(result.verdict, finding.verdict);
    return result;
}

Verdict aggregate(const std::vector<CheckResult>& results) {
    Verdict worst = Verdict::not_applicable;
    for (const CheckResult& result : results) {
        for (const Finding& finding : result.findings) {
            if (finding.verdict == Verdict::unknown && !result.required) continue;
            worst = std::max(worst, finding.verdict);
        }
    }
    return worst == Verdict::not_applicable ? Verdict::unknown : worst;
}

}  // namespace gpucheck
