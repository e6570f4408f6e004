// A fleet and its analysis as columns: four thousand nodes as objects with names would be three times the
// page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fleet/model/analysis.h"
#include "fleet/model/fleet.h"
#include "fleet/page/json_text.h"
#include "fleet/page/page.h"

namespace gpucheck::fleet {

/// What the parts of the data are written from and into.
struct PageData {
    const Fleet& fleet;
    const Analysis& analysis;
    std::size_t listed = 0;  ///< the worst so many of analysis.nodes
    TextTable names;
    JsonText json;

    /// The number in the page's own table.
    std::int64_t name(Name name) { return names.number(fleet.names.text(name)); }
    const NodeReport& report(std::size_t node) const {
        return fleet.reports.at(analysis.nodes.at(node).report);
    }
};

/// The whole data, one JSON object. What page.js reads; its members are named there.
std::string page_data(const Fleet& fleet, const Analysis& analysis, const PageOptions& options);

/// The parts of it, each one or more members.
void add_nodes(PageData& data);
void add_gpus(PageData& data);
void add_reasons(PageData& data);
void add_problems(PageData& data);
void add_checks(PageData& data);
void add_history(PageData& data);
void add_costs(PageData& data);
void add_groups(PageData& data);
void add_outliers(PageData& data);
void add_shared_causes(PageData& data);

/// Of each listed node the worst of its judged measurements against its group's centre.
struct WorstRatio {
    double ratio = 0;  ///< below 1 is worse than the centre; 0: nothing could be compared
    std::string metric;
    int gpu = -1;
};
std::vector<WorstRatio> worst_ratios(const PageData& data);

}  // namespace gpucheck::fleet
