// What a report says, as far as a provider is told: read from its JSON, which may have been made on another
// machine, by another version or by nobody we know.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checks/model/fact.h"
#include "checks/model/verdict.h"

namespace gpucheck::faults {

struct ReportProblem {
    std::string code, subject, expected, observed, check;
    Verdict verdict = Verdict::unknown;
    Scope scope = Scope::unknown;
    std::string first;  ///< RFC 3339; empty: not known
};

struct ReportGpu {
    std::string bdf, vendor, board;  ///< "0000:83:00.0", "amd", "MI300X"
    Fact<std::string> serial;
};

struct ReportFacts {
    std::string report_id, created;
    Fact<std::string> boot_id, hostname;
    Fact<std::string> provider, instance_id, region, zone;
    Verdict verdict = Verdict::unknown;
    bool simulated = false;
    std::string injected;  ///< empty: nothing was
    std::vector<ReportGpu> gpus;
    std::vector<ReportProblem> problems;

    const ReportGpu* gpu(std::string_view bdf) const;
};

/// The text says why it is no report. Texts are cut at 2,000 bytes, control characters become blanks.
std::variant<ReportFacts, std::string> read_report(std::string_view json);

}  // namespace gpucheck::faults
