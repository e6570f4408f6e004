// What an analysis or a comparison says, for a person at 3 a.m. and for programs.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "fleet/model/analysis.h"
#include "fleet/model/fleet.h"
#include "fleet/model/policy.h"

namespace gpucheck::fleet {

struct ShowOptions {
    bool colour = false;
    std::size_t width = 100;
    std::size_t top = 20;  ///< rows of each table; what is left out is counted
    std::string policy;    ///< its name
    std::string baseline;  ///< when the baseline was made; empty: none was applied
};

/// Takes a document in pieces; false: nobody reads any more.
using Sink = std::function<bool(std::string_view)>;

/// The decision and why, then the nodes that are not accepted, the groups, what bad nodes share, what was not
/// judged. Strings of reports are made harmless for a terminal.
std::string summary_text(const Fleet& fleet, const Analysis& analysis, const ShowOptions& options);
/// docs/fleet.schema.json; with all reports, condensed, so that summaries can be summed up again: the result
/// is that of the reports themselves, byte for byte.
void summary_json(const Fleet& fleet, const Analysis& analysis, const ShowOptions& options, const Sink& sink);
/// One line of JSON for each node, worst first.
void summary_jsonl(const Fleet& fleet, const Analysis& analysis, const Sink& sink);

std::string comparison_text(const Comparison& comparison, const ShowOptions& options);
void comparison_json(const Comparison& comparison, const Sink& sink);

/// "gpus", "nodes", "own_node".
std::string_view name_of(Against against);

}  // namespace gpucheck::fleet
