// What a fleet's analysis says, as one page for whoever is called at night: a page that fetches nothing still
// opens from a ticket, a mail or a machine without a network.
#pragma once

#include <cstddef>
#include <string>

#include "fleet/model/analysis.h"
#include "fleet/model/fleet.h"

namespace gpucheck::fleet {

struct PageOptions {
    std::string title = "GPU fleet";
    std::string made = {};  ///< RFC 3339: when the analysis was made; empty: not said. The page has no clock
    std::string policy = {};    ///< the policy's name; empty: not said
    std::string baseline = {};  ///< when the baseline that was applied was made; empty: none was
    unsigned refresh_seconds =
        0;  ///< the page loads itself again so often, when nobody is reading it (`serve`); 0: never
    std::size_t max_nodes =
        10'000;  ///< the worst so many nodes are listed; the page says how many it leaves out
};

/// One HTML document: style, script, charts and data inside, nothing fetched. The same arguments give the
/// same bytes, whatever the order in which the reports were read. Every string of a report is data: none can
/// become markup or script. About 1.7 KB a node of eight GPUs. For
/// one thread at a time, as the catalogue that it reads is.
std::string page(const Fleet& fleet, const Analysis& analysis, const PageOptions& options);

/// The value of a Content-Security-Policy header for it; the page says the same in a meta element.
std::string page_policy();

/// False when the build found no Chart.js: the page then shows tables alone and says so.
bool page_has_charts();

}  // namespace gpucheck::fleet
