// What an analysis is made of on its way: nodes in the order of their names, groups of like GPUs, and one
// measurement of one group at a time, so that 100,000 nodes need little beside their reports.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "fleet/analysis/metrics.h"
#include "fleet/analysis/selection.h"
#include "fleet/analysis/statistics.h"
#include "fleet/model/policy.h"

namespace gpucheck::fleet {

struct Member {
    std::uint32_t node = 0, gpu = 0;
};

struct Cell {
    float value = 0;
    std::uint32_t node = 0, gpu = 0;
};

struct WorkGroup {
    Group group;
    std::vector<Member> members;  ///< GPUs of nodes that count, by node
    std::vector<Name> metrics;    ///< by text
    std::size_t cohort = 0;       ///< groups that differ in nothing but the driver
};

/// What one rule of the policy found on one node.
struct Hit {
    Outlier worst;  ///< metric empty: not about a measurement
    std::size_t gpus = 0;
    bool whole_node = false;
    bool capped = false;  ///< the comparison is too weak for a rejection
    std::vector<Name> missing;
};

/// A problem that a node has, for what the bad ones have in common.
struct Mark {
    std::uint32_t node = 0;
    int gpu = -1;
    std::uint32_t problem = 0;  ///< into Deliberation::problems
    bool hard = true;           ///< false: its cause is the property itself (an unlike driver)
};

/// How far a node stands from being plausible, over all its measurements.
struct Plausibility {
    std::uint16_t spreads = 0, uniform = 0,
                  identical = 0;  ///< measurements with a spread; with none to speak of
};

/// How much memory the boards of one name have: one name may cover several boards, and a board that shows
/// less than all others of its name is none of its own.
class MemorySizes {
  public:
    struct Size {
        double least = 0, most = 0;  ///< GiB
        unsigned gib = 0;            ///< what it is called
        bool odd = false;            ///< of too few nodes to be another board; called as the others are
    };
    using Kind = std::tuple<Name, Name, Name>;  ///< board, instance type, mode
    std::map<Kind, std::vector<Size>> sizes;    ///< ascending

    /// 0: not known, or not known which.
    unsigned of(const NodeReport& report, std::size_t gpu) const;
    const Size* find(const NodeReport& report, std::size_t gpu) const;
};
/// Sizes that differ by less are of one board: firmware and drivers keep some memory for themselves.
constexpr double kSameMemory = 1.1;
constexpr bool same_memory(double a, double b) {
    return a <= b * kSameMemory && b <= a * kSameMemory;
}

struct Deliberation {
    Deliberation(const Fleet& of, const Policy& by) : fleet(of), policy(by) {}

    const Fleet& fleet;
    const Policy& policy;
    const Baseline* baseline = nullptr;
    std::vector<NodeResult> nodes;
    std::vector<bool> counts;
    std::vector<WorkGroup> groups;
    std::vector<std::vector<std::size_t>> cohorts;
    std::size_t gpu_comparisons = 0, node_comparisons = 0;
    std::vector<std::size_t> first_gpu;                 ///< of each node, into the two below
    std::vector<std::uint8_t> measured, compared;       ///< a bit for each Aspect
    std::vector<std::pair<std::uint32_t, Name>> alone;  ///< nodes and measurements without a comparison
    MemorySizes memory;
    std::vector<Plausibility> plausibility;
    std::vector<Outlier> outliers;
    std::map<std::pair<std::uint32_t, std::size_t>, Hit> hits;  ///< by node and rule
    std::vector<std::string> problems;
    std::map<std::string, std::uint32_t, std::less<>> problem_numbers;
    std::vector<Mark> marks;
    std::vector<std::string> notes;
    std::set<std::size_t> uncompared;      ///< groups with a measurement that has no normal
    std::set<std::size_t> across_drivers;  ///< groups that were compared with other drivers' GPUs
    std::map<std::pair<std::size_t, Name>, Settled> pooled;  ///< by cohort and metric

    const NodeReport& report(std::size_t node) const { return fleet.reports[nodes[node].report]; }
    const Gpu& gpu(const Cell& cell) const { return report(cell.node).gpus[cell.gpu]; }
    const std::string& text(Name name) const { return fleet.names.text(name); }
    void add(std::size_t node, Decision decision, std::string rule, std::string text, int gpu = -1) {
        nodes[node].reasons.push_back({decision, std::move(rule), std::move(text), gpu});
    }
    void mark(std::size_t node, int gpu, std::string_view problem, bool hard = true);
};

/// Fills groups, cohorts and what is counted over them.
void group_nodes(Deliberation& work);
/// The values of one metric over `members`; what is no number is left out, as if it had not been measured.
std::vector<Cell> column_of(const Deliberation& work, const std::vector<Member>& members, Name metric);

/// Judges one metric of one group; fills the summary's centre, outliers, hits and marks.
MetricSummary judge_metric(Deliberation& work, std::size_t group, Name metric);
/// What a rule finds: `gpu` alone for measurements, the whole node where it is compared as one.
void apply_rules(Deliberation& work, const WorkGroup& group, const Outlier& outlier, double goodness_ratio,
                 bool beyond, bool capped);
/// The members of a rule that speak of the node and not of a measurement or a board. `gpu` -1: any.
bool speaks_of(const Deliberation& work, const Rule& rule, const NodeReport& report, int gpu);
/// Bars in a measurement's own unit, where nobody knows a normal.
void apply_values(Deliberation& work);
/// Nodes that a rule over measurements speaks of and could not be applied to.
void find_unapplied(Deliberation& work);
/// The highest share of the normal speed that a rule for outliers calls slow; 0: none does.
double slow_below(const Policy& policy, const WorkGroup& group, std::string_view metric);
/// Rules that need no peers: a value in its own unit, or a ratio alone.
bool has_plain_rules(const Policy& policy, std::string_view metric);
/// A tenth of the peers have it: less would be somebody's choice of experiments, and no hole.
constexpr bool is_hole(std::size_t have, std::size_t all) {
    return 10 * have >= all && have < all;
}
void apply_missing(Deliberation& work, const WorkGroup& group, Name metric, const std::vector<Cell>& column);

/// Numbers that no such GPU gives: above the datasheet, alike to the last digit, without spread, copied.
void judge_plausibility(Deliberation& work, const WorkGroup& group, std::string_view metric,
                        const std::vector<Cell>& column);
void find_liars(Deliberation& work);

MemorySizes memory_sizes(const Deliberation& work);
/// Fewer GPUs, lanes or GiB than the peers have, as findings of the fleet: codes that a policy can name.
void find_lesser(Deliberation& work);

/// Nodes whose driver, kernel or firmware their peers do not have.
void find_unlike(Deliberation& work);
/// GPUs that two nodes claim to have at one time.
void find_doubles(Deliberation& work, std::vector<std::string>& notes);
void find_offenders(Deliberation& work, std::vector<Offender>& offenders);
void apply_policy(Deliberation& work);
/// What an accept needs: memory, arithmetic and the host link of each GPU, every measurement compared.
void apply_coverage(Deliberation& work);
/// A measurement that some nodes lack, too few to call it a hole: it is said.
void note_partial(Deliberation& work, const WorkGroup& group, Name metric, const std::vector<Cell>& column);
std::vector<Common> find_commons(const Deliberation& work);

/// "2791", "0.9401": what fits into a sentence.
std::string number(double value, int digits = 4);
std::string group_name(const GroupKey& key);

}  // namespace gpucheck::fleet
