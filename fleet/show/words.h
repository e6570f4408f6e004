// Numbers and decisions in words, the same in each table.
#pragma once

#include <string>
#include <string_view>

#include "fleet/show/show.h"

namespace gpucheck::fleet {

/// "ACCEPT", "REJECT", "QUARANTINE", "NOT ENOUGH EVIDENCE".
std::string_view shout(Decision decision);
/// For a terminal that has colours; `text` must be plain.
std::string coloured(std::string_view text, Decision decision, bool colour);
/// A node's name without control characters; one that begins or ends with a blank, or is nothing else, would
/// not be seen, and stands in quotes with its blanks written out.
std::string node_name(std::string_view name);
/// Four significant digits: "3812", "0.5124", "1.24e+09".
std::string figure(double value);
/// "94.1 %" of a share.
std::string percent(double share);
/// "0.00012", "< 1e-12".
std::string chance(double p);
/// "the group", "other nodes", "its node".
std::string_view against_words(Against against);

}  // namespace gpucheck::fleet
