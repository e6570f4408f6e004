// The nodes that somebody expects: one that hung sends nothing, and a fleet is not accepted on the others
// alone.
#pragma once

#include <optional>
#include <string>

#include "fleet/model/fleet.h"
#include "fleet/model/policy.h"

namespace gpucheck::fleet {

/// Each node that the list in `file` (none: empty) names, one a line, or that an earlier summary missed, and
/// for which nobody answers, becomes a row of `fleet.rejected`. Of each machine the report that speaks for it
/// under `policy` answers, for one name: that of its file (NODE.json), else its node's name, else its key,
/// else its node's name up to the first dot. An error is a sentence.
std::optional<std::string> note_missing(Fleet& fleet, const Policy& policy, const std::string& file);

}  // namespace gpucheck::fleet
