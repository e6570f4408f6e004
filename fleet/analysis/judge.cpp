// Finds what is slow against its peers: a GPU against the fleet's, a node against the other nodes, a GPU
// against the rest of its node. Absolute floors are loose (DCGM demands 75 % of what NVIDIA measured), so
// that only this shows a GPU that is 6 % slow.
#include <algorithm>
#include <cmath>

#include "fleet/analysis/metric_judge.h"

namespace gpucheck::fleet {
namespace {

constexpr double kBetterNode = 1.03, kBetterGpu = 1.05, kBetterTime = 1.5;

}  // namespace

double MetricJudge::ratio(double good, double centre) const {
    constexpr double kMost = 1e6;  // nothing is infinite in JSON
    const double above = direction_.more_is_better ? good : centre;
    const double below = direction_.more_is_better ? centre : good;
    if (above == 0 && below == 0) return 1;
    return below == 0 ? kMost : std::min(kMost, above / below);
}

std::vector<float> MetricJudge::sorted_goodness(const std::vector<Cell>& column) const {
    std::vector<float> ascending;
    ascending.reserve(column.size());
    for (const Cell& cell : column) ascending.push_back(goodness(cell));
    std::sort(ascending.begin(), ascending.end());
    return ascending;
}

void MetricJudge::split_nodes() {
    std::vector<float> values;
    for (std::size_t first = 0; first < column_.size();) {
        NodePart part{first, first, 0, first};
        values.clear();
        while (part.end < column_.size() && column_[part.end].node == column_[first].node) {
            values.push_back(goodness(column_[part.end]));
            if (values.back() < goodness(column_[part.worst])) part.worst = part.end;
            ++part.end;
        }
        part.median = static_cast<float>(median_of(values));
        nodes_.push_back(part);
        first = part.end;
    }
}

Outlier MetricJudge::outlier(Against against, std::size_t cell, double good, double centre,
                             double spread) const {
    Outlier made;
    made.against = against;
    made.group = index_;
    made.node = column_[cell].node;
    made.gpu = column_[cell].gpu;
    made.metric = name_;
    made.value = std::fabs(good);
    made.centre = std::fabs(centre);
    made.ratio = made.centre == 0 ? 1 : made.value / made.centre;
    made.z = spread == 0 ? 0 : (good - centre) / spread;
    return made;
}

void MetricJudge::consider(const Outlier& outlier, const Yardstick& by, double good_ratio) {
    if (outlier.z <= -by.bar && good_ratio <= 1 - kLeastShortfall) worse_.push_back({outlier, good_ratio});
    const double least = !direction_.more_is_better          ? kBetterTime
                         : outlier.against == Against::nodes ? kBetterNode
                                                             : kBetterGpu;
    // One good chip among others is luck of the draw; a node of them is not, nor a chip that is a node.
    const bool speaks = outlier.against == Against::nodes || work_.report(outlier.node).gpus.size() == 1;
    if (speaks && outlier.z >= by.good_bar && good_ratio >= least) better_.push_back({outlier, good_ratio});
}

/// Nodes' medians against each other. From a baseline only chips' spread is known: a median of k independent
/// chips spreads by sqrt(pi / 2k) of it, and no less than this fleet's nodes do.
void MetricJudge::judge_nodes(const Yardstick& gpus, bool learned_here) {
    std::vector<float> medians;
    std::size_t in_node = 0;
    for (const NodePart& part : nodes_) {
        if (part.end - part.first < 2) continue;
        medians.push_back(part.median);
        in_node = std::max(in_node, part.end - part.first);
    }
    std::sort(medians.begin(), medians.end());
    Yardstick yardstick;
    if (medians.size() >= kFewestNodes) yardstick = learned(medians, work_.node_comparisons, false);
    if (!learned_here) {
        const double theory =
            gpus.settled.spread * std::sqrt(1.5708 / static_cast<double>(std::max<std::size_t>(in_node, 1)));
        if (!yardstick.known) yardstick.settled.spread = gpus.settled.spread;
        yardstick.settled.value = gpus.settled.value;
        yardstick.settled.spread =
            std::max({yardstick.settled.spread, theory, kLeastSpread * std::fabs(gpus.settled.value)});
        yardstick.bar = yardstick.good_bar = std::max(yardstick.bar, gpus.bar);
        yardstick.known = true;
    }
    if (!yardstick.known) return;
    for (const NodePart& part : nodes_) {
        if (part.end - part.first < 2) continue;
        const Settled& settled = yardstick.settled;
        consider(outlier(Against::nodes, part.worst, part.median, settled.value, settled.spread), yardstick,
                 ratio(std::fabs(part.median), std::fabs(settled.value)));
    }
}

void MetricJudge::judge_gpus(const Yardstick& gpus) {
    const Yardstick own = residuals();
    const bool plain = has_plain_rules(work_.policy, name_);
    for (const NodePart& part : nodes_) {
        const bool at_home = own.known && part.end - part.first >= kFewestInNode;
        const std::vector<float> medians = at_home ? others_medians(part) : std::vector<float>();
        for (std::size_t cell = part.first; cell < part.end; ++cell) {
            const float good = goodness(column_[cell]);
            const Outlier fleet = outlier(Against::gpus, cell, good, gpus.settled.value, gpus.settled.spread);
            const double fleet_ratio = ratio(std::fabs(good), std::fabs(gpus.settled.value));
            if (plain) apply_rules(work_, group_, fleet, fleet_ratio, false, weak_);
            const float median = at_home ? medians[cell - part.first] : 0;
            if (median != 0) {
                const Outlier home =
                    outlier(Against::own_node, cell, good, median, own.settled.spread * std::fabs(median));
                if (home.z <= -own.bar && home.z / own.bar < fleet.z / gpus.bar) {
                    consider(home, own, ratio(std::fabs(good), std::fabs(median)));
                    continue;
                }
            }
            consider(fleet, gpus, fleet_ratio);
        }
    }
}

/// The nodes that the yardstick was learned from.
std::size_t MetricJudge::nodes_behind() const {
    if (!weak_) return nodes_.size();
    std::size_t nodes = 0;
    for (const std::size_t sibling : work_.cohorts[group_.cohort])
        nodes += work_.groups[sibling].group.nodes.size();
    return nodes;
}

/// A bar that lies this low judges nobody: accepted by it would be whoever computes at all.
void MetricJudge::call_blunt() {
    if (work_.policy.accept_uncompared) return;
    for (const NodePart& part : nodes_)
        work_.add(column_[part.first].node, Decision::no_evidence, "too uneven",
                  std::string(name_) + " differs so much between its peers that a GPU at " +
                      number(kBluntest * 100, 3) + " % of their speed would not stand out");
}

MetricSummary MetricJudge::judge() {
    MetricSummary summary;
    summary.metric = name_;
    summary.more_is_better = direction_.more_is_better;
    summary.judged = direction_.judged;
    const std::vector<float> ascending = sorted_goodness(column_);
    std::vector<float> values = ascending;
    if (!direction_.more_is_better) {
        std::reverse(values.begin(), values.end());
        for (float& value : values) value = -value;
    }
    summary.distribution = distribution_of(values);
    if (!direction_.judged || column_.empty()) return summary;
    split_nodes();
    const Yardstick gpus = choose(summary, ascending);
    const bool with_peers = summary.from_baseline || nodes_behind() >= kFewestForNormal;
    const auto bit = static_cast<std::uint8_t>(1U << static_cast<unsigned>(aspect_of(name_)));
    for (const Cell& cell : column_) {
        const std::size_t place = work_.first_gpu[cell.node] + cell.gpu;
        work_.measured[place] |= bit;
        if (gpus.known && with_peers) work_.compared[place] |= bit;
    }
    if (!gpus.known || !with_peers) {
        for (const NodePart& part : nodes_) work_.alone.emplace_back(column_[part.first].node, metric_);
    }
    note_partial(work_, group_, metric_, column_);
    if (!with_peers) work_.uncompared.insert(index_);
    judge_plausibility(work_, group_, name_, column_);
    if (!gpus.known) {
        work_.uncompared.insert(index_);
        return summary;
    }
    if (weak_) work_.across_drivers.insert(index_);
    const Settled& settled = gpus.settled;
    const double bar = direction_.more_is_better ? std::max(0.0, settled.bar) : std::fabs(settled.bar);
    if (with_peers)
        summary.centre = Centre{std::fabs(settled.value), settled.spread, bar, settled.kept, settled.dropped};
    if (is_blunt(direction_.more_is_better, std::fabs(settled.value), bar)) call_blunt();
    judge_nodes(gpus, !summary.from_baseline && !weak_);
    judge_gpus(gpus);
    if (!summary.from_baseline && !weak_) look_for_two_speeds();
    if (!summary.from_baseline && nodes_behind() < kEnoughNodes) doubt();
    settle_hits(summary.from_baseline);
    apply_missing(work_, group_, metric_, column_);
    return summary;
}

MetricSummary judge_metric(Deliberation& work, std::size_t group, Name metric) {
    return MetricJudge(work, group, metric).judge();
}

}  // namespace gpucheck::fleet
