// What is normal and what chance makes, robustly: a mean that eight sick GPUs have moved accepts all eight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fleet/model/analysis.h"

namespace gpucheck::fleet {

/// Of an ascending, non-empty list, by linear interpolation (type 7).
double quantile(const std::vector<float>& ascending, double share);
double median_of(std::vector<float>& values);  ///< reorders

Distribution distribution_of(const std::vector<float>& ascending);

/// A centre and how far from it belongs to it, in goodness: more is better, so that latencies come negated.
struct Settled {
    double value = 0, spread = 0, bar = 0;
    std::size_t kept = 0, dropped = 0;
};

/// A difference below 2 % is never an outlier, however alike the others are: two healthy systems of the same
/// GPU differ by that much in the groups that agree best (MLPerf Inference 4.1 and 5.1, closed, Offline, 8
/// GPUs: H100, H200 and MI300X on llama2-70b have max/min 1.02).
constexpr double kLeastShortfall = 0.02;
/// So a spread is never taken for less than this share of the centre: a fifth of the difference above.
constexpr double kLeastSpread = 0.004;

/// Drops what is farther than `bars` spreads (and than kLeastShortfall) from the median, on either side, and
/// repeats with the rest until nothing changes. `ascending`: not empty.
Settled settle(const std::vector<float>& ascending, double bars);

/// How many spreads below its centre one of `comparisons` values may lie by chance alone in 1 of 100 healthy
/// fleets, where the spread is a median absolute deviation of `count` values. Such a spread is known only as
/// well as a standard deviation of 0.37 times as many values (the MAD's efficiency at the normal
/// distribution: Rousseeuw and Croux, Alternatives to the Median Absolute Deviation, 1993), hence Student's
/// t.
double chance_bar(std::size_t count, std::size_t comparisons);

/// The share of Student's t distribution above `t`; `degrees` > 0.
double t_tail(double t, double degrees);

/// Fisher's exact test, one-sided: how likely at least `bad_with` of `bad` have a property that `with` of
/// `all` have.
double fisher(std::size_t bad_with, std::size_t with, std::size_t bad, std::size_t all);

/// Sign test, two-sided and exact.
double sign_test(std::size_t up, std::size_t down);

/// Mann-Whitney's U, two-sided, normal approximation with ties and continuity corrected; 1 with fewer than
/// four values on a side, because nothing could be told.
double mann_whitney(std::vector<float> before, std::vector<float> after);

/// Two populations in an ascending list: the best cut, and whether it is one. At least a tenth and four
/// values lie on either side, and the halves' means are more than five of their standard deviations apart
/// (the cut of one normal population gives 2.7, of a uniform one 3.5).
struct Split {
    bool found = false;
    double low = 0, high = 0;  ///< the two means
    double cut = 0;            ///< values below belong to the lower one
    std::size_t below = 0;
};
Split split_of(const std::vector<float>& ascending);

}  // namespace gpucheck::fleet
