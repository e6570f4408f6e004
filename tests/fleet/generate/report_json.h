// A synthetic node's report in the form of docs/report.schema.json, some 15 KB as of a real node of eight
// GPUs.
#pragma once

#include <string>

#include "fleet/model/fleet.h"

namespace gpucheck::fleet {

/// Appends one line with its newline.
void append_report(std::string& out, const NodeReport& report, const Vocabulary& names);

}  // namespace gpucheck::fleet
