// Four hundred reports into one decision: which nodes are out, which are slow against their peers, what the
// bad ones share; see fleet/model/policy.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "agent/report/words.h"
#include "fleet/analysis/deliberation.h"
#include "fleet/analysis/excuse.h"
#include "fleet/analysis/metric_judge.h"

namespace gpucheck::fleet {
namespace {

constexpr std::array<Decision, 4> kWorstFirst{Decision::reject, Decision::quarantine, Decision::no_evidence,
                                              Decision::accept};

std::size_t rank_of(Decision decision) {
    return static_cast<std::size_t>(std::find(kWorstFirst.begin(), kWorstFirst.end(), decision) -
                                    kWorstFirst.begin());
}

/// A hundred for each step of the decision, and below a hundred for what was found: each rule that spoke,
/// each failing code, how far its measurements are off.
double evidence_of(const Deliberation& work, std::size_t node, double off) {
    const NodeResult& result = work.nodes[node];
    const NodeReport& report = work.report(node);
    double found = off + 5 * static_cast<double>(result.reasons.size());
    for (const Problem& problem : report.problems) {
        if (problem.verdict == Verdict::fail) found += 10;
        if (problem.verdict == Verdict::unknown) found += 2;
        if (problem.verdict == Verdict::warn) found += 1;
    }
    return 100.0 * static_cast<double>(rank_of(Decision::accept) - rank_of(result.decision)) +
           std::min(found, 99.0);
}

void decide_nodes(Deliberation& work) {
    std::vector<double> off(work.nodes.size());
    for (const Outlier& outlier : work.outliers)
        off[outlier.node] += std::min(20.0, 100 * std::fabs(1 - outlier.ratio));
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        NodeResult& result = work.nodes[node];
        std::sort(result.reasons.begin(), result.reasons.end(), [](const Reason& a, const Reason& b) {
            return std::tuple(rank_of(a.decision), std::string_view(a.rule), a.gpu,
                              std::string_view(a.text)) <
                   std::tuple(rank_of(b.decision), std::string_view(b.rule), b.gpu, std::string_view(b.text));
        });
        const auto same = [](const Reason& a, const Reason& b) {
            return a.decision == b.decision && a.rule == b.rule && a.gpu == b.gpu && a.text == b.text;
        };
        result.reasons.erase(std::unique(result.reasons.begin(), result.reasons.end(), same),
                             result.reasons.end());
        result.decision = result.reasons.empty() ? Decision::accept : result.reasons.front().decision;
        result.evidence = evidence_of(work, node, off[node]);
    }
}

/// Worst first; what points to nodes follows them to their new places.
void rank(Deliberation& work, Analysis& analysis) {
    std::vector<std::size_t> order(work.nodes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return work.nodes[a].evidence > work.nodes[b].evidence;
    });
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    for (const std::size_t node : order) analysis.nodes.push_back(std::move(work.nodes[node]));
    for (WorkGroup& group : work.groups) {
        for (std::size_t& node : group.group.nodes) node = place[node];
        std::sort(group.group.nodes.begin(), group.group.nodes.end());
        analysis.groups.push_back(std::move(group.group));
    }
    analysis.outliers = std::move(work.outliers);
    for (Outlier& outlier : analysis.outliers) outlier.node = place[outlier.node];
    std::sort(analysis.outliers.begin(), analysis.outliers.end(), [](const Outlier& a, const Outlier& b) {
        return std::tie(a.z, a.node, a.gpu, a.metric, a.against) <
               std::tie(b.z, b.node, b.gpu, b.metric, b.against);
    });
}

/// "3 expected nodes are missing: a, b, c"
std::string missing_words(const std::vector<std::string_view>& missing) {
    constexpr std::size_t kNamed = 3;
    return report::plural(missing.size(), "expected node") +
           (missing.size() == 1 ? " is missing: " : " are missing: ") + report::list_words(missing, kNamed);
}

void tell_unread(const Fleet& fleet, Analysis& analysis) {
    std::vector<std::string_view> missing;
    std::size_t inputs = 0;
    for (const Rejected& row : fleet.rejected) {
        if (row.missing)
            missing.push_back(row.where);
        else
            inputs += row.inputs;
    }
    if (!missing.empty()) analysis.why.push_back(missing_words(missing));
    if (inputs != 0)
        analysis.why.push_back(report::plural(inputs, "input") + " could not be read as a report");
}

/// What may be said of a fleet that is accepted: a policy may accept what nobody looked at.
std::string accepted_words(const Deliberation& work, const Analysis& analysis) {
    const std::size_t all = analysis.nodes.size();
    std::size_t other = 0;
    bool compared = std::all_of(work.compared.begin(), work.compared.end(),
                                [](std::uint8_t aspects) { return aspects != 0; });
    for (const NodeResult& node : analysis.nodes) {
        const NodeReport& report = work.fleet.reports[node.report];
        if (report.verdict != Verdict::pass && report.verdict != Verdict::warn) ++other;
        if (report.gpus.empty()) compared = false;
    }
    std::string text = all == 1 ? std::string("its one node ") : "all " + std::to_string(all) + " nodes ";
    text += other == 0 ? (all == 1 ? "passes" : "pass") : (all == 1 ? "is accepted" : "are accepted");
    if (other != 0) text += ", " + std::to_string(other) + " of them without a pass of its own";
    if (!analysis.outliers.empty())
        return text + ", though " + report::plural(analysis.outliers.size(), "measurement") +
               " is slow against the peers and the policy has no rule for it";
    if (all == 1) return text;
    return text + (compared ? ", and none stands out from its peers"
                            : "; not all of their GPUs were compared with peers");
}

/// A rule for boards that are not there judged nobody: perhaps the boards are not what somebody thinks.
void tell_absent_boards(const Deliberation& work, Analysis& analysis) {
    constexpr std::size_t kMost = 5;
    std::set<std::string_view> present;
    for (const NodeResult& node : analysis.nodes) {
        for (const Gpu& gpu : work.fleet.reports[node.report].gpus) present.insert(work.text(gpu.board));
    }
    // Rules of one name are one demand in several parts.
    std::map<std::string_view, std::set<std::string_view>> absent;
    std::set<std::string_view> speaks;
    for (const Rule& rule : work.policy.rules) {
        if (rule.boards.empty()) speaks.insert(rule.name);
        for (const std::string& board : rule.boards) {
            if (present.contains(board)) speaks.insert(rule.name);
            absent[rule.name].insert(board);
        }
    }
    std::size_t told = 0;
    for (const auto& [name, boards] : absent) {
        if (speaks.contains(name) || analysis.nodes.empty() || told++ >= kMost) continue;
        std::string text = "the rule \"" + std::string(name) + "\" speaks of ";
        for (const std::string_view board : boards)
            text += (board == *boards.begin() ? "" : ", ") + std::string(board);
        analysis.why.push_back(text + ", which no node is known to have");
    }
    if (told > kMost)
        analysis.why.push_back("and " + std::to_string(told - kMost) +
                               " more rules speak of no node's board");
}

/// `rejected`: nodes. The fleet is accepted when every node is, every input was a report, and there is one.
void decide_fleet(const Deliberation& work, Analysis& analysis) {
    const Fleet& fleet = work.fleet;
    const Policy& policy = work.policy;
    for (const NodeResult& node : analysis.nodes) ++analysis.decisions[node.decision];
    const auto count = [&](Decision decision) {
        const auto found = analysis.decisions.find(decision);
        return found == analysis.decisions.end() ? std::size_t{0} : found->second;
    };
    const std::size_t all = analysis.nodes.size(), rejected = count(Decision::reject);
    const std::size_t quarantined = count(Decision::quarantine), unjudged = count(Decision::no_evidence);
    if (rejected != 0)
        analysis.why.push_back(report::plural(rejected, "node") + " of " + std::to_string(all) + " rejected");
    if (quarantined != 0)
        analysis.why.push_back(report::plural(quarantined, "node") +
                               " in quarantine until somebody has looked");
    if (unjudged != 0) analysis.why.push_back(report::plural(unjudged, "node") + " without enough evidence");
    tell_unread(fleet, analysis);
    if (all == 0) analysis.why.emplace_back("there is no report");
    const bool too_many = static_cast<double>(rejected) > policy.max_reject_share * static_cast<double>(all);
    if (rejected != 0 && too_many)
        analysis.notes.push_back(
            "more than " + number(policy.max_reject_share * 100, 3) +
            " % of the nodes are rejected: look for a common cause before any is sent back");
    if (rejected != 0) {
        analysis.decision = Decision::reject;
    } else if (quarantined + unjudged + fleet.rejected.size() != 0 || all == 0) {
        analysis.decision = Decision::no_evidence;
    } else {
        analysis.decision = Decision::accept;
        analysis.why.push_back(accepted_words(work, analysis));
    }
    tell_absent_boards(work, analysis);
}

void note_excused(const Deliberation& work, Analysis& analysis) {
    std::map<std::string, std::size_t> excused;
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        if (!work.counts[node]) ++excused[work.nodes[node].reasons.front().rule];
    }
    for (const auto& [rule, count] : excused)
        analysis.notes.push_back(report::plural(count, "node") + " with no evidence: " + rule);
}

void keep_notes(Deliberation& work, Analysis& analysis) {
    constexpr std::size_t kMost = 100;
    std::size_t left_out = 0;
    for (std::string& note : work.notes) {
        if (analysis.notes.size() < kMost)
            analysis.notes.push_back(std::move(note));
        else
            ++left_out;
    }
    if (left_out != 0) analysis.notes.push_back("and " + std::to_string(left_out) + " more notes");
}

/// One note for all groups of a kind: a thousand drivers must not make a thousand notes.
void note_groups(Deliberation& work, const std::set<std::size_t>& groups, const std::string& what) {
    constexpr std::size_t kNamed = 3;
    if (groups.empty()) return;
    std::string text = what + ": ";
    std::size_t named = 0;
    for (const std::size_t index : groups) {
        if (named == kNamed) break;
        const WorkGroup& group = work.groups[index];
        text += (named++ == 0 ? "" : "; ") + group_name(group.group.key) + " (" +
                report::plural(group.members.size(), "GPU") + ")";
    }
    if (groups.size() > kNamed) text += " and " + std::to_string(groups.size() - kNamed) + " more";
    work.notes.push_back(std::move(text));
}

}  // namespace

Analysis analyse(const Fleet& fleet, const Policy& policy, const Baseline* baseline) {
    return analyse_without(fleet, policy, baseline, {});
}

Analysis analyse_without(const Fleet& fleet, const Policy& policy, const Baseline* baseline,
                         const std::vector<bool>& left_out) {
    Analysis analysis;
    Selection selection = select_reports(fleet, policy);
    Deliberation work(fleet, policy);
    work.baseline = baseline;
    work.nodes = std::move(selection.nodes);
    work.counts = std::move(selection.counts);
    analysis.notes = std::move(selection.notes);
    note_excused(work, analysis);
    find_doubles(work, analysis.notes);
    for (std::size_t node = 0; node < work.nodes.size() && !left_out.empty(); ++node)
        work.counts[node] = work.counts[node] && !left_out[work.nodes[node].report];
    group_nodes(work);
    for (std::size_t group = 0; group < work.groups.size(); ++group) {
        for (const Name metric : work.groups[group].metrics)
            work.groups[group].group.metrics.push_back(judge_metric(work, group, metric));
    }
    compare_groups(work);
    note_groups(work, work.uncompared,
                "not compared, because " + std::to_string(policy.min_group) +
                    " GPUs of one known board in three nodes are needed, or a baseline");
    note_groups(work, work.across_drivers,
                "too few with their driver, and compared with other drivers' GPUs");
    find_liars(work);
    find_unlike(work);
    find_lesser(work);
    find_offenders(work, analysis.offenders);
    apply_policy(work);
    apply_coverage(work);
    analysis.commons = find_commons(work);
    keep_notes(work, analysis);
    decide_nodes(work);
    rank(work, analysis);
    decide_fleet(work, analysis);
    return analysis;
}

}  // namespace gpucheck::fleet
