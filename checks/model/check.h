// A check is data beside plain functions: what it is, when it applies, and how it judges facts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/model/finding.h"
#include "checks/model/snapshot.h"
#include "checks/model/verdict.h"

namespace gpucheck {

/// nullopt: the check applies; else why it does not ("no AMD GPU").
using NotApplicable = std::optional<std::string>;
using Applies = NotApplicable (*)(const Snapshot&);
/// Emits at least one finding for each subject, pass included.
using Judge = void (*)(const Snapshot&, Findings&);

struct Check {
    std::string_view id;     ///< "pcie.link"
    std::string_view title;  ///< "PCIe width and path"
    Impact impact = Impact::passive;
    Profile required_from = Profile::quick;  ///< its `unknown` raises the verdict from this profile on
    Applies applies = nullptr;               ///< nullptr: always
    Judge judge = nullptr;
};

/// All checks in report order (checks/all.cpp).
const std::vector<Check>& all_checks();

/// What one check said.
struct CheckResult {
    const Check* check = nullptr;
    Verdict verdict = Verdict::unknown;  ///< worst of its findings
    bool required = false;               ///< its unknown counts under this profile
    std::string reason;                  ///< why it does not apply
    Findings findings;
};

/// Runs one check. A check that applies and says nothing is unknown, never pass.
CheckResult run_check(const Check& check, const Snapshot& snapshot, Profile profile);

/// The machine's verdict: the worst, where an unknown of a check that the profile does not require is left
/// out, and a run in which nothing applied is unknown.
Verdict aggregate(const std::vector<CheckResult>& results);

}  // namespace gpucheck
