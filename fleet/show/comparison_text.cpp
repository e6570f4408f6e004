// What changed between two times, for a person: worse first, and never noise.
#include <algorithm>

#include "agent/report/escape.h"
#include "agent/report/layout.h"
#include "agent/report/words.h"
#include "fleet/show/show.h"
#include "fleet/show/words.h"

namespace gpucheck::fleet {

std::string comparison_text(const Comparison& comparison, const ShowOptions& options) {
    const auto worse = std::count_if(comparison.significant.begin(), comparison.significant.end(),
                                     [](const Change& change) { return change.worse; });
    const Decision decision = comparison.decision;
    const std::string word = decision == Decision::reject        ? "WORSE"
                             : decision == Decision::no_evidence ? "NOT ENOUGH EVIDENCE"
                             : comparison.significant.empty()    ? "UNCHANGED"
                                                                 : "CHANGED";
    const std::string what =
        comparison.two_samples ? report::plural(comparison.compared, "median") +
                                     " of nodes on each side compared as two samples, "
                               : report::plural(comparison.compared, "pair") + " of measurements compared, ";
    std::string out = coloured(word, decision, options.colour) + ": " +
                      report::plural(comparison.nodes_both, "node") + " in both, " +
                      std::to_string(comparison.nodes_only_before) + " only before, " +
                      std::to_string(comparison.nodes_only_after) + " only after; " + what +
                      report::plural(comparison.significant.size(), "change") + " beyond chance, " +
                      std::to_string(worse) + " for the worse\n";
    for (const std::string& reason : comparison.why)
        out += report::paragraph("  ", report::plain(reason, 1000), options.width);
    if (!comparison.significant.empty()) {
        report::Table table({"", "node", "what", "measurement", "before", "after", "ratio", "chance"});
        const std::size_t most = std::min(options.top, comparison.significant.size());
        for (std::size_t i = 0; i < most; ++i) {
            const Change& change = comparison.significant[i];
            table.add({change.worse ? "worse" : "other",
                       change.node.empty() ? "the fleet" : report::plain(change.node),
                       report::plain(change.subject), report::plain(change.metric),
                       report::plain(change.before), report::plain(change.after),
                       change.ratio > 0 ? percent(change.ratio) : "", change.p < 1 ? chance(change.p) : ""});
        }
        out += '\n';
        for (const std::string& line : table.lines(options.width - 2)) out += "  " + line + "\n";
        if (comparison.significant.size() > most)
            out += "  and " + std::to_string(comparison.significant.size() - most) + " more\n";
    }
    for (const std::string& note : comparison.notes) {
        out += report::paragraph("  ", report::plain(note, 1000), options.width);
    }
    return out;
}

}  // namespace gpucheck::fleet
