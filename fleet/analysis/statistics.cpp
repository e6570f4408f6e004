// Robust centres, exact tests and the bars that chance sets; see statistics.h.
#include "fleet/analysis/statistics.h"

#include <algorithm>
#include <cmath>

namespace gpucheck::fleet {
namespace {

/// Makes a median absolute deviation a standard deviation where values are normal.
constexpr double kNormal = 1.4826;
/// Below this many values the lower half alone says too little about its own spread.
constexpr std::size_t kHalfKnown = 32;

/// Healthy fleets in which one comparison of a kind goes wrong by chance.
constexpr double kFalseAlarms = 0.01;

/// A part of an ascending list.
struct Part {
    const float* first;
    std::size_t count;

    double at(double share) const {
        const double place = share * static_cast<double>(count - 1);
        const auto below = static_cast<std::size_t>(place);
        const std::size_t above = std::min(below + 1, count - 1);
        return first[below] + (place - static_cast<double>(below)) *
                                  (static_cast<double>(first[above]) - static_cast<double>(first[below]));
    }
};

/// The median distance from `centre`: distances grow outwards from it, so that they are two ascending lists
/// which only have to be merged halfway.
double median_distance(const Part& part, double centre) {
    const float* const end = part.first + part.count;
    const float* right = std::lower_bound(part.first, end, centre, [](float a, double b) { return a < b; });
    const float* left = right;
    double last = 0, before = 0;
    for (std::size_t taken = 0; taken <= part.count / 2; ++taken) {
        before = last;
        const bool take_left =
            left != part.first && (right == end || centre - *(left - 1) <= *right - centre);
        last = take_left ? centre - *--left : *right++ - centre;
    }
    return part.count % 2 != 0 ? last : (before + last) / 2;
}

/// The wider of both sides' spread and the lower side's: chips are binned, and a long lower tail of healthy
/// ones must not look like faults.
double spread_of(const Part& part, double centre) {
    double spread = kNormal * median_distance(part, centre);
    if (part.count >= kHalfKnown) {
        const Part lower{part.first, part.count / 2};
        spread = std::max(spread, kNormal * (centre - lower.at(0.5)));
    }
    return std::max(spread, kLeastSpread * std::fabs(centre));
}

/// Continued fraction of the incomplete beta function, by Lentz's method (Press et al., Numerical
/// Recipes, 6.4).
double beta_fraction(double a, double b, double x) {
    constexpr double kTiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
    double result = d;
    for (int m = 1; m <= 500; ++m) {
        for (const bool odd : {false, true}) {
            const double step = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                                    : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
            d = 1 + step * d;
            d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
            c = 1 + step / c;
            if (std::fabs(c) < kTiny) c = kTiny;
            result *= d * c;
        }
        if (std::fabs(d * c - 1) < 1e-13) break;
    }
    return result;
}

double incomplete_beta(double a, double b, double x) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    const double front =
        std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double log_choose(double n, double k) {
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

}  // namespace

double quantile(const std::vector<float>& ascending, double share) {
    return Part{ascending.data(), ascending.size()}.at(share);
}

double median_of(std::vector<float>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 != 0) return *middle;
    return (static_cast<double>(*middle) + *std::max_element(values.begin(), middle)) / 2;
}

Distribution distribution_of(const std::vector<float>& ascending) {
    Distribution all;
    all.count = ascending.size();
    if (ascending.empty()) return all;
    all.min = ascending.front();
    all.p05 = quantile(ascending, 0.05);
    all.p25 = quantile(ascending, 0.25);
    all.median = quantile(ascending, 0.5);
    all.p75 = quantile(ascending, 0.75);
    all.p95 = quantile(ascending, 0.95);
    all.max = ascending.back();
    all.mad = kNormal * median_distance({ascending.data(), ascending.size()}, all.median);
    return all;
}

Settled settle(const std::vector<float>& ascending, double bars) {
    Part part{ascending.data(), ascending.size()};
    Settled settled;
    for (;;) {
        settled.value = part.at(0.5);
        settled.spread = spread_of(part, settled.value);
        const double reach = std::max(bars * settled.spread, kLeastShortfall * std::fabs(settled.value));
        settled.bar = settled.value - reach;
        const float* const end = part.first + part.count;
        const float* const low =
            std::lower_bound(part.first, end, settled.bar, [](float a, double b) { return a < b; });
        const float* const high =
            std::upper_bound(low, end, settled.value + reach, [](double a, float b) { return a < b; });
        const auto kept = static_cast<std::size_t>(high - low);
        if (kept == part.count) break;
        part = {low, kept};
    }
    settled.kept = part.count;
    settled.dropped = ascending.size() - part.count;
    return settled;
}

double t_tail(double t, double degrees) {
    const double tail = incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2;
    return t >= 0 ? tail : 1 - tail;
}

namespace {

/// How many of the lowest values lie apart from the rest, as another population does and no tail: the gap
/// above the i lowest of exponential values has the mean scale / i. A tail's scale is 1.5 spreads; a gap
/// eighteen times longer, above at least three values, comes once in e^12 / count.
std::size_t lowest_apart(const std::vector<float>& ascending, double spread) {
    constexpr std::size_t kFewest = 3;
    constexpr double kGap = 18;
    for (std::size_t below = kFewest; below < ascending.size() / 4; ++below) {
        const double gap = static_cast<double>(ascending[below]) - ascending[below - 1];
        if (gap * static_cast<double>(below) > kGap * spread) return below;
    }
    return 0;
}

}  // namespace

Tails tail_bars(const std::vector<float>& ascending, const Settled& settled, std::size_t comparisons) {
    constexpr std::size_t kFewest = 200;
    if (ascending.size() < kFewest) return {};
    const std::size_t apart = lowest_apart(ascending, settled.spread);
    const std::vector<float> rest(ascending.begin() + static_cast<std::ptrdiff_t>(apart), ascending.end());
    const auto at = [&](double share) { return quantile(rest, share); };
    const double middle = at(0.5), error = 24 / std::sqrt(static_cast<double>(ascending.size()));
    const bool long_above = at(0.98) - middle > (3.04 + error) * (at(0.75) - middle);
    const bool long_below = middle - at(0.02) > (3.6 + error) * (middle - at(0.25));
    if (!long_above && !long_below) return {};
    const double farther = std::max(0.0, std::log(0.10 * static_cast<double>(comparisons) / kFalseAlarms));
    const auto bar = [&](double tenth, double twentieth) {
        return (std::fabs(settled.value - tenth) + farther * std::fabs(tenth - twentieth) / std::log(2.0)) /
               settled.spread;
    };
    return {bar(at(0.10), at(0.05)), bar(at(0.90), at(0.95))};
}

double chance_bar(std::size_t count, std::size_t comparisons) {
    constexpr double kEfficiency = 0.37;
    const double degrees = std::max(1.0, kEfficiency * (static_cast<double>(count) - 1));
    const double wanted = kFalseAlarms / static_cast<double>(std::max<std::size_t>(comparisons, 1));
    double low = 0, high = 1;
    while (t_tail(high, degrees) > wanted && high < 1e9) high *= 2;
    for (int step = 0; step < 60; ++step) {
        const double middle = (low + high) / 2;
        (t_tail(middle, degrees) > wanted ? low : high) = middle;
    }
    return high;
}

double fisher(std::size_t bad_with, std::size_t with, std::size_t bad, std::size_t all) {
    const std::size_t most = std::min(with, bad);
    const auto n = [](std::size_t count) { return static_cast<double>(count); };
    double p = 0;
    for (std::size_t k = bad_with; k <= most; ++k) {
        if (bad - k > all - with) continue;
        p += std::exp(log_choose(n(with), n(k)) + log_choose(n(all - with), n(bad - k)) -
                      log_choose(n(all), n(bad)));
    }
    return std::min(p, 1.0);
}

double sign_test(std::size_t up, std::size_t down) {
    const std::size_t all = up + down;
    if (all == 0) return 1;
    const auto n = static_cast<double>(all);
    // P(X >= k) of a fair coin is the regularised incomplete beta function I_1/2(k, n - k + 1).
    const auto k = static_cast<double>(std::max(up, down));
    return std::min(1.0, 2 * incomplete_beta(k, n - k + 1, 0.5));
}

double mann_whitney(std::vector<float> before, std::vector<float> after) {
    if (before.size() < 4 || after.size() < 4) return 1;
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    const auto n = static_cast<double>(before.size()), m = static_cast<double>(after.size());
    double ranks = 0, ties = 0, rank = 0;  // ranks: of `before`
    for (auto a = before.begin(), b = after.begin(); a != before.end() || b != after.end();) {
        const float value = b == after.end() || (a != before.end() && *a < *b) ? *a : *b;
        const auto a_end = std::upper_bound(a, before.end(), value);
        const auto b_end = std::upper_bound(b, after.end(), value);
        const auto mine = static_cast<double>(a_end - a);
        const double alike = mine + static_cast<double>(b_end - b);
        ranks += mine * (rank + (alike + 1) / 2);
        ties += alike * alike * alike - alike;
        rank += alike;
        a = a_end;
        b = b_end;
    }
    const double u = ranks - n * (n + 1) / 2, mean = n * m / 2, total = n + m;
    const double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));
    if (variance <= 0) return 1;
    const double z = std::max(0.0, std::fabs(u - mean) - 0.5) / std::sqrt(variance);
    return std::erfc(z / std::sqrt(2.0));
}

Split split_of(const std::vector<float>& sorted) {
    constexpr double kApart = 5, kFar = 3;
    constexpr std::size_t kFewest = 4;
    if (sorted.empty()) return {};
    // One value at half of all others is no population, and its square would hide two.
    const double reach = kFar * (quantile(sorted, 0.95) - quantile(sorted, 0.05)),
                 middle = quantile(sorted, 0.5);
    const auto far = [&](float value) { return reach > 0 && std::fabs(value - middle) > reach; };
    const auto first = std::find_if_not(sorted.begin(), sorted.end(), far);
    const std::vector<float> ascending(first, std::find_if(first, sorted.end(), far));
    const auto left_out = static_cast<std::size_t>(first - sorted.begin());
    const std::size_t count = ascending.size();
    const std::size_t least = std::max(kFewest, count / 10);
    Split best;
    if (count < 2 * least) return best;
    const double origin = ascending[count / 2];  // sums of differences: squares of large numbers lose digits
    double all = 0, all_squares = 0, sum = 0, squares = 0, best_within = -1;
    for (const float value : ascending) {
        all += value - origin;
        all_squares += (value - origin) * (value - origin);
    }
    for (std::size_t below = 1; below + least <= count; ++below) {
        const double value = ascending[below - 1] - origin;
        sum += value;
        squares += value * value;
        if (below < least) continue;
        const auto n = static_cast<double>(below), m = static_cast<double>(count - below);
        const double low = squares - sum * sum / n;
        const double high = (all_squares - squares) - (all - sum) * (all - sum) / m;
        if (best_within >= 0 && low + high >= best_within) continue;
        best_within = low + high;
        const double gap = (all - sum) / m - sum / n;
        const double spread = std::sqrt(std::max(0.0, (low / n + high / m) / 2));
        best = {gap > kApart * spread && gap > 0, origin + sum / n, origin + (all - sum) / m,
                (static_cast<double>(ascending[below - 1]) + ascending[below]) / 2, below + left_out};
    }
    return best;
}

}  // namespace gpucheck::fleet
