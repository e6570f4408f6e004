// One report of gpucheck (docs/report.schema.json) cut down to a NodeReport, or the reason why it is none.
#pragma once

#include <string_view>

#include "fleet/model/fleet.h"
#include "fleet/read/members.h"

namespace gpucheck::fleet {

/// Nothing is added to `names` unless it is read; after a flaw the result means nothing.
NodeReport report_from(dom::element document, Vocabulary& names, Flaw& flaw);

/// "2026-11-30T10:00:00Z" of any RFC 3339 time; empty when it is none.
std::string utc_of(std::string_view time);
/// A UUID of version 7, in lower case.
bool is_report_id(std::string_view id);

/// Says so when a report claims better than what it found: a pass beside a fault is no pass.
void contradict(const NodeReport& report, const Vocabulary& names, Verdict worst_required, bool any_passed,
                Flaw& flaw);

}  // namespace gpucheck::fleet
