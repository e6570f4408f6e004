// A condensed report: what a decision over a fleet needs of a report, as one line, so that summaries can be
// summed up without the reports.
#pragma once

#include "fleet/model/fleet.h"
#include "fleet/read/members.h"

namespace gpucheck::fleet {

/// The first member of a condensed report; its value is the version.
inline constexpr std::string_view kCondensedKey = "gpucheck_condensed";
inline constexpr std::string_view kCondensedVersion = "1.0";

NodeReport condensed_from(dom::element document, Vocabulary& names, Flaw& flaw);

}  // namespace gpucheck::fleet
