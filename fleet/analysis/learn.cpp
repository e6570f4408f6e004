// What is normal, from nodes that are it; see learning.h.
#include "fleet/analysis/learning.h"

#include <algorithm>
#include <array>
#include <set>

#include "fleet/analysis/deliberation.h"
#include "fleet/analysis/excuse.h"
#include "fleet/analysis/metric_judge.h"

namespace gpucheck::fleet {
namespace {

/// Reasons that speak of one measurement, so that the others are still good examples.
bool of_one_measurement(const Policy& policy, const Reason& reason) {
    constexpr std::array<std::string_view, 5> kRules{"not measured", "no speed", "too few peers",
                                                     "too uneven", "uncompared"};
    if (reason.decision != Decision::no_evidence) return false;
    if (std::find(kRules.begin(), kRules.end(), reason.rule) != kRules.end()) return true;
    return std::any_of(policy.rules.begin(), policy.rules.end(),
                       [&](const Rule& rule) { return rule.missing_metric && rule.name == reason.rule; });
}

bool is_example(const Policy& policy, const NodeResult& node) {
    return std::all_of(node.reasons.begin(), node.reasons.end(),
                       [&](const Reason& reason) { return of_one_measurement(policy, reason); });
}

void take_rows(const Analysis& analysis, Baseline& baseline) {
    for (const Group& group : analysis.groups) {
        for (const MetricSummary& metric : group.metrics) {
            if (!metric.judged || !metric.centre || group.key.board.empty()) continue;
            const Centre& centre = *metric.centre;
            // Nor is a bar worth handing on that judges nobody.
            if (is_blunt(metric.more_is_better, centre.value, centre.bar)) continue;
            // A centre of more GPUs than the group has is borrowed from other drivers, and theirs to tell.
            if (centre.kept + centre.dropped == metric.distribution.count)
                baseline.rows.push_back({group.key, metric.metric, centre});
        }
    }
}

}  // namespace

Learned learn_from(const Fleet& fleet, const Policy& policy) {
    Learned learned;
    Analysis analysis = analyse(fleet, policy, nullptr);
    std::set<std::pair<GroupKey, std::string>> wanted;
    for (const Group& group : analysis.groups) {
        for (const MetricSummary& metric : group.metrics) {
            if (metric.judged) wanted.emplace(group.key, metric.metric);
        }
    }
    std::vector<bool> left_out(fleet.reports.size());
    const Clock clock(fleet, policy);
    for (const NodeResult& node : analysis.nodes) {
        const NodeReport& report = fleet.reports[node.report];
        if (!is_example(policy, node)) {
            learned.left_out.push_back(report.node + ": " + node.reasons.front().text);
            left_out[node.report] = true;
            continue;
        }
        if (clock.wrong(report).empty())
            learned.baseline.created = std::max(learned.baseline.created, report.created);
    }
    if (!learned.left_out.empty()) analysis = analyse_without(fleet, policy, nullptr, left_out);
    take_rows(analysis, learned.baseline);
    for (const Baseline::Row& row : learned.baseline.rows) wanted.erase({row.group, row.metric});
    for (const auto& [key, metric] : wanted) learned.unlearnt.push_back(metric + " of " + group_name(key));
    return learned;
}

Baseline learn(const Fleet& fleet, const Policy& policy) {
    return learn_from(fleet, policy).baseline;
}

}  // namespace gpucheck::fleet
