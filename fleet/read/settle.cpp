// One order for what was read in any: a report that lies there twice counts once, and two that claim to be
// the same report count not at all.
#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "fleet/model/read.h"

namespace gpucheck::fleet {
namespace {

using Reports = std::vector<NodeReport>;

// What the machine said, without what reading adds.
std::string said(const Fleet& fleet, const NodeReport& report) {
    NodeReport bare = report;
    bare.where.clear();
    bare.labels.clear();
    bare.verified = false;
    return condensed(fleet, bare);
}

// The same report from two places: of both what is known.
void join(NodeReport& kept, const NodeReport& other, const Vocabulary& names) {
    kept.where = std::min(kept.where, other.where);
    kept.verified = kept.verified || other.verified;
    if (other.labels.empty()) return;
    std::map<std::string_view, std::pair<Name, Name>> labels;
    for (const auto* list : {&std::as_const(kept.labels), &other.labels}) {
        for (const auto& label : *list) {
            const auto [known, added] = labels.emplace(names.text(label.first), label);
            if (!added && names.text(label.second) < names.text(known->second.second)) known->second = label;
        }
    }
    kept.labels.clear();
    for (const auto& each : labels) kept.labels.push_back(each.second);
}

/// Of the reports with one id: one of each content.
Reports distinct(const Fleet& fleet, Reports::iterator begin, Reports::iterator end) {
    std::map<std::string, NodeReport> contents;
    for (auto report = begin; report != end; ++report) {
        const auto [known, added] = contents.try_emplace(said(fleet, *report), *report);
        if (!added) join(known->second, *report, fleet.names);
    }
    Reports kept;
    for (auto& each : contents) kept.push_back(std::move(each.second));
    return kept;
}

bool by_id(const NodeReport& a, const NodeReport& b) {
    return std::tie(a.report_id, a.where) < std::tie(b.report_id, b.where);
}

}  // namespace

void settle(Fleet& fleet) {
    Reports all = std::move(fleet.reports);
    std::move(fleet.conflicting.begin(), fleet.conflicting.end(), std::back_inserter(all));
    fleet.reports.clear();
    fleet.conflicting.clear();
    std::sort(all.begin(), all.end(), by_id);
    std::size_t kept = 0;
    for (auto begin = all.begin(); begin != all.end();) {
        const auto end = std::find_if(
            begin, all.end(), [&](const NodeReport& each) { return each.report_id != begin->report_id; });
        Reports same;
        if (end - begin > 1) same = distinct(fleet, begin, end);
        if (same.size() > 1) {
            std::sort(same.begin(), same.end(), by_id);
            std::move(same.begin(), same.end(), std::back_inserter(fleet.conflicting));
        } else {
            NodeReport one = same.empty() ? std::move(*begin) : std::move(same.front());
            all[kept++] = std::move(one);
        }
        begin = end;
    }
    all.resize(kept);
    std::sort(all.begin(), all.end(), [](const NodeReport& a, const NodeReport& b) {
        return std::tie(a.key, a.node, a.created, a.report_id) <
               std::tie(b.key, b.node, b.created, b.report_id);
    });
    fleet.reports = std::move(all);

    std::vector<Rejected> conflicts = conflict_rows(fleet);
    std::move(conflicts.begin(), conflicts.end(), std::back_inserter(fleet.rejected));
    const auto row = [](const Rejected& each) { return std::tie(each.where, each.why); };
    std::sort(fleet.rejected.begin(), fleet.rejected.end(),
              [&](const Rejected& a, const Rejected& b) { return row(a) < row(b); });
    fleet.rejected.erase(std::unique(fleet.rejected.begin(), fleet.rejected.end(),
                                     [&](const Rejected& a, const Rejected& b) { return row(a) == row(b); }),
                         fleet.rejected.end());
}

std::vector<Rejected> conflict_rows(const Fleet& fleet) {
    std::vector<Rejected> rows;
    const auto place = [](const NodeReport& report) {
        return report.where.empty() ? "report " + report.report_id : report.where;
    };
    for (std::size_t i = 0; i < fleet.conflicting.size(); ++i) {
        const NodeReport& own = fleet.conflicting[i];
        const bool with_previous = i > 0 && fleet.conflicting[i - 1].report_id == own.report_id;
        const NodeReport& other = fleet.conflicting[with_previous ? i - 1 : i + 1];
        rows.push_back({place(own), "has the report_id " + own.report_id + " (node " + own.node +
                                        "), as has another report: " + place(other) + " (node " + other.node +
                                        ")"});
    }
    return rows;
}

}  // namespace gpucheck::fleet
