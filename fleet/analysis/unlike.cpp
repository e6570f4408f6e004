// Finds the node whose driver, kernel or firmware its peers do not have: grouping by driver would hide it,
// since a node alone with its driver is compared with nobody.
#include <algorithm>
#include <array>
#include <cmath>

#include "fleet/analysis/deliberation.h"

namespace gpucheck::fleet {
namespace {

constexpr std::size_t kFewestPeers = 5;
constexpr double kMajority = 0.75;

struct Holding {
    Name value;
    std::uint32_t node;
    auto operator<=>(const Holding&) const = default;
};

/// Nodes that hold what few others do, where nearly all hold one thing.
void judge_property(Deliberation& work, const std::string& what, std::vector<Holding> held) {
    std::sort(held.begin(), held.end());
    held.erase(std::unique(held.begin(), held.end()), held.end());
    std::vector<std::uint32_t> nodes;
    for (const Holding& each : held) nodes.push_back(each.node);
    std::sort(nodes.begin(), nodes.end());
    const auto all = static_cast<std::size_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
    if (all < kFewestPeers) return;
    struct Run {
        std::size_t first, end;
    };
    std::vector<Run> runs;
    for (std::size_t first = 0; first < held.size();) {
        std::size_t end = first;
        while (end < held.size() && held[end].value == held[first].value) ++end;
        runs.push_back({first, end});
        first = end;
    }
    const auto size = [](const Run& run) { return run.end - run.first; };
    const auto few = std::max<std::size_t>(
        1, static_cast<std::size_t>(work.policy.unlike_share * static_cast<double>(all)));
    // Half a fleet on a newer driver is a roll-out; what lies beside both halves is not part of it.
    const std::size_t known = std::max(2 * few, all / 10);
    std::size_t usual = 0;
    Run most{0, 0};
    for (const Run& run : runs) {
        if (size(run) <= known && size(run) != all) continue;
        usual += size(run);
        const bool more =
            size(run) > size(most) ||
            (size(run) == size(most) && work.text(held[run.first].value) < work.text(held[most.first].value));
        if (more) most = run;
    }
    if (static_cast<double>(usual) < kMajority * static_cast<double>(all)) return;
    for (const Run& run : runs) {
        if (size(run) > few) continue;
        for (std::size_t each = run.first; each < run.end; ++each) {
            work.mark(held[each].node, -1, "unlike " + what, false);
            work.add(held[each].node, Decision::quarantine, "unlike its peers",
                     what + " '" + work.text(held[each].value) + "'; " + std::to_string(size(most)) + " of " +
                         std::to_string(all) + " nodes of its kind have '" +
                         work.text(held[most.first].value) + "'");
        }
    }
}

void note_several_drivers(Deliberation& work, const std::vector<std::size_t>& cohort) {
    if (cohort.size() < 2) return;
    std::string text;
    for (std::size_t i = 0; i < cohort.size() && i < 4; ++i) {
        const Group& group = work.groups[cohort[i]].group;
        text += (i == 0 ? "" : ", ") + std::to_string(group.nodes.size()) + " x " +
                (group.key.driver.empty() ? "unknown" : group.key.driver);
    }
    if (cohort.size() > 4) text += " and " + std::to_string(cohort.size() - 4) + " more";
    const GroupKey& key = work.groups[cohort.front()].group.key;
    work.notes.push_back(
        "several drivers on " +
        group_name({key.board, key.instance_type, "", key.profile, key.mode, key.memory_gib}) + ": " + text +
        "; each is compared with its own");
}

}  // namespace

void find_unlike(Deliberation& work) {
    for (const auto& cohort : work.cohorts) note_several_drivers(work, cohort);
    if (work.policy.unlike_share <= 0) return;
    std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> kinds;
    for (std::size_t index = 0; index < work.groups.size(); ++index) {
        const GroupKey& key = work.groups[index].group.key;
        if (!key.board.empty()) kinds[{key.board, key.instance_type}].push_back(index);
    }
    for (const auto& [kind, groups] : kinds) {
        std::array<std::vector<Holding>, 3> held;
        for (const std::size_t index : groups) {
            for (const Member& member : work.groups[index].members) {
                const NodeReport& report = work.report(member.node);
                const std::array<Name, 3> values{report.driver, report.kernel,
                                                 report.gpus[member.gpu].firmware};
                for (std::size_t i = 0; i < values.size(); ++i) {
                    // Not known is not unlike.
                    const Holding mine{values[i], member.node};
                    if (mine.value != kNoName && (held[i].empty() || held[i].back() != mine))
                        held[i].push_back(mine);
                }
            }
        }
        judge_property(work, "driver", std::move(held[0]));
        judge_property(work, "kernel", std::move(held[1]));
        judge_property(work, "firmware", std::move(held[2]));
    }
}

}  // namespace gpucheck::fleet
