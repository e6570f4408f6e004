// An analysis for whoever is called at night: the decision first, then which nodes and why, and never a
// number without what it is compared with.
#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <utility>

#include "agent/report/escape.h"
#include "agent/report/layout.h"
#include "agent/report/words.h"
#include "fleet/analysis/files.h"
#include "fleet/show/show.h"
#include "fleet/show/words.h"

namespace gpucheck::fleet {
namespace {

using report::plain;

std::string headline(const Fleet& fleet, const Analysis& analysis, const ShowOptions& options) {
    const auto number = [&](Decision decision) {
        const auto found = analysis.decisions.find(decision);
        return found == analysis.decisions.end() ? std::size_t{0} : found->second;
    };
    const std::string of = report::plural(analysis.nodes.size(), "node");
    std::string text = of + ": " + std::to_string(number(Decision::accept)) + " accepted, " +
                       std::to_string(number(Decision::reject)) + " rejected, " +
                       std::to_string(number(Decision::quarantine)) + " in quarantine, " +
                       std::to_string(number(Decision::no_evidence)) + " without enough evidence";
    std::size_t missing = 0, inputs = 0;
    for (const Rejected& row : fleet.rejected) row.missing ? ++missing : inputs += row.inputs;
    if (missing != 0) text += "; " + report::plural(missing, "expected node") + " missing";
    if (inputs != 0) text += "; " + report::plural(inputs, "input") + " not read";
    return coloured(shout(analysis.decision), analysis.decision, options.colour) + ": " + text + "\n";
}

/// A node's name, with its key where two have the same.
class NodeNames {
  public:
    NodeNames(const Fleet& fleet, const Analysis& analysis) {
        for (const NodeResult& node : analysis.nodes) {
            const std::string_view name = fleet.reports[node.report].node;
            if (!seen_.insert(name).second) shared_.insert(name);
        }
    }
    std::string of(const NodeReport& report) const {
        const std::string name = node_name(report.node);
        return shared_.contains(report.node) ? name + " (" + plain(report.key) + ")" : name;
    }

  private:
    std::set<std::string_view> seen_, shared_;
};

// "and 380 more"
void left_out(std::string& out, std::size_t all, std::size_t shown) {
    if (all > shown) out += "  and " + std::to_string(all - shown) + " more\n";
}

void add_table(std::string& out, const report::Table& table, const ShowOptions& options) {
    for (const std::string& line : table.lines(options.width - 2)) out += "  " + line + "\n";
}

// Two rules over one thing say the same sentence, up to how many more of its kind each found behind the
// semicolon: the worse of them, which comes first, says it.
std::vector<const Reason*> told_once(const NodeResult& node) {
    std::vector<const Reason*> reasons;
    std::set<std::pair<int, std::string_view>> seen;
    for (const Reason& reason : node.reasons) {
        const std::string_view sentence(reason.text);
        if (seen.emplace(reason.gpu, sentence.substr(0, sentence.find("; "))).second)
            reasons.push_back(&reason);
    }
    return reasons;
}

void add_nodes(std::string& out, const Fleet& fleet, const Analysis& analysis, const NodeNames& names,
               const ShowOptions& options) {
    std::vector<const NodeResult*> shown;
    for (const NodeResult& node : analysis.nodes) {
        if (node.decision != Decision::accept) shown.push_back(&node);
    }
    if (shown.empty()) return;
    out += "\nNodes that are not accepted, worst first\n";
    const std::size_t most = std::min(options.top, shown.size());
    for (std::size_t i = 0; i < most; ++i) {
        const NodeResult& node = *shown[i];
        const NodeReport& report = fleet.reports[node.report];
        const std::string word(name_of(node.decision));
        out += "  " + coloured(word == "no_evidence" ? "no evidence" : word, node.decision, options.colour) +
               "  " + names.of(report);
        if (report.simulated || report.injected) out += "  (a rehearsal, not live hardware)";
        out += '\n';
        constexpr std::size_t kMostReasons = 5;
        const std::vector<const Reason*> reasons = told_once(node);
        for (std::size_t r = 0; r < std::min(kMostReasons, reasons.size()); ++r) {
            const Reason& reason = *reasons[r];
            std::string where;
            if (reason.gpu >= 0 && static_cast<std::size_t>(reason.gpu) < report.gpus.size())
                where = fleet.names.text(report.gpus[static_cast<std::size_t>(reason.gpu)].bdf);
            // The sentence often names the GPU itself.
            const std::string told = where.empty() || reason.text.find(where) != std::string::npos
                                         ? reason.text
                                         : where + ": " + reason.text;
            out += report::paragraph("      ", plain(told, 1000), options.width);
        }
        if (reasons.size() > kMostReasons)
            out += "      and " + std::to_string(reasons.size() - kMostReasons) + " more reasons\n";
    }
    left_out(out, shown.size(), most);
}

std::string group_name(const GroupKey& key) {
    std::string text = key.board.empty() ? "unknown board" : key.board;
    for (const std::string& part : {key.instance_type, key.driver, key.profile, key.mode}) {
        if (!part.empty() && part != "whole") text += ", " + part;
    }
    if (key.memory_gib != 0) text += ", " + std::to_string(key.memory_gib) + " GiB";
    return plain(text);
}

void add_group(std::string& out, const Analysis& analysis, std::size_t index, const ShowOptions& options) {
    const Group& group = analysis.groups[index];
    out += "\n" + group_name(group.key) + ": " + report::plural(group.nodes.size(), "node") + " (";
    bool first = true;
    for (const auto& [verdict, count] : group.verdicts) {
        out += (first ? "" : ", ") + std::to_string(count) + ' ' + std::string(name_of(verdict));
        first = false;
    }
    out += ")\n";
    if (group.metrics.empty()) {
        out += "  nothing was measured\n";
        return;
    }
    report::Table table(
        {"measurement", "GPUs", "median", "spread", "5 %", "95 %", "normal", "bar", "outliers"});
    for (const MetricSummary& metric : group.metrics) {
        const Distribution& spread = metric.distribution;
        const auto outliers = std::count_if(
            analysis.outliers.begin(), analysis.outliers.end(),
            [&](const Outlier& each) { return each.group == index && each.metric == metric.metric; });
        const std::string normal =
            !metric.judged   ? "not judged"
            : !metric.centre ? "unknown"
                             : figure(metric.centre->value) + (metric.from_baseline ? " (baseline)" : "");
        table.add({plain(metric.metric), std::to_string(spread.count), figure(spread.median),
                   spread.median > 0 ? percent(spread.mad / spread.median) : "-", figure(spread.p05),
                   figure(spread.p95), normal,
                   metric.judged && metric.centre ? figure(metric.centre->bar) : "-",
                   outliers > 0 ? std::to_string(outliers) : "-"});
    }
    add_table(out, table, options);
}

void add_groups(std::string& out, const Analysis& analysis, const ShowOptions& options) {
    const std::size_t most = std::min(options.top, analysis.groups.size());
    for (std::size_t i = 0; i < most; ++i) add_group(out, analysis, i, options);
    if (analysis.groups.size() > most)
        out += "\nand " + std::to_string(analysis.groups.size() - most) + " more groups\n";
}

void add_outliers(std::string& out, const Fleet& fleet, const Analysis& analysis, const NodeNames& names,
                  const ShowOptions& options) {
    if (analysis.outliers.empty()) return;
    out += "\nSlow against their peers, worst first\n";
    report::Table table({"node", "GPU", "measurement", "value", "normal", "of normal", "z", "against"});
    const std::size_t most = std::min(options.top, analysis.outliers.size());
    for (std::size_t i = 0; i < most; ++i) {
        const Outlier& each = analysis.outliers[i];
        const NodeReport& report = fleet.reports[analysis.nodes[each.node].report];
        const bool known = each.gpu < report.gpus.size();
        table.add({names.of(report), known ? plain(fleet.names.text(report.gpus[each.gpu].bdf)) : "",
                   plain(each.metric), figure(each.value), figure(each.centre), percent(each.ratio),
                   figure(each.z), std::string(against_words(each.against))});
    }
    add_table(out, table, options);
    left_out(out, analysis.outliers.size(), most);
}

void add_commons(std::string& out, const Analysis& analysis, const ShowOptions& options) {
    if (analysis.commons.empty()) return;
    out += "\nWhat the bad ones share, more often than chance explains\n";
    const std::size_t most = std::min(options.top, analysis.commons.size());
    for (std::size_t i = 0; i < most; ++i) {
        const Common& each = analysis.commons[i];
        const std::string told = each.property + " " + each.value + ": " + std::to_string(each.bad_with) +
                                 " of " + std::to_string(each.with) + " have " +
                                 (each.problem == "any" ? std::string("a problem") : each.problem) +
                                 ", of all " + std::to_string(each.bad) + " of " + std::to_string(each.all) +
                                 " (chance: " + chance(each.p) + ")";
        out += report::paragraph("  ", plain(told, 1000), options.width);
    }
    left_out(out, analysis.commons.size(), most);
}

void add_offenders(std::string& out, const Analysis& analysis, const ShowOptions& options) {
    if (analysis.offenders.empty()) return;
    out += "\nBad before, wherever they sat\n";
    const std::size_t most = std::min(options.top, analysis.offenders.size());
    for (std::size_t i = 0; i < most; ++i) {
        const Offender& each = analysis.offenders[i];
        std::string told = "GPU " + each.identity + ": " + std::to_string(each.times.size()) + " times";
        if (!each.times.empty()) {
            const Offender::Time &first = each.times.front(), &last = each.times.back();
            told += ", first " + first.created + " on " + first.node + " (" + first.problem + "), last " +
                    last.created + " on " + last.node + " (" + last.problem + ")";
        }
        out += report::paragraph("  ", plain(told, 1000), options.width);
    }
    left_out(out, analysis.offenders.size(), most);
}

void add_rejected(std::string& out, const Fleet& fleet, const Analysis& analysis,
                  const ShowOptions& options) {
    if (!analysis.notes.empty()) out += "\nNot judged\n";
    for (const std::string& note : analysis.notes)
        out += report::paragraph("  ", plain(note, 1000), options.width);
    if (fleet.rejected.empty()) return;
    out += "\nNot read: no evidence about any node\n";
    const std::size_t most = std::min(options.top, fleet.rejected.size());
    for (std::size_t i = 0; i < most; ++i) {
        const Rejected& row = fleet.rejected[i];
        out += report::paragraph("  ", plain(row.where, 500) + ": " + plain(row.why, 1000), options.width);
    }
    left_out(out, fleet.rejected.size(), most);
}

}  // namespace

std::string summary_text(const Fleet& fleet, const Analysis& analysis, const ShowOptions& options) {
    std::string out = headline(fleet, analysis, options);
    for (const std::string& why : analysis.why)
        out += report::paragraph("  ", plain(why, 1000), options.width);
    for (const std::string& remark : fleet.remarks)
        out += report::paragraph("  ", plain(remark, 1000), options.width);
    std::string judged = "by the policy \"" + options.policy + "\"";
    if (!options.baseline.empty()) judged += " and the baseline of " + options.baseline;
    out += report::paragraph("  ", plain(judged), options.width);
    const NodeNames names(fleet, analysis);
    add_nodes(out, fleet, analysis, names, options);
    add_outliers(out, fleet, analysis, names, options);
    add_commons(out, analysis, options);
    add_offenders(out, analysis, options);
    add_groups(out, analysis, options);
    add_rejected(out, fleet, analysis, options);
    return out;
}

}  // namespace gpucheck::fleet
