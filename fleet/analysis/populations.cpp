// Finds what no single node is to blame for: half a fleet that is slower, a third that is out. Rejecting them
// one by one would send back healthy machines for a firmware.
#include <algorithm>
#include <cmath>

#include "fleet/analysis/metric_judge.h"

namespace gpucheck::fleet {
namespace {

constexpr double kPopulation = 0.25;  ///< more than this share is no fault of single nodes
constexpr double kTwoSpeeds = 0.95;   ///< populations nearer than this are bins of one

}  // namespace

void MetricJudge::look_for_two_speeds() {
    // A time is judged as a rate is: twice as long is half as fast.
    const auto speed = [&](float good) { return direction_.more_is_better ? good : -1 / good; };
    const auto shown = [&](double rate) { return number(direction_.more_is_better ? rate : 1 / rate); };
    std::vector<float> values;
    const bool by_node = nodes_.size() >= 2 * kFewestInNode;
    for (const NodePart& part : nodes_) {
        if (by_node) values.push_back(speed(part.median));
        for (std::size_t cell = part.first; !by_node && cell < part.end; ++cell)
            values.push_back(speed(goodness(column_[cell])));
    }
    std::sort(values.begin(), values.end());
    const Split split = split_of(values);
    if (!split.found || split.low > split.high * kTwoSpeeds) return;
    const std::string what = std::string(name_) + " of " + group_name(group_.group.key);
    work_.notes.push_back(what + " has two speeds: " + std::to_string(split.below) + " " +
                          (by_node ? "nodes" : "GPUs") + " about " + shown(split.low) + " and " +
                          std::to_string(values.size() - split.below) + " about " + shown(split.high) + " (" +
                          number(split.low / split.high, 3) +
                          "): find what sets them apart before any is sent back");
    if (!by_node) {  // too few nodes to say which of the two is the healthy one
        for (const NodePart& part : nodes_)
            work_.add(column_[part.first].node, Decision::no_evidence, "two speeds",
                      "its peers have two speeds in " + std::string(name_) + " (" + shown(split.low) +
                          " and " + shown(split.high) + "), and are too few to say which is healthy");
        return;
    }
    for (const NodePart& part : nodes_) {
        if (speed(part.median) >= split.cut) continue;
        const std::size_t node = column_[part.first].node;
        work_.mark(node, -1, "slower half " + std::string(name_));
        work_.add(node, Decision::quarantine, "two speeds",
                  "its " + std::string(name_) + ", " + number(std::fabs(part.median)) +
                      ", is of the slower of two populations (" + shown(split.low) + " and " +
                      shown(split.high) + ")");
    }
}

/// Few nodes know their own spread badly, and a slow half of them drags the centre down. What a rule calls
/// slow against the better quarter of them, and what is no outlier, is neither: nobody can tell.
void MetricJudge::doubt() {
    const double least = slow_below(work_.policy, group_, name_);
    if (work_.policy.accept_uncompared || least <= 0 || nodes_.size() < 2) return;
    std::vector<float> medians;
    for (const NodePart& part : nodes_) medians.push_back(part.median);
    std::sort(medians.begin(), medians.end());
    // One of them, and nothing between two: of eight nodes with two healthy ones that would be half slow.
    const double best = medians[(3 * (medians.size() - 1) + 3) / 4];
    for (const NodePart& part : nodes_) {
        const double off = ratio(std::fabs(part.median), std::fabs(best));
        if (off >= least) continue;
        work_.add(column_[part.first].node, Decision::no_evidence, "too few to tell",
                  "its " + std::string(name_) + ", " + number(std::fabs(part.median)) + ", is " +
                      number(off * 100, 3) + " % of what the better of its peers have (" +
                      number(std::fabs(best)) + "), and " + std::to_string(nodes_.size()) +
                      " nodes are too few to say whether that is chance");
    }
}

/// What was found counts for each node, unless so many share it that no single node can be at fault.
void MetricJudge::settle_hits(bool from_baseline) {
    const auto share = [&](const std::vector<Found>& found) {
        std::vector<std::size_t> nodes;
        for (const Found& each : found) nodes.push_back(each.outlier.node);
        std::sort(nodes.begin(), nodes.end());
        const auto end = std::unique(nodes.begin(), nodes.end());
        const auto count = static_cast<std::size_t>(end - nodes.begin());
        return std::pair(count, static_cast<double>(count) / static_cast<double>(nodes_.size()));
    };
    if (nodes_.empty()) return;
    const auto [slow, slow_share] = share(worse_);
    const bool population = slow > 1 && slow_share > kPopulation && !from_baseline;
    if (population)
        work_.notes.push_back(std::to_string(slow) + " of " + std::to_string(nodes_.size()) +
                              " nodes are slow in " + std::string(name_) + " of " +
                              group_name(group_.group.key) +
                              ": too many for faults of their own, so that none is rejected for it");
    for (const Found& each : worse_) {
        apply_rules(work_, group_, each.outlier, each.good_ratio, true, weak_ || population);
        work_.mark(each.outlier.node,
                   each.outlier.against == Against::nodes ? -1 : static_cast<int>(each.outlier.gpu),
                   "outlier " + each.outlier.metric);
        work_.outliers.push_back(each.outlier);
    }
    const auto [fast, fast_share] = share(better_);
    if (fast > 1 && fast_share > work_.policy.unlike_share && fast_share > 0.05) {
        work_.notes.push_back(std::to_string(fast) + " of " + std::to_string(nodes_.size()) +
                              " nodes are faster in " + std::string(name_) + " of " +
                              group_name(group_.group.key) +
                              " than the others by more than chance: another power limit or firmware?");
        return;
    }
    for (const Found& each : better_) {
        const Outlier& o = each.outlier;
        work_.mark(o.node, -1, "implausible");
        work_.add(o.node, Decision::quarantine, "too good",
                  "its " + o.metric + " of " + number(o.value) +
                      " is better than every healthy peer's (centre " + number(o.centre) + ", z " +
                      number(o.z, 3) + "): measured otherwise, or made up");
    }
}

}  // namespace gpucheck::fleet
