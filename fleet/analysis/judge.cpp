// Finds what is slow against its peers: a GPU against the fleet's, a node against the other nodes, a GPU
// against the rest of its node. Absolute floors are loose (DCGM demands 75 % of what NVIDIA measured), so
// that only this shows a GPU that is 6 % slow.
#include <algorithm>
#include <cmath>

#include "fleet/analysis/work.h"

namespace gpucheck::fleet {
namespace {

constexpr std::size_t kFewestNodes = 5;   ///< whose medians have a spread
constexpr std::size_t kFewestInNode = 4;  ///< GPUs of one node that make a normal of their own
constexpr double kPopulation = 0.25;      ///< more than this share is no fault of single nodes
constexpr double kTwoSpeeds = 0.95;       ///< populations nearer than this are bins of one
constexpr double kBetterNode = 1.03, kBetterGpu = 1.05, kBetterTime = 1.2;

/// What cells are held against.
struct Yardstick {
    Settled settled;
    double bar = 0;  ///< in spreads
    bool known = false;
};

struct NodePart {
    std::size_t first = 0, end = 0;  ///< into the column
    float median = 0;                ///< in goodness
    std::size_t worst = 0;           ///< into the column
};

class MetricJudge {
  public:
    MetricJudge(Work& work, std::size_t group, Name metric)
        : work_(work),
          group_(work.groups[group]),
          index_(group),
          name_(work.text(metric)),
          metric_(metric),
          direction_(direction_of(name_)),
          sign_(direction_.more_is_better ? 1.0F : -1.0F),
          column_(column_of(work, group_.members, metric)) {}

    MetricSummary judge();

  private:
    float goodness(const Cell& cell) const { return sign_ * cell.value; }
    /// Above 1: better.
    double ratio(double good, double centre) const;
    std::vector<float> sorted_goodness(const std::vector<Cell>& column) const;
    Yardstick learned(const std::vector<float>& ascending, std::size_t comparisons) const;
    Yardstick from_baseline(MetricSummary& summary) const;
    Yardstick across_drivers();
    Yardstick choose(MetricSummary& summary, const std::vector<float>& ascending);
    void split_nodes();
    void judge_nodes(const Yardstick& gpus, bool learned_here);
    void judge_gpus(const Yardstick& gpus);
    void look_for_two_speeds();
    Yardstick residuals() const;
    void consider(const Outlier& outlier, double z_bar, double good_ratio);
    void settle_hits();
    Outlier outlier(Against against, std::size_t cell, double good, double centre, double spread) const;

    Work& work_;
    const WorkGroup& group_;
    std::size_t index_;
    std::string_view name_;
    Name metric_;
    Direction direction_;
    float sign_;
    std::vector<Cell> column_;
    std::vector<NodePart> nodes_;
    struct Found {
        Outlier outlier;
        double good_ratio;
    };
    std::vector<Found> worse_, better_;
    bool weak_ = false;  ///< compared with other drivers' GPUs
};

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

Yardstick MetricJudge::learned(const std::vector<float>& ascending, std::size_t comparisons) const {
    Yardstick yardstick;
    yardstick.bar = chance_bar(ascending.size(), comparisons);
    yardstick.settled = settle(ascending, yardstick.bar);
    yardstick.known = true;
    return yardstick;
}

Yardstick MetricJudge::from_baseline(MetricSummary& summary) const {
    Yardstick yardstick;
    if (work_.baseline == nullptr) return yardstick;
    const GroupKey& key = group_.group.key;
    const Baseline::Row* best = nullptr;
    for (const Baseline::Row& row : work_.baseline->rows) {
        if (row.metric != name_ || row.group.board != key.board || row.group.profile != key.profile ||
            row.group.instance_type != key.instance_type)
            continue;
        const bool exact = row.group.driver == key.driver;
        const bool had_exact = best != nullptr && best->group.driver == key.driver;
        if (best == nullptr || (exact && !had_exact) ||
            (exact == had_exact && row.centre.kept > best->centre.kept))
            best = &row;
    }
    if (best == nullptr) return yardstick;
    yardstick.known = true;
    yardstick.bar = chance_bar(best->centre.kept, work_.gpu_comparisons);
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
            settled = learned(sorted_goodness(all), work_.gpu_comparisons).settled;
        }
        known = work_.pooled.emplace(place, settled).first;
    }
    yardstick.settled = known->second;
    yardstick.known = yardstick.settled.kept != 0;
    if (!yardstick.known) return yardstick;
    yardstick.bar = chance_bar(yardstick.settled.kept + yardstick.settled.dropped, work_.gpu_comparisons);
    return yardstick;
}

Yardstick MetricJudge::choose(MetricSummary& summary, const std::vector<float>& ascending) {
    if (group_.group.key.board.empty()) return {};  // nothing says that two unknown boards are alike
    Yardstick yardstick = from_baseline(summary);
    if (yardstick.known) return yardstick;
    if (ascending.size() >= std::max<std::size_t>(work_.policy.min_group, 2))
        return learned(ascending, work_.gpu_comparisons);
    yardstick = across_drivers();
    weak_ = yardstick.known;
    return yardstick;
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

void MetricJudge::consider(const Outlier& outlier, double z_bar, double good_ratio) {
    if (outlier.z <= -z_bar && good_ratio <= 1 - kLeastShortfall) worse_.push_back({outlier, good_ratio});
    const double least = !direction_.more_is_better          ? kBetterTime
                         : outlier.against == Against::nodes ? kBetterNode
                                                             : kBetterGpu;
    if (outlier.z >= z_bar && good_ratio >= least) better_.push_back({outlier, good_ratio});
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
    if (medians.size() >= kFewestNodes) yardstick = learned(medians, work_.node_comparisons);
    if (!learned_here) {
        const double theory =
            gpus.settled.spread * std::sqrt(1.5708 / static_cast<double>(std::max<std::size_t>(in_node, 1)));
        if (!yardstick.known) yardstick.settled.spread = gpus.settled.spread;
        yardstick.settled.value = gpus.settled.value;
        yardstick.settled.spread =
            std::max({yardstick.settled.spread, theory, kLeastSpread * std::fabs(gpus.settled.value)});
        yardstick.bar = std::max(yardstick.bar, gpus.bar);
        yardstick.known = true;
    }
    if (!yardstick.known) return;
    for (const NodePart& part : nodes_) {
        if (part.end - part.first < 2) continue;
        const Settled& settled = yardstick.settled;
        consider(outlier(Against::nodes, part.worst, part.median, settled.value, settled.spread),
                 yardstick.bar, ratio(std::fabs(part.median), std::fabs(settled.value)));
    }
}

/// How far GPUs stray from their own node's median, over the whole group; goodness / median, so around 1.
Yardstick MetricJudge::residuals() const {
    std::vector<float> all;
    for (const NodePart& part : nodes_) {
        if (part.end - part.first < kFewestInNode || part.median == 0) continue;
        for (std::size_t cell = part.first; cell < part.end; ++cell)
            all.push_back(sign_ * goodness(column_[cell]) / std::fabs(part.median));
    }
    if (all.size() < work_.policy.min_group) return {};
    std::sort(all.begin(), all.end());
    return learned(all, work_.gpu_comparisons);
}

void MetricJudge::judge_gpus(const Yardstick& gpus) {
    const Yardstick own = residuals();
    const bool plain = has_plain_rules(work_.policy, name_);
    for (const NodePart& part : nodes_) {
        const bool alone = !own.known || part.end - part.first < kFewestInNode || part.median == 0;
        for (std::size_t cell = part.first; cell < part.end; ++cell) {
            const float good = goodness(column_[cell]);
            const Outlier fleet = outlier(Against::gpus, cell, good, gpus.settled.value, gpus.settled.spread);
            const double fleet_ratio = ratio(std::fabs(good), std::fabs(gpus.settled.value));
            if (plain) apply_rules(work_, group_, fleet, fleet_ratio, false, weak_);
            const double spread = own.settled.spread * std::fabs(part.median);
            const Outlier home = alone ? fleet : outlier(Against::own_node, cell, good, part.median, spread);
            const bool home_says_more = !alone && home.z / own.bar < fleet.z / gpus.bar;
            if (home_says_more && home.z <= -own.bar)
                consider(home, own.bar, ratio(std::fabs(good), std::fabs(part.median)));
            else
                consider(fleet, gpus.bar, fleet_ratio);
        }
    }
}

void MetricJudge::look_for_two_speeds() {
    if (!direction_.more_is_better) return;
    std::vector<float> values;
    const bool by_node = nodes_.size() >= 2 * kFewestInNode;
    for (const NodePart& part : nodes_) {
        if (by_node) values.push_back(part.median);
        for (std::size_t cell = part.first; !by_node && cell < part.end; ++cell)
            values.push_back(goodness(column_[cell]));
    }
    std::sort(values.begin(), values.end());
    const Split split = split_of(values);
    if (!split.found || split.low > split.high * kTwoSpeeds) return;
    const std::string what = std::string(name_) + " of " + group_name(group_.group.key);
    work_.notes.push_back(what + " has two speeds: " + std::to_string(split.below) + " " +
                          (by_node ? "nodes" : "GPUs") + " about " + number(split.low) + " and " +
                          std::to_string(values.size() - split.below) + " about " + number(split.high) +
                          " (" + number(split.low / split.high, 3) +
                          "): find what sets them apart before any is sent back");
    if (!by_node) return;
    for (const NodePart& part : nodes_) {
        if (part.median >= split.cut) continue;
        const std::size_t node = column_[part.first].node;
        work_.mark(node, -1, "slower half " + std::string(name_));
        work_.add(node, Decision::quarantine, "two speeds",
                  "its " + std::string(name_) + ", " + number(part.median) +
                      ", is of the slower of two populations (" + number(split.low) + " and " +
                      number(split.high) + ")");
    }
}

/// What was found counts for each node, unless so many share it that no single node can be at fault.
void MetricJudge::settle_hits() {
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
    const bool population = slow > 1 && slow_share > kPopulation && work_.baseline == nullptr;
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
        const bool whole = o.against == Against::nodes;
        work_.mark(o.node, whole ? -1 : static_cast<int>(o.gpu), "implausible");
        work_.add(o.node, Decision::quarantine, "too good",
                  (whole ? std::string("its median ")
                         : "GPU " +
                               work_.text(work_
                                              .gpu({0, static_cast<std::uint32_t>(o.node),
                                                    static_cast<std::uint32_t>(o.gpu)})
                                              .bdf) +
                               ": ") +
                      o.metric + " of " + number(o.value) + " is better than every healthy peer's (centre " +
                      number(o.centre) + ", z " + number(o.z, 3) + "): measured otherwise, or made up",
                  whole ? -1 : static_cast<int>(o.gpu));
    }
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
    for (const Cell& cell : column_) {
        const std::size_t place = work_.first_gpu[cell.node] + cell.gpu;
        work_.measured[place] = true;
        if (gpus.known) work_.compared[place] = true;
    }
    judge_plausibility(work_, group_, name_, column_);
    if (!gpus.known) {
        work_.notes.push_back(std::string(name_) + " of " + group_name(group_.group.key) + ": " +
                              std::to_string(column_.size()) + " GPUs are too few to know what is normal (" +
                              std::to_string(work_.policy.min_group) + " are needed, or a baseline)");
        return summary;
    }
    if (weak_)
        work_.notes.push_back(std::string(name_) + " of " + group_name(group_.group.key) +
                              ": too few GPUs with this driver, so compared with those of other drivers");
    const Settled& settled = gpus.settled;
    summary.centre = Centre{std::fabs(settled.value), settled.spread, std::fabs(settled.bar), settled.kept,
                            settled.dropped};
    judge_nodes(gpus, !summary.from_baseline && !weak_);
    judge_gpus(gpus);
    if (!summary.from_baseline && !weak_) look_for_two_speeds();
    settle_hits();
    apply_missing(work_, group_, metric_, column_);
    return summary;
}

}  // namespace

MetricSummary judge_metric(Work& work, std::size_t group, Name metric) {
    return MetricJudge(work, group, metric).judge();
}

}  // namespace gpucheck::fleet
