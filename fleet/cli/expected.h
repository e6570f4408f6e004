// The nodes that somebody expects: one that hung sends nothing, and a fleet is not accepted on the others
// alone.
#pragma once

#include <optional>
#include <string>

#include "fleet/model/fleet.h"

namespace gpucheck::fleet {

/// Each node that the list in `file` names, one a line, and of which no report counts, becomes a row of
/// `fleet.rejected`. A report answers for one name: that of its file (NODE.json), else its node's name, else
/// its key, else its node's name up to the first dot. An error is a sentence.
std::optional<std::string> note_missing(Fleet& fleet, const std::string& file);

}  // namespace gpucheck::fleet
