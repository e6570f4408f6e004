// Finds what changed between two looks at a fleet, and keeps quiet about noise: of 40,000 pairs of
// measurements hundreds differ by 1 % on a quiet day.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "fleet/analysis/comparing.h"
#include "fleet/analysis/metrics.h"
#include "fleet/analysis/statistics.h"
#include "fleet/analysis/work.h"

namespace gpucheck::fleet {
namespace {

constexpr double kSignificant = 0.01;  ///< after Bonferroni's correction
constexpr double kLeastShift = 0.01;   ///< of a fleet's middle; below lies what a changed tool makes
constexpr double kEfficiency = 0.37;   ///< of a MAD; see chance_bar

}  // namespace

void Comparing::collect_shifts() {
    std::map<std::pair<std::string, std::string>, Shifts> all;
    std::size_t other_profile = 0;
    for (const GpuPair& pair : gpus_) {
        // Profiles measure for different times, and heat alone makes a difference.
        if (before_.text(pair.then->profile) != after_.text(pair.node->profile)) {
            ++other_profile;
            continue;
        }
        const std::string& board = after_.text(pair.after->board);
        if (board.empty() || board != before_.text(pair.before->board)) continue;
        for (const Value& now : pair.after->values) {
            const std::string& metric = after_.text(now.metric);
            const Direction direction = direction_of(metric);
            if (!direction.judged) continue;
            const auto then =
                std::find_if(pair.before->values.begin(), pair.before->values.end(),
                             [&](const Value& each) { return before_.text(each.metric) == metric; });
            if (then == pair.before->values.end()) continue;
            const bool numbers =
                std::isfinite(now.value) && std::isfinite(then->value) && now.value > 0 && then->value > 0;
            if (!numbers) continue;
            Shifts& shifts = all[{board, metric}];
            if (shifts.all.empty()) shifts = {board, metric, direction.more_is_better, {}};
            const double shift = std::log(static_cast<double>(now.value) / then->value);
            shifts.all.push_back({pair.node, pair.after, then->value, now.value,
                                  static_cast<float>(direction.more_is_better ? shift : -shift)});
            ++comparison_.compared;
        }
    }
    for (auto& [key, shifts] : all) shifts_.push_back(std::move(shifts));
    if (other_profile != 0)
        comparison_.notes.push_back(std::to_string(other_profile) +
                                    " GPUs were measured under another profile, and are not compared");
}

/// One GPU against how much the others changed: its own run-to-run noise is not known from two numbers.
void Comparing::judge_gpus(const Shifts& shifts, std::size_t tests) {
    if (shifts.all.size() < kFewestPairs) {
        comparison_.notes.push_back(shifts.metric + " of " + shifts.board + ": " +
                                    std::to_string(shifts.all.size()) +
                                    " GPUs on both sides are too few to know the noise");
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
    std::map<std::string_view, std::vector<float>> by_node;
    std::vector<float> befores, afters;
    for (const auto& one : shifts.all) {
        by_node[one.node->node].push_back(one.shift);
        befores.push_back(one.before);
        afters.push_back(one.after);
    }
    std::size_t up = 0, down = 0;
    std::vector<float> medians;
    for (auto& [node, values] : by_node) {
        medians.push_back(static_cast<float>(median_of(values)));
        if (medians.back() > 0) ++up;
        if (medians.back() < 0) ++down;
    }
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
                    if (std::isfinite(value.value) && value.value > 0)
                        of_node[{gpu.board, value.metric}].push_back(value.value);
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
    if (nodes_.size() >= kFewestPairs || gpus_.size() >= kFewestPairs) {
        collect_shifts();
        for (const Shifts& shifts : shifts_) {
            judge_gpus(shifts, comparison_.compared);
            judge_fleet(shifts, shifts_.size());
        }
    } else {
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
    return std::move(comparison_);
}

Comparison compare(const Fleet& before, const Fleet& after, const Policy& policy) {
    return Comparing(before, after, policy).compare();
}

}  // namespace gpucheck::fleet
