// One measurement of one group on its way from numbers to outliers; see judge.cpp.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "fleet/analysis/deliberation.h"

namespace gpucheck::fleet {

constexpr std::size_t kFewestNodes = 5;  ///< whose medians have a spread
constexpr std::size_t kFewestForNormal =
    3;  ///< nodes: one is its own peer, and of two nobody knows which is slow
constexpr double kBluntest =
    0.4;  ///< of the centre; a healthy spread of 11 %, the widest that is known, ends at 0.45
constexpr std::size_t kEnoughNodes =
    16;  ///< with fewer, three slow ones can hide each other: 3 of 16 are less than a quarter
constexpr std::size_t kFewestInNode = 4;  ///< GPUs of one node that make a normal of their own

/// What cells are held against.
struct Yardstick {
    Settled settled;
    double bar = 0;       ///< in spreads, to the worse side
    double good_bar = 0;  ///< to the better one
    bool known = false;
};

struct NodePart {
    std::size_t first = 0, end = 0;  ///< into the column
    float median = 0;                ///< in goodness
    std::size_t worst = 0;           ///< into the column
};

class MetricJudge {
  public:
    MetricJudge(Deliberation& work, std::size_t group, Name metric)
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
    Yardstick learned(const std::vector<float>& ascending, std::size_t comparisons, bool chips) const;
    Yardstick from_baseline(MetricSummary& summary) const;
    Yardstick across_drivers();
    Yardstick choose(MetricSummary& summary, const std::vector<float>& ascending);
    void split_nodes();
    void judge_nodes(const Yardstick& gpus, bool learned_here);
    std::size_t nodes_behind() const;
    void call_blunt();
    void judge_gpus(const Yardstick& gpus);
    void look_for_two_speeds();
    void doubt();
    std::vector<float> others_medians(const NodePart& part) const;
    Yardstick residuals() const;
    void consider(const Outlier& outlier, const Yardstick& by, double good_ratio);
    void settle_hits(bool from_baseline);
    Outlier outlier(Against against, std::size_t cell, double good, double centre, double spread) const;

    Deliberation& work_;
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

/// Reports that are left out are compared with nobody; empty: none is.
Analysis analyse_without(const Fleet& fleet, const Policy& policy, const Baseline* baseline,
                         const std::vector<bool>& left_out);
/// Groups of one board with each other, after each was judged by itself.
void compare_groups(Deliberation& work);

/// A bar so far from its centre judges nobody, of rates as of times.
inline bool is_blunt(bool more_is_better, double centre, double bar) {
    return more_is_better ? bar < kBluntest * centre : centre < kBluntest * bar;
}

}  // namespace gpucheck::fleet
