// Finds nodes that a policy's rules over measurements could not be applied to: a contract's "at least 2900
// GB/s" passes every node of a fleet in which nobody measured it.
#include <algorithm>
#include <cmath>

#include "fleet/analysis/deliberation.h"

namespace gpucheck::fleet {
namespace {

enum class Lack : std::uint8_t { board, peers, measurement };

/// A GPU that a rule spoke of, and could not be held against it.
struct Hole {
    std::uint32_t node = 0, gpu = 0;
    const Rule* rule = nullptr;
    Lack lack = Lack::measurement;
};

/// One rule as it stands to one group: what of the group's measurements it can be applied to.
struct Demand {
    const Rule* rule = nullptr;
    std::size_t index = 0;  ///< into the policy's rules
    bool board_known = true;
    std::vector<Name> usable;
};

bool is_pattern(const Rule& rule) {
    return rule.metric.find('*') != std::string::npos;
}

/// Rules over nothing in particular that is missing: "missing_metric" of a pattern asks the peers.
bool demands(const Rule& rule) {
    return rule.decision != Decision::accept && !rule.metric.empty() &&
           !(rule.missing_metric && is_pattern(rule));
}

bool needs_normal(const Rule& rule) {
    return rule.ratio_below || rule.z_below;
}

std::vector<Name> usable(const WorkGroup& group, const Rule& rule) {
    std::vector<Name> names;
    for (std::size_t each = 0; each < group.metrics.size(); ++each) {
        const MetricSummary& summary = group.group.metrics[each];
        if (summary.judged && metric_matches(rule.metric, summary.metric) &&
            (summary.centre || !needs_normal(rule)))
            names.push_back(group.metrics[each]);
    }
    return names;
}

bool measures_one_of(const Gpu& gpu, const std::vector<Name>& names) {
    return std::any_of(gpu.values.begin(), gpu.values.end(), [&](const Value& value) {
        return is_speed(value.value) && std::find(names.begin(), names.end(), value.metric) != names.end();
    });
}

bool measures(const Deliberation& work, const Gpu& gpu, const Rule& rule) {
    return std::any_of(gpu.values.begin(), gpu.values.end(), [&](const Value& value) {
        return metric_matches(rule.metric, work.text(value.metric));
    });
}

/// Another reason says so already: nothing at all was measured of this GPU, or compared with anything.
bool told_anyway(const Deliberation& work, const Rule& rule, const Member& member) {
    const std::size_t place = work.first_gpu[member.node] + member.gpu;
    return !work.policy.accept_uncompared &&
           (!work.measured[place] || (needs_normal(rule) && !work.compared[place]));
}

std::string words(const Hole& hole) {
    switch (hole.lack) {
        case Lack::board:
            return "are of a board that nobody knows";
        case Lack::peers:
            return "have too few peers to be compared in " + hole.rule->metric;
        case Lack::measurement:
            break;
    }
    return "have no measurement of " + hole.rule->metric;
}

class Holes {
  public:
    explicit Holes(Deliberation& work) : work_(work) {}

    /// Rules of one name are one demand in several parts: it is enough that one of them can be applied.
    void look(const WorkGroup& group) {
        std::map<std::string_view, std::vector<Demand>> by_name;
        for (std::size_t index = 0; index < work_.policy.rules.size(); ++index) {
            const Rule& rule = work_.policy.rules[index];
            // Who accepts nodes without peers does not ask for what only peers can tell.
            if (!demands(rule) || (needs_normal(rule) && work_.policy.accept_uncompared)) continue;
            const std::string& board = group.group.key.board;
            const bool named = std::find(rule.boards.begin(), rule.boards.end(), board) != rule.boards.end();
            if (!rule.boards.empty() && !named && !board.empty()) continue;
            const bool known = rule.boards.empty() || named;
            by_name[rule.name].push_back(
                {&rule, index, known, known ? usable(group, rule) : std::vector<Name>()});
        }
        for (const auto& [name, parts] : by_name) {
            for (const Member& member : group.members) look(member, parts);
        }
    }

    void tell() {
        std::sort(holes_.begin(), holes_.end(), [](const Hole& a, const Hole& b) {
            return std::tie(a.node, a.rule->name, a.gpu) < std::tie(b.node, b.rule->name, b.gpu);
        });
        for (std::size_t first = 0, end = 0; first < holes_.size(); first = end) {
            const Hole& hole = holes_[first];
            while (end < holes_.size() && holes_[end].node == hole.node &&
                   holes_[end].rule->name == hole.rule->name)
                ++end;
            work_.add(hole.node, Decision::no_evidence, "rule not applied",
                      "the rule \"" + hole.rule->name +
                          "\" could not be applied: " + std::to_string(end - first) + " of its " +
                          std::to_string(work_.report(hole.node).gpus.size()) + " GPUs " + words(hole));
        }
    }

  private:
    void look(const Member& member, const std::vector<Demand>& parts) {
        const NodeReport& report = work_.report(member.node);
        const Gpu& gpu = report.gpus[member.gpu];
        const Demand* open = nullptr;
        for (const Demand& part : parts) {
            if (measures_one_of(gpu, part.usable)) return;
            if (open != nullptr || told_anyway(work_, *part.rule, member)) continue;
            if (work_.hits.contains({member.node, part.index}))
                return;  // a missing measurement, said already
            if (speaks_of(work_, *part.rule, report, static_cast<int>(member.gpu))) open = &part;
        }
        if (open == nullptr) return;
        const Lack lack = !open->board_known                  ? Lack::board
                          : measures(work_, gpu, *open->rule) ? Lack::peers
                                                              : Lack::measurement;
        holes_.push_back({member.node, member.gpu, open->rule, lack});
    }

    Deliberation& work_;
    std::vector<Hole> holes_;
};

}  // namespace

void apply_values(Deliberation& work) {
    for (std::size_t index = 0; index < work.groups.size(); ++index) {
        const WorkGroup& group = work.groups[index];
        for (std::size_t each = 0; each < group.group.metrics.size(); ++each) {
            const MetricSummary& summary = group.group.metrics[each];
            if (!summary.judged || summary.centre || !has_plain_rules(work.policy, summary.metric)) continue;
            for (const Cell& cell : column_of(work, group.members, group.metrics[each])) {
                Outlier alone;
                alone.group = index;
                alone.node = cell.node;
                alone.gpu = cell.gpu;
                alone.metric = summary.metric;
                alone.value = cell.value;
                apply_rules(work, group, alone, 1, false, false);
            }
        }
    }
}

void find_unapplied(Deliberation& work) {
    Holes holes(work);
    for (const WorkGroup& group : work.groups) holes.look(group);
    holes.tell();
}

}  // namespace gpucheck::fleet
