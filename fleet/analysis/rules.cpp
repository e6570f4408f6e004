// What an operator wrote down decides, and what nobody looked at is never accepted.
#include <algorithm>
#include <cmath>
#include <set>

#include "fleet/analysis/deliberation.h"

namespace gpucheck::fleet {
namespace {

template <class T>
bool holds(const std::vector<T>& list, const T& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

bool about_problems(const Rule& rule) {
    return !rule.codes.empty() || !rule.scopes.empty();
}

bool matches_problem(const Deliberation& work, const Rule& rule, const NodeReport& report,
                     const Problem& problem) {
    if (!rule.verdicts.empty() && !holds(rule.verdicts, problem.verdict)) return false;
    if (!rule.scopes.empty() && !holds(rule.scopes, work.text(problem.scope))) return false;
    if (!rule.codes.empty() &&
        std::none_of(rule.codes.begin(), rule.codes.end(),
                     [&](const std::string& code) { return code_matches(code, work.text(problem.code)); }))
        return false;
    if (rule.boards.empty() || problem.gpu < 0) return true;
    return holds(rule.boards, work.text(report.gpus[static_cast<std::size_t>(problem.gpu)].board));
}

/// The members that speak of the node and not of a measurement. `gpu` -1: any.
const Problem* problem_for(const Deliberation& work, const Rule& rule, const NodeReport& report, int gpu) {
    for (const Problem& problem : report.problems) {
        if (gpu >= 0 && problem.gpu >= 0 && problem.gpu != gpu) continue;
        if (problem.gpu >= static_cast<int>(report.gpus.size())) continue;
        if (matches_problem(work, rule, report, problem)) return &problem;
    }
    return nullptr;
}

bool matches_node(const Deliberation& work, const Rule& rule, const NodeReport& report, int gpu) {
    if (!speaks_of(work, rule, report, gpu)) return false;
    return rule.boards.empty() || std::any_of(report.gpus.begin(), report.gpus.end(), [&](const Gpu& each) {
               return holds(rule.boards, work.text(each.board));
           });
}

bool about_metric(const Rule& rule, const WorkGroup& group, std::string_view metric) {
    return !rule.metric.empty() && metric_matches(rule.metric, metric) &&
           (rule.boards.empty() || holds(rule.boards, group.group.key.board));
}

std::string measured_text(const Deliberation& work, const Rule& rule, const Hit& hit) {
    const Outlier& o = hit.worst;
    const NodeReport& report = work.report(o.node);
    if (!hit.missing.empty()) {
        std::string text = std::to_string(hit.gpus) + " of its " + std::to_string(report.gpus.size()) +
                           " GPUs lack what their peers have: ";
        for (std::size_t i = 0; i < hit.missing.size() && i < 4; ++i)
            text += (i == 0 ? "" : ", ") + work.text(hit.missing[i]);
        return hit.missing.size() > 4 ? text + " and " + std::to_string(hit.missing.size() - 4) + " more"
                                      : text;
    }
    if (rule.value_below && !rule.ratio_below && !rule.z_below) {
        const std::string text = "GPU " + work.text(report.gpus[o.gpu].bdf) + ": " + o.metric + " " +
                                 number(o.value) + ", and " + number(*rule.value_below) + " is demanded";
        return hit.gpus > 1 ? text + "; " + std::to_string(hit.gpus) + " measurements of it like this" : text;
    }
    std::string text = o.against == Against::nodes
                           ? "the whole node: median " + o.metric
                           : "GPU " + work.text(report.gpus[o.gpu].bdf) + ": " + o.metric;
    text += " " + number(o.value) + " against " + number(o.centre) +
            (o.against == Against::nodes      ? " of the other nodes"
             : o.against == Against::own_node ? " of its node's GPUs"
                                              : " of its peers") +
            " (" + number(o.ratio * 100, 3) + " %, z " + number(o.z, 3) + ")";
    if (hit.gpus > 1) text += "; " + std::to_string(hit.gpus) + " measurements of it like this";
    if (hit.capped) text += "; the comparison is too weak to reject for it";
    return text;
}

void apply_hits(Deliberation& work) {
    for (const auto& [place, hit] : work.hits) {
        const Rule& rule = work.policy.rules[place.second];
        const bool weaker = hit.capped && rule.decision == Decision::reject;
        const bool whole = hit.worst.against == Against::nodes || !hit.missing.empty();
        work.add(place.first, weaker ? Decision::quarantine : rule.decision, rule.name,
                 measured_text(work, rule, hit), whole ? -1 : static_cast<int>(hit.worst.gpu));
    }
}

std::string problem_text(const Deliberation& work, const Problem& problem) {
    return work.text(problem.code) + " on " + work.text(problem.subject) + " (" +
           std::string(name_of(problem.verdict)) + ", scope " + work.text(problem.scope) + ")";
}

/// Rules over codes, scopes and verdicts. Returns whether everything that fails or is unknown is accepted by
/// a rule that names it.
struct Waived {
    bool failures = true, unknowns = true;
};

Waived apply_node_rules(Deliberation& work, std::size_t node) {
    const NodeReport& report = work.report(node);
    for (const Rule& rule : work.policy.rules) {
        if (!rule.metric.empty() || rule.missing_metric || rule.decision == Decision::accept) continue;
        if (rule.verdicts.empty() && !about_problems(rule) && rule.boards.empty()) continue;
        if (!matches_node(work, rule, report, -1)) continue;
        const Problem* problem = about_problems(rule) ? problem_for(work, rule, report, -1) : nullptr;
        work.add(node, rule.decision, rule.name,
                 problem != nullptr ? problem_text(work, *problem)
                                    : "its verdict is " + std::string(name_of(report.verdict)),
                 problem != nullptr ? problem->gpu : -1);
    }
    Waived waived;
    bool failure = false, unknown = false;
    for (const Problem& problem : report.problems) {
        const bool named =
            std::any_of(work.policy.rules.begin(), work.policy.rules.end(), [&](const Rule& rule) {
                return rule.decision == Decision::accept && rule.metric.empty() && !rule.codes.empty() &&
                       problem.gpu < static_cast<int>(report.gpus.size()) &&
                       matches_problem(work, rule, report, problem);
            });
        if (problem.verdict == Verdict::fail) failure = true, waived.failures &= named;
        if (problem.verdict == Verdict::unknown) unknown = true, waived.unknowns &= named;
    }
    waived.failures &= failure || report.verdict != Verdict::fail;
    waived.unknowns &= unknown || report.verdict != Verdict::unknown;
    return waived;
}

/// What holds whatever a policy says: a failure is never accepted because no rule speaks of it, nor is what
/// was not looked at.
void apply_safety(Deliberation& work, std::size_t node, const Waived& waived) {
    const NodeReport& report = work.report(node);
    const bool settled = std::any_of(
        work.nodes[node].reasons.begin(), work.nodes[node].reasons.end(), [](const Reason& reason) {
            return reason.decision == Decision::reject || reason.decision == Decision::quarantine;
        });
    if (!waived.failures && !settled)
        work.add(node, Decision::quarantine, "failed", "it fails, and no rule of the policy says what to do");
    if (report.gpus_expected >= 0 && report.gpus_found >= 0 && report.gpus_found < report.gpus_expected)
        work.add(node, Decision::quarantine, "GPUs missing",
                 std::to_string(report.gpus_found) + " of " + std::to_string(report.gpus_expected) +
                     " GPUs are there");
    if (!work.policy.accept_unknown && !waived.unknowns)
        work.add(node, Decision::no_evidence, "unknown", "something that had to be looked at could not be");
    const auto unjudged = std::count_if(report.gpus.begin(), report.gpus.end(), [](const Gpu& gpu) {
        return gpu.verdict == Verdict::unknown || gpu.verdict == Verdict::not_applicable;
    });
    if (!work.policy.accept_unknown && waived.unknowns && unjudged != 0)
        work.add(node, Decision::no_evidence, "unknown",
                 "nothing was found out about " + std::to_string(unjudged) + " of its " +
                     std::to_string(report.gpus.size()) + " GPUs");
    if (report.verdict == Verdict::not_applicable || report.gpus.empty())
        work.add(node, Decision::no_evidence, "nothing looked at", "its report judges no GPU");
}

void mark_problems(Deliberation& work, std::size_t node) {
    std::set<std::pair<std::string, int>> seen;
    const NodeReport& report = work.report(node);
    for (const Problem& problem : report.problems) {
        if (problem.verdict == Verdict::fail && problem.gpu < static_cast<int>(report.gpus.size()) &&
            seen.emplace(work.text(problem.code), problem.gpu).second)
            work.mark(node, problem.gpu, work.text(problem.code));
    }
}

}  // namespace

bool speaks_of(const Deliberation& work, const Rule& rule, const NodeReport& report, int gpu) {
    if (!rule.verdicts.empty() && !holds(rule.verdicts, report.verdict)) return false;
    return !about_problems(rule) || problem_for(work, rule, report, gpu) != nullptr;
}

double slow_below(const Policy& policy, const WorkGroup& group, std::string_view metric) {
    double least = 0;
    for (const Rule& rule : policy.rules) {
        if (rule.z_below && rule.ratio_below && rule.decision != Decision::accept &&
            about_metric(rule, group, metric))
            least = std::max(least, *rule.ratio_below);
    }
    return least;
}

bool has_plain_rules(const Policy& policy, std::string_view metric) {
    return std::any_of(policy.rules.begin(), policy.rules.end(), [&](const Rule& rule) {
        return !rule.z_below && (rule.ratio_below || rule.value_below) && !rule.metric.empty() &&
               metric_matches(rule.metric, metric);
    });
}

void apply_rules(Deliberation& work, const WorkGroup& group, const Outlier& outlier, double goodness_ratio,
                 bool beyond, bool capped) {
    const bool whole = outlier.against == Against::nodes;
    for (std::size_t index = 0; index < work.policy.rules.size(); ++index) {
        const Rule& rule = work.policy.rules[index];
        if (rule.decision == Decision::accept || rule.missing_metric ||
            !about_metric(rule, group, outlier.metric))
            continue;
        // A rule with z asks whom peers and chance call an outlier; one without asks for the value alone.
        if (rule.z_below.has_value() != beyond || (!rule.z_below && !rule.ratio_below && !rule.value_below))
            continue;
        if (rule.z_below && outlier.z > *rule.z_below) continue;
        if (rule.ratio_below && goodness_ratio >= *rule.ratio_below) continue;
        if (rule.value_below && outlier.value >= *rule.value_below) continue;
        const bool weak = capped && (rule.ratio_below || rule.z_below);  // a bare value needs no peers
        if (!matches_node(work, rule, work.report(outlier.node), whole ? -1 : static_cast<int>(outlier.gpu)))
            continue;
        const auto [place, fresh] =
            work.hits.emplace(std::pair(static_cast<std::uint32_t>(outlier.node), index), Hit{});
        Hit& hit = place->second;
        ++hit.gpus;
        if (!fresh && hit.capped == weak && hit.worst.z <= outlier.z) continue;
        if (!fresh && weak && !hit.capped) continue;  // what rejects outweighs what does not
        hit.worst = outlier;
        hit.capped = weak;
    }
}

void apply_missing(Deliberation& work, const WorkGroup& group, Name metric, const std::vector<Cell>& column) {
    if (!is_hole(column.size(), group.members.size())) return;
    const std::string& name = work.text(metric);
    std::vector<std::size_t> rules;
    for (std::size_t index = 0; index < work.policy.rules.size(); ++index) {
        const Rule& rule = work.policy.rules[index];
        if (rule.missing_metric && rule.decision != Decision::accept && about_metric(rule, group, name))
            rules.push_back(index);
    }
    std::size_t at = 0;
    for (const Member& member : group.members) {
        if (at < column.size() && column[at].node == member.node && column[at].gpu == member.gpu) {
            ++at;
            continue;
        }
        for (const std::size_t index : rules) {
            if (!matches_node(work, work.policy.rules[index], work.report(member.node),
                              static_cast<int>(member.gpu)))
                continue;
            Hit& hit = work.hits[{member.node, index}];
            hit.worst.node = member.node;
            if (hit.missing.empty() || hit.missing.back() != metric) {
                hit.missing.push_back(metric);
                hit.gpus = std::max<std::size_t>(hit.gpus, 1);
            } else if (hit.missing.size() == 1) {
                ++hit.gpus;
            }
        }
    }
}

void apply_policy(Deliberation& work) {
    apply_values(work);
    apply_hits(work);
    find_unapplied(work);
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        if (!work.counts[node]) continue;
        const Waived waived = apply_node_rules(work, node);
        apply_safety(work, node, waived);
        mark_problems(work, node);
    }
}

Policy default_policy() {
    const auto slow = [](const char* name, Decision decision, const char* metric, double ratio) {
        Rule rule;
        rule.name = name;
        rule.decision = decision;
        rule.metric = metric;
        rule.ratio_below = ratio;
        rule.z_below = -4.5;
        return rule;
    };
    Policy policy;
    policy.max_reject_share = 0.25;
    Rule host, failed, missing;
    host.name = "failed on the host's side";
    host.verdicts = {Verdict::fail};
    host.scopes = {"host"};
    failed.name = "failed";
    failed.decision = Decision::quarantine;
    failed.verdicts = {Verdict::fail};
    missing.name = "missing measurement";
    missing.decision = Decision::no_evidence;
    missing.metric = "*";
    missing.missing_metric = true;
    policy.rules = {host,
                    failed,
                    slow("slow memory", Decision::reject, "memory_*", 0.97),
                    slow("slow arithmetic", Decision::reject, "*_tflops", 0.95),
                    slow("slow arithmetic", Decision::reject, "*_tops", 0.95),
                    slow("slow", Decision::quarantine, "*", 0.85),
                    missing};
    return policy;
}

}  // namespace gpucheck::fleet
