// Reports to render: made by hand from the healthy machines, so that a renderer is tested without the checks.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/report/report.h"

namespace gpucheck::report {

/// Checks that no other file knows; their ids appear in the reports.
extern const Check kCountCheck, kLinkCheck, kKfdCheck, kTelemetryCheck;

/// Eight H100, everything pass; KFD does not apply, telemetry was not looked at and is not required.
Report passing();
/// Seven of eight H100; three links narrow; a warning about the clock.
Report failing();
/// Telemetry is required and was not read.
Report unknowing();
/// No GPU, nothing applied.
Report empty_machine();
/// Eight MI300X in CPX/NPS4: 63 logical GPUs.
Report partitioned();
/// 64 functions that all look alike.
Report crowded();
/// Every string of the report is `text`.
Report hostile(const std::string& text);

/// All of them and a few hostile texts, by name.
std::vector<std::pair<std::string, Report>> all_samples();
/// Control bytes, escapes of every format, invalid UTF-8, a mebibyte.
const std::vector<std::string>& hostile_texts();

CheckLine line(const Check& check, bool required, Findings findings);
CheckLine not_applicable(const Check& check, std::string reason);
/// Sets the verdict from the checks, as a run does.
void settle(Report& report);

/// The text contains the part.
inline bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace gpucheck::report
