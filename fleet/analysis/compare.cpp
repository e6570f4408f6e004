// Finds what changed between two looks at a fleet, and keeps quiet about noise: of 40,000 pairs of
// measurements hundreds differ by 1 % on a quiet day.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "fleet/analysis/comparing.h"
#include "fleet/analysis/deliberation.h"
#include "fleet/analysis/metrics.h"
#include "fleet/analysis/statistics.h"

namespace gpucheck::fleet {
namespace {

constexpr double kSignificant = 0.01;  ///< after Bonferroni's correction
constexpr double kLeastShift = 0.01;   ///< of a fleet's middle; below lies what a changed tool makes
constexpr double kEfficiency = 0.37;   ///< of a MAD; see chance_bar

/// nullptr: not measured, or no number that has a logarithm.
const Value* find_value(const Gpu& gpu, Name metric) {
    const auto found = std::find_if(gpu.values.begin(), gpu.values.end(),
                                    [&](const Value& value) { return value.metric == metric; });
    return found != gpu.values.end() && is_speed(found->value) ? &*found : nullptr;
}

}  // namespace

/// Which measurements both sides have of GPUs of one board: how many pairs of each, by `after`'s names.
Comparing::Pairs Comparing::count_pairs() {
    Pairs pairs;
    std::size_t other_profile = 0;
    std::erase_if(gpus_, [&](const GpuPair& pair) {
        // Profiles measure for different times, and heat alone makes a difference.
        const bool other = before_.text(pair.then->profile) != after_.text(pair.node->profile);
        if (other) ++other_profile;
        const std::string& board = after_.text(pair.after->board);
        return other || board.empty() || board != before_.text(pair.before->board) ||
               after_.text(pair.after->mode) != before_.text(pair.before->mode);
    });
    if (other_profile != 0)
        comparison_.notes.push_back(std::to_string(other_profile) +
                                    " GPUs were measured under another profile, and are not compared");
    for (const GpuPair& pair : gpus_) {
        for (const Value& now : pair.after->values) ++pairs[{pair.after->board, now.metric}];
    }
    std::erase_if(pairs, [&](const auto& each) {
        return !direction_of(after_.text(each.first.second)).judged ||
               before_.fleet.names.find(after_.text(each.first.second)) == kNoName;
    });
    return pairs;
}

Shifts Comparing::shifts_of(Name board, Name metric) const {
    const Direction direction = direction_of(after_.text(metric));
    const Name before_metric = before_.fleet.names.find(after_.text(metric));
    Shifts shifts{after_.text(board), after_.text(metric), direction.more_is_better, {}};
    for (const GpuPair& pair : gpus_) {
        if (pair.after->board != board) continue;
        const Value* then = find_value(*pair.before, before_metric);
        const Value* now = find_value(*pair.after, metric);
        if (then == nullptr || now == nullptr) continue;
        const double shift = std::log(static_cast<double>(now->value) / then->value);
        shifts.all.push_back({pair.node, pair.after, then->value, now->value,
                              static_cast<float>(direction.more_is_better ? shift : -shift)});
    }
    return shifts;
}

void Comparing::judge_pairs() {
    const Pairs pairs = count_pairs();
    std::size_t tests = 0;
    for (const auto& [what, count] : pairs) tests += count;
    for (const auto& [what, count] : pairs) {
        const Shifts shifts = shifts_of(what.first, what.second);
        comparison_.compared += shifts.all.size();
        if (!shifts.all.empty()) saw(shifts.metric);
        judge_gpus(shifts, tests);
        judge_fleet(shifts, pairs.size());
        doubt(shifts);
    }
}

/// One GPU against how much the others changed: its own run-to-run noise is not known from two numbers.
void Comparing::judge_gpus(const Shifts& shifts, std::size_t tests) {
    if (shifts.all.size() < kFewestPairs) {
        too_few_[shifts.metric] += shifts.all.size();
        return;
    }
    std::vector<float> ascending;
    for (const auto& one : shifts.all) ascending.push_back(one.shift);
    std::sort(ascending.begin(), ascending.end());
    const Distribution distribution = distribution_of(ascending);
    const double spread = std::max(distribution.mad, kLeastSpread);
    const double degrees = std::max(1.0, kEfficiency * (static_cast<double>(ascending.size()) - 1));
    for (const auto& one : shifts.all) {
        const double away = one.shift - distribution.median;
        // As different from the others as from before: what moved with the fleet is the fleet's change.
        if (std::fabs(away) < kLeastShortfall || std::fabs(one.shift) < kLeastShortfall) continue;
        const double p =
            std::min(1.0, 2 * t_tail(std::fabs(away) / spread, degrees) * static_cast<double>(tests));
        if (p > kSignificant) continue;
        const std::string& subject =
            one.gpu->identity.empty() ? after_.text(one.gpu->bdf) : one.gpu->identity;
        comparison_.significant.push_back({one.node->node, subject, shifts.metric, number(one.before),
                                           number(one.after), static_cast<double>(one.after) / one.before, p,
                                           one.shift < 0});
    }
}

/// The fleet's middle, by the sign test over nodes' medians: a node's GPUs are not independent of each other.
void Comparing::judge_fleet(const Shifts& shifts, std::size_t tests) {
    std::vector<float> befores, afters, medians, of_node;
    std::size_t up = 0, down = 0;
    for (std::size_t i = 0; i < shifts.all.size(); ++i) {
        const Shifts::One& one = shifts.all[i];
        befores.push_back(one.before);
        afters.push_back(one.after);
        of_node.push_back(one.shift);
        if (i + 1 < shifts.all.size() && shifts.all[i + 1].node == one.node) continue;
        medians.push_back(static_cast<float>(median_of(of_node)));
        of_node.clear();
        if (medians.back() > 0) ++up;
        if (medians.back() < 0) ++down;
    }
    if (medians.empty()) return;
    const double p = std::min(1.0, sign_test(up, down) * static_cast<double>(tests));
    const double shift = median_of(medians);
    if (p > kSignificant || std::fabs(shift) < kLeastShift) return;
    const double ratio = std::exp(shifts.more_is_better ? shift : -shift);
    comparison_.significant.push_back({"", shifts.board + ", " + std::to_string(medians.size()) + " nodes",
                                       shifts.metric, number(median_of(befores)), number(median_of(afters)),
                                       ratio, p, shift < 0});
}

/// Where too few nodes are on both sides, all against all by Mann and Whitney's test over nodes' medians.
void Comparing::judge_unpaired() {
    using Key = std::tuple<std::string, std::string, std::string>;
    const auto gather = [](const Side& side) {
        std::map<Key, std::vector<float>> all;
        for (const auto& [key, report] : side.by_key) {
            std::map<std::pair<Name, Name>, std::vector<float>> of_node;
            for (const Gpu& gpu : report->gpus) {
                if (gpu.board == kNoName) continue;
                for (const Value& value : gpu.values) {
                    if (is_speed(value.value)) of_node[{gpu.board, value.metric}].push_back(value.value);
                }
            }
            for (auto& [what, values] : of_node) {
                if (direction_of(side.text(what.second)).judged)
                    all[{side.text(what.first), side.text(report->profile), side.text(what.second)}]
                        .push_back(static_cast<float>(median_of(values)));
            }
        }
        return all;
    };
    auto before = gather(before_), after = gather(after_);
    for (auto& [key, values] : before) {
        const auto now = after.find(key);
        if (now == after.end()) continue;
        comparison_.compared += std::min(values.size(), now->second.size());
        const auto& [board, profile, metric] = key;
        saw(metric);
        const double p =
            std::min(1.0, mann_whitney(values, now->second) * static_cast<double>(before.size()));
        const double then = median_of(values), today = median_of(now->second);
        if (p > kSignificant || std::fabs(std::log(today / then)) < kLeastShift) continue;
        comparison_.significant.push_back({"",
                                           board + ", " + profile + ", " + std::to_string(values.size()) +
                                               " and " + std::to_string(now->second.size()) + " nodes",
                                           metric, number(then), number(today), today / then, p,
                                           (today < then) == direction_of(metric).more_is_better});
    }
}

Comparison Comparing::compare() {
    pair_nodes();
    pair_gpus();
    facts();
    fold_facts();
    count_lost();
    if (!nodes_.empty() || gpus_.size() >= kFewestPairs) {
        judge_pairs();
    } else {
        comparison_.two_samples = true;
        comparison_.notes.push_back(
            std::to_string(gpus_.size()) +
            " GPUs are on both sides: too few for pairs, so that the fleets are compared as "
            "two samples");
        judge_unpaired();
    }
    for (const Side* side : {&before_, &after_}) {
        const auto excused = static_cast<std::size_t>(
            std::count(side->chosen.counts.begin(), side->chosen.counts.end(), false));
        if (excused != 0)
            comparison_.notes.push_back(std::to_string(excused) + " nodes " +
                                        (side == &before_ ? "before" : "after") +
                                        " have no report that counts as evidence");
    }
    decide();
    std::sort(comparison_.significant.begin(), comparison_.significant.end(),
              [](const Change& a, const Change& b) {
                  const auto key = [](const Change& change) {
                      const double size = change.ratio > 0 ? std::fabs(std::log(change.ratio)) : 1e3;
                      return std::tuple(!change.worse, !change.node.empty(), -size,
                                        std::string_view(change.node), std::string_view(change.subject),
                                        std::string_view(change.metric), std::string_view(change.after));
                  };
                  return key(a) < key(b);
              });
    // Pairs were taken in the order of names, which is that of input.
    std::sort(comparison_.notes.begin(), comparison_.notes.end());
    return std::move(comparison_);
}

Comparison compare(const Fleet& before, const Fleet& after, const Policy& policy) {
    return Comparing(before, after, policy).compare();
}

}  // namespace gpucheck::fleet
