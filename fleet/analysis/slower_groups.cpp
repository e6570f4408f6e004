// Finds slow nodes that something else puts into a group of their own: five nodes whose newer driver makes
// their memory ten times slower are all alike, and would be each other's normal.
#include <algorithm>
#include <cmath>

#include "fleet/analysis/metric_judge.h"

namespace gpucheck::fleet {
namespace {

/// Groups of one board nearer than this are one speed: MLPerf's healthy systems of one GPU differ by 2 %, and
/// chips under a power limit by 8 % on average (arXiv:2208.11035), whatever their driver.
constexpr double kLeastGap = 0.08;
/// No spread excuses more: the widest healthy one that is known is 11 %.
constexpr double kMostGap = 0.30;
/// Standard errors by which centres of healthy groups may differ.
constexpr double kErrors = 6;
/// What a node adds to its chips' spread, at most: a third of it.
constexpr double kNodeShare = 1.0 / 9;

/// One measurement of one group.
struct Side {
    std::size_t group = 0;
    double centre = 0;  ///< median of its GPUs, in the measurement's own unit
    std::size_t gpus = 0;
    std::vector<std::uint32_t> nodes;
    std::vector<float> medians;    ///< of each node
    std::vector<float> strayings;  ///< how far a node's GPUs lie from each other, as a share
    bool settled = false;          ///< a baseline says what is normal
};

Side side_of(const Deliberation& work, std::size_t group, Name metric, bool from_baseline) {
    Side side;
    side.group = group;
    side.settled = from_baseline;
    const std::vector<Cell> column = column_of(work, work.groups[group].members, metric);
    std::vector<float> all, part;
    for (std::size_t first = 0; first < column.size();) {
        std::size_t end = first;
        part.clear();
        while (end < column.size() && column[end].node == column[first].node) {
            part.push_back(column[end].value);
            ++end;
        }
        all.insert(all.end(), part.begin(), part.end());
        side.nodes.push_back(column[first].node);
        const double median = median_of(part);
        side.medians.push_back(static_cast<float>(median));
        if (part.size() >= kFewestInNode) {
            for (float& value : part) value = static_cast<float>(std::fabs(value - median) / median);
            // A median absolute deviation of four to eight values is a fifth too small.
            side.strayings.push_back(static_cast<float>(1.2 * 1.4826 * median_of(part)));
        }
        first = end;
    }
    side.gpus = all.size();
    if (!all.empty()) side.centre = median_of(all);
    return side;
}

/// What the best of a board's groups give.
struct Best {
    double value = 0;
    std::size_t group = 0;
    bool known = false;
};

Best best_of(const Deliberation& work, const std::vector<Side>& sides, bool more) {
    Best best;
    const auto better = [&](double a, double b) { return more ? a > b : a < b; };
    std::vector<std::pair<float, std::size_t>> small;  // nodes of groups that have no normal of their own
    std::size_t small_gpus = 0;
    for (const Side& side : sides) {
        if (side.nodes.size() >= kFewestForNormal && side.gpus >= work.policy.min_group) {
            if (!best.known || better(side.centre, best.value)) best = {side.centre, side.group, true};
            continue;
        }
        small_gpus += side.gpus;
        for (const float median : side.medians) small.emplace_back(median, side.group);
    }
    if (small.size() < kFewestForNormal || small_gpus < work.policy.min_group) return best;
    std::sort(small.begin(), small.end());
    if (!more) std::reverse(small.begin(), small.end());
    // Each with a driver of its own: the better quarter of them, of which one may be better by chance.
    const auto& quarter = small[(3 * (small.size() - 1) + 3) / 4];
    if (!best.known || better(quarter.first, best.value)) best = {quarter.first, quarter.second, true};
    return best;
}

/// The spread of chips, as a share: within nodes, where two populations cannot widen it; else what the better
/// half shows.
double spread_of(const std::vector<Side>& sides, double best, bool more) {
    std::vector<float> strayings, off;
    for (const Side& side : sides) {
        strayings.insert(strayings.end(), side.strayings.begin(), side.strayings.end());
        for (const float median : side.medians) {
            if (more ? median >= best : median <= best)
                off.push_back(static_cast<float>(std::fabs(median - best) / best));
        }
    }
    if (!strayings.empty()) return median_of(strayings);
    return off.empty() ? 0 : 2 * 1.4826 * median_of(off);
}

std::string quoted(const std::string& text) {
    return text.empty() ? "unknown" : text;
}

/// In what `mine` differs from `other`, as `mine` has it.
std::string unlike_part(const GroupKey& mine, const GroupKey& other) {
    std::string text;
    const auto add = [&](const std::string& what, const std::string& value) {
        text += (text.empty() ? "" : ", ") + what + " " + quoted(value);
    };
    if (mine.driver != other.driver) add("driver", mine.driver);
    if (mine.instance_type != other.instance_type) add("instance type", mine.instance_type);
    if (mine.profile != other.profile) add("profile", mine.profile);
    if (mine.mode != other.mode) add("mode", mine.mode);
    if (mine.memory_gib != other.memory_gib)
        add("memory", mine.memory_gib == 0 ? "" : std::to_string(mine.memory_gib) + " GiB");
    return text;
}

void compare_sides(Deliberation& work, Name metric, const std::vector<Side>& sides) {
    const std::string& name = work.text(metric);
    const bool more = direction_of(name).more_is_better;
    const Best best = best_of(work, sides, more);
    if (!best.known || best.value <= 0) return;
    const double spread = spread_of(sides, best.value, more);
    const GroupKey& fastest = work.groups[best.group].group.key;
    for (const Side& side : sides) {
        if (side.settled || side.nodes.empty() || side.group == best.group) continue;
        const auto error = [](std::size_t gpus, std::size_t nodes) {
            return 1.5708 / static_cast<double>(gpus) + kNodeShare / static_cast<double>(nodes);
        };
        const double chance = kErrors * spread * std::sqrt(error(side.gpus, side.nodes.size()));
        const double ratio = more ? side.centre / best.value : best.value / side.centre;
        if (ratio >= 1 - std::clamp(chance, kLeastGap, kMostGap)) continue;
        const GroupKey& mine = work.groups[side.group].group.key;
        const std::string gap = number(side.centre / best.value, 3) + " of the " + name + " of nodes with " +
                                unlike_part(fastest, mine) + " (" + number(side.centre) + " and " +
                                number(best.value) + ")";
        const std::string text = "nodes with " + unlike_part(mine, fastest) + " give " + gap +
                                 ": that may be its doing or a fault, and a baseline for them would tell";
        work.notes.push_back(group_name(mine) + ": " + text);
        for (const std::uint32_t node : side.nodes)
            work.add(node, Decision::no_evidence, "slower group", text);
    }
}

}  // namespace

void compare_groups(Deliberation& work) {
    if (work.policy.accept_uncompared) return;
    std::map<std::string, std::set<std::string>> modes;  // that are known, of each board
    for (const WorkGroup& group : work.groups) {
        if (!group.group.key.mode.empty()) modes[group.group.key.board].insert(group.group.key.mode);
    }
    std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> kinds;
    for (std::size_t index = 0; index < work.groups.size(); ++index) {
        const GroupKey& key = work.groups[index].group.key;
        if (key.board.empty()) continue;
        const auto known = modes.find(key.board);
        // Where all others of a board are cut in one way, one that does not say how must not hide by it.
        const bool as_others = key.mode.empty() && known != modes.end() && known->second.size() == 1;
        kinds[{key.board, as_others ? *known->second.begin() : key.mode}].push_back(index);
    }
    for (const auto& [kind, groups] : kinds) {
        if (groups.size() < 2) continue;
        std::map<std::string_view, std::pair<Name, std::vector<Side>>> metrics;
        for (const std::size_t index : groups) {
            const WorkGroup& group = work.groups[index];
            for (std::size_t i = 0; i < group.metrics.size(); ++i) {
                const MetricSummary& summary = group.group.metrics[i];
                if (!summary.judged) continue;
                auto& [metric, sides] = metrics[work.text(group.metrics[i])];
                metric = group.metrics[i];
                sides.push_back(side_of(work, index, metric, summary.from_baseline));
            }
        }
        for (const auto& [name, of] : metrics) compare_sides(work, of.first, of.second);
    }
}

}  // namespace gpucheck::fleet
