// What is normal: the group's own GPUs, a baseline, or where both are missing the same board under other
// drivers.
#include <algorithm>
#include <cmath>

#include "fleet/analysis/metric_judge.h"

namespace gpucheck::fleet {

Yardstick MetricJudge::learned(const std::vector<float>& ascending, std::size_t comparisons,
                               bool chips) const {
    Yardstick yardstick;
    yardstick.known = true;
    yardstick.bar = chance_bar(ascending.size(), comparisons);
    yardstick.settled = settle(ascending, yardstick.bar);
    yardstick.good_bar = yardstick.bar;
    if (!chips) return yardstick;
    const Tails tails = tail_bars(ascending, yardstick.settled, comparisons);
    yardstick.good_bar = std::max(yardstick.bar, tails.above);
    if (tails.below <= yardstick.bar) return yardstick;
    yardstick.bar = tails.below;
    yardstick.settled = settle(ascending, yardstick.bar);
    return yardstick;
}

Yardstick MetricJudge::from_baseline(MetricSummary& summary) const {
    Yardstick yardstick;
    if (work_.baseline == nullptr) return yardstick;
    const GroupKey& key = group_.group.key;
    const Baseline::Row* best = nullptr;
    for (const Baseline::Row& row : work_.baseline->rows) {
        if (row.metric != name_ || row.group.board != key.board || row.group.profile != key.profile ||
            row.group.instance_type != key.instance_type || row.group.mode != key.mode ||
            !same_memory(row.group.memory_gib, key.memory_gib))
            continue;
        const bool exact = row.group.driver == key.driver;
        const bool had_exact = best != nullptr && best->group.driver == key.driver;
        if (best == nullptr || (exact && !had_exact) ||
            (exact == had_exact && row.centre.kept > best->centre.kept))
            best = &row;
    }
    if (best == nullptr) return yardstick;
    yardstick.known = true;
    yardstick.bar = yardstick.good_bar = chance_bar(best->centre.kept, work_.gpu_comparisons);
    Settled& settled = yardstick.settled;
    settled.value = sign_ * best->centre.value;
    settled.spread = std::max(best->centre.spread, kLeastSpread * std::fabs(settled.value));
    settled.bar =
        settled.value - std::max(yardstick.bar * settled.spread, kLeastShortfall * std::fabs(settled.value));
    settled.kept = best->centre.kept;
    settled.dropped = best->centre.dropped;
    summary.from_baseline = true;
    return yardstick;
}

/// A node that is alone with its driver would escape every comparison.
Yardstick MetricJudge::across_drivers() {
    Yardstick yardstick;
    const auto place = std::pair(group_.cohort, metric_);
    auto known = work_.pooled.find(place);
    if (known == work_.pooled.end()) {
        std::vector<Cell> all;
        for (const std::size_t sibling : work_.cohorts[group_.cohort]) {
            const std::vector<Cell> part = column_of(work_, work_.groups[sibling].members, metric_);
            all.insert(all.end(), part.begin(), part.end());
        }
        Settled settled;
        if (all.size() >= work_.policy.min_group) {
            settled = learned(sorted_goodness(all), work_.gpu_comparisons, true).settled;
        }
        known = work_.pooled.emplace(place, settled).first;
    }
    yardstick.settled = known->second;
    yardstick.known = yardstick.settled.kept != 0;
    if (!yardstick.known) return yardstick;
    const Settled& all = yardstick.settled;
    yardstick.bar = yardstick.good_bar = std::max(chance_bar(all.kept + all.dropped, work_.gpu_comparisons),
                                                  (all.value - all.bar) / all.spread);
    return yardstick;
}

Yardstick MetricJudge::choose(MetricSummary& summary, const std::vector<float>& ascending) {
    if (group_.group.key.board.empty()) return {};  // nothing says that two unknown boards are alike
    Yardstick yardstick = from_baseline(summary);
    if (yardstick.known) return yardstick;
    // A few nodes alone with their driver would else be compared with themselves, and be normal whatever they
    // do.
    const bool alone = nodes_.size() < kFewestNodes && work_.cohorts[group_.cohort].size() > 1;
    if (!alone && ascending.size() >= std::max<std::size_t>(work_.policy.min_group, 2))
        return learned(ascending, work_.gpu_comparisons, true);
    yardstick = across_drivers();
    weak_ = yardstick.known;
    return yardstick;
}

/// The median of the node's other GPUs, in goodness, for each of its cells. With its own value in it a GPU
/// near the middle would be its own median, and the spread of the rest would be taken for too small.
std::vector<float> MetricJudge::others_medians(const NodePart& part) const {
    std::vector<float> ascending;
    for (std::size_t cell = part.first; cell < part.end; ++cell) ascending.push_back(goodness(column_[cell]));
    std::sort(ascending.begin(), ascending.end());
    const std::size_t others = ascending.size() - 1;
    std::vector<float> medians;
    for (std::size_t cell = part.first; cell < part.end; ++cell) {
        const auto mine = static_cast<std::size_t>(
            std::lower_bound(ascending.begin(), ascending.end(), goodness(column_[cell])) -
            ascending.begin());
        const auto without_me = [&](std::size_t at) { return ascending[at < mine ? at : at + 1]; };
        medians.push_back((without_me((others - 1) / 2) + without_me(others / 2)) / 2);
    }
    return medians;
}

/// How far GPUs stray from the others of their node, over the whole group; -1 and 1 are such a median itself.
Yardstick MetricJudge::residuals() const {
    std::vector<float> all;
    for (const NodePart& part : nodes_) {
        if (part.end - part.first < kFewestInNode) continue;
        const std::vector<float> medians = others_medians(part);
        for (std::size_t cell = part.first; cell < part.end; ++cell) {
            const float median = medians[cell - part.first];
            if (median != 0) all.push_back(goodness(column_[cell]) / std::fabs(median));
        }
    }
    if (all.size() < std::max<std::size_t>(work_.policy.min_group, 2)) return {};
    std::sort(all.begin(), all.end());
    return learned(all, work_.gpu_comparisons, true);
}

}  // namespace gpucheck::fleet
