// Whether enough was looked at to say that nothing is worse: a fleet of which thirty nodes are gone, or whose
// new reports measured nothing, is not unchanged.
#include <algorithm>
#include <cmath>

#include "agent/report/words.h"
#include "fleet/analysis/comparing.h"
#include "fleet/analysis/deliberation.h"
#include "fleet/analysis/metrics.h"
#include "fleet/analysis/statistics.h"

namespace gpucheck::fleet {
namespace {

constexpr double kSlowNode =
    6;  ///< standard errors of a node's middle, by how its GPUs differ in their change
constexpr double kOtherwise = 0.85;

/// What the policy calls slow of this measurement, as the logarithm of a ratio.
double slow_shift(const Policy& policy, const std::string& metric) {
    double least = 0;
    for (const Rule& rule : policy.rules) {
        if (rule.decision != Decision::accept && rule.ratio_below && !rule.metric.empty() &&
            metric_matches(rule.metric, metric))
            least = std::max(least, *rule.ratio_below);
    }
    return std::log(least > 0 && least < 1 ? least : kOtherwise);
}

std::string listed(const std::map<std::string, std::size_t>& by_metric) {
    constexpr std::size_t kMost = 4;
    std::vector<std::string> parts;
    for (const auto& [metric, count] : by_metric)
        parts.push_back(metric + " (" + report::plural(count, "GPU") + ")");
    return report::list_words({parts.begin(), parts.end()}, kMost);
}

}  // namespace

/// Where half of few nodes became slow the fleet's own changes have no normal. GPUs of one node that all
/// became slow by the same are a slow node; what is slower than a policy bears, and was not called so, is not
/// settled.
void Comparing::doubt(const Shifts& shifts) {
    const double bar = slow_shift(policy_, shifts.metric);
    const auto told = [&](const std::string& node, const std::string& subject) {
        return std::any_of(comparison_.significant.begin(), comparison_.significant.end(),
                           [&](const Change& each) {
                               return each.metric == shifts.metric && each.worse &&
                                      (each.node.empty() ||
                                       (each.node == node && (subject.empty() || each.subject == subject)));
                           });
    };
    for (std::size_t first = 0; first < shifts.all.size();) {
        std::size_t end = first;
        std::vector<float> of_node, befores, afters;
        for (; end < shifts.all.size() && shifts.all[end].node == shifts.all[first].node; ++end) {
            of_node.push_back(shifts.all[end].shift);
            befores.push_back(shifts.all[end].before);
            afters.push_back(shifts.all[end].after);
        }
        const std::string& node = shifts.all[first].node->node;
        const std::size_t gpus = end - first;
        std::vector<float> sorted = of_node;
        const double middle = median_of(sorted);
        std::sort(sorted.begin(), sorted.end());
        const double spread = std::max(distribution_of(sorted).mad, kLeastSpread);
        const double z = -middle / (spread / std::sqrt(static_cast<double>(gpus)));
        if (gpus >= 4 && middle < bar && z > kSlowNode && !told(node, "")) {
            const double then = median_of(befores), now = median_of(afters);
            const double p = t_tail(z, static_cast<double>(gpus - 1));
            comparison_.significant.push_back({node, "the node's median of " + report::plural(gpus, "GPU"),
                                               shifts.metric, number(then), number(now), now / then, p,
                                               true});
        }
        for (std::size_t i = first; i < end; ++i) {
            const Shifts::One& one = shifts.all[i];
            if (one.shift >= bar) continue;
            const std::string& subject =
                one.gpu->identity.empty() ? after_.text(one.gpu->bdf) : one.gpu->identity;
            const std::string whole = "the node's median of " + report::plural(gpus, "GPU");
            if (!told(node, subject) && !told(node, whole)) ++doubtful_[shifts.metric];
        }
        first = end;
    }
}

/// What OLD has measured of a GPU that is on both sides, and NEW has not, or not so that it compares.
void Comparing::count_lost() {
    std::size_t lost = 0, of = 0, modes = 0;
    for (const GpuPair& pair : gpus_) {
        const bool alike = before_.text(pair.then->profile) == after_.text(pair.node->profile) &&
                           before_.text(pair.before->mode) == after_.text(pair.after->mode) &&
                           before_.text(pair.before->board) == after_.text(pair.after->board);
        if (before_.text(pair.before->mode) != after_.text(pair.after->mode)) ++modes;
        for (const Value& then : pair.before->values) {
            const std::string& metric = before_.text(then.metric);
            if (!direction_of(metric).judged || !is_speed(then.value)) continue;
            ++of;
            const Name name = after_.fleet.names.find(metric);
            const bool there =
                std::any_of(pair.after->values.begin(), pair.after->values.end(), [&](const Value& now) {
                    return name != kNoName && now.metric == name && is_speed(now.value);
                });
            if (!alike || !there) ++lost;
        }
    }
    if (modes != 0)
        comparison_.notes.push_back(report::plural(modes, "GPU") +
                                    " are cut otherwise than before, and are not compared");
    if (lost != 0)
        comparison_.why.push_back(std::to_string(lost) + " of " + report::plural(of, "measurement") +
                                  " of OLD have nothing in NEW to be compared with");
}

void Comparing::saw(const std::string& metric) {
    memory_ = memory_ || aspect_of(metric) == Aspect::memory;
    arithmetic_ = arithmetic_ || aspect_of(metric) == Aspect::arithmetic;
}

/// OLD and NEW the wrong way round make a slow fleet a better one.
void Comparing::note_order() {
    const auto newest = [](const Side& side) {
        std::string_view most;
        for (const auto& [key, report] : side.by_key)
            most = std::max<std::string_view>(most, report->created);
        return most;
    };
    const std::string_view then = newest(before_), now = newest(after_);
    if (!now.empty() && now < then)
        comparison_.why.push_back("the newest report of NEW, " + std::string(now) +
                                  ", is older than that of OLD, " + std::string(then));
}

void Comparing::decide() {
    constexpr std::size_t kNamed = 3;
    std::vector<std::string>& why = comparison_.why;
    if (comparison_.nodes_both == 0) why.emplace_back("no node is in both");
    if (comparison_.nodes_only_before != 0) {
        std::vector<std::string_view> gone;
        for (const auto& [key, report] : before_.by_key) {
            if (!after_.by_key.contains(key)) gone.emplace_back(report->node);
        }
        why.push_back(report::plural(gone.size(), "node") + " of OLD " + (gone.size() == 1 ? "has" : "have") +
                      " no report in NEW: " + report::list_words(gone, kNamed));
    }
    for (const auto& [side, name] : {std::pair(&before_, "OLD"), std::pair(&after_, "NEW")}) {
        if (!side->fleet.rejected.empty())
            why.push_back(report::plural(side->fleet.rejected.size(), "input") + " of " + name +
                          " could not be read as a report");
    }
    note_order();
    if (comparison_.compared == 0)
        why.emplace_back("no measurement was compared");
    else if (!memory_ || !arithmetic_)
        why.push_back("no measurement of " + std::string(memory_ ? "arithmetic" : "memory") +
                      " was compared");
    for (const auto& [what, gpus] : unread_)
        why.push_back("NEW does not know the " + what + " of " + report::plural(gpus, "GPU") +
                      " that OLD knew");
    if (!too_few_.empty()) why.push_back("too few pairs to know the noise: " + listed(too_few_));
    if (!doubtful_.empty())
        why.push_back(
            "slower by more than the policy bears, and too few or too noisy to call it no chance: " +
            listed(doubtful_));
    const bool worse = std::any_of(comparison_.significant.begin(), comparison_.significant.end(),
                                   [](const Change& change) { return change.worse; });
    comparison_.decision = worse ? Decision::reject : why.empty() ? Decision::accept : Decision::no_evidence;
    std::sort(why.begin(), why.end());
}

}  // namespace gpucheck::fleet
