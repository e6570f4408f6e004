// Finds what was swapped, lost, upgraded or newly reported between two looks at a fleet.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "fleet/analysis/comparing.h"
#include "fleet/analysis/deliberation.h"

namespace gpucheck::fleet {

void Comparing::pair_nodes() {
    for (const auto& [key, report] : before_.by_key) {
        const auto other = after_.by_key.find(key);
        if (other == after_.by_key.end())
            ++comparison_.nodes_only_before;
        else
            nodes_.push_back({report, other->second});
    }
    comparison_.nodes_both = nodes_.size();
    comparison_.nodes_only_after = after_.by_key.size() - nodes_.size();
}

void Comparing::fact(const NodeReport& node, const std::string& subject, const std::string& metric,
                     const std::string& before, const std::string& after, bool worse) {
    // What is read and not measured does not change by chance.
    facts_.push_back({node.node, subject, metric, before, after, 0, 0, worse});
}

/// Identities that one side has twice: placeholders, which pair nothing.
std::unordered_set<std::string_view> Comparing::doubles() const {
    std::unordered_set<std::string_view> twice;
    for (const Side* side : {&before_, &after_}) {
        std::unordered_set<std::string_view> once;
        for (const auto& [key, report] : side->by_key) {
            for (const Gpu& gpu : report->gpus) {
                if (!gpu.identity.empty() && !once.insert(gpu.identity).second) twice.insert(gpu.identity);
            }
        }
    }
    return twice;
}

/// GPUs by identity over both fleets, so that one that moved is the same one; else by slot of the same node.
void Comparing::pair_gpus() {
    struct Place {
        const NodeReport* node;
        const Gpu* gpu;
    };
    std::unordered_map<std::string_view, Place> earlier;
    const std::unordered_set<std::string_view> not_told_apart = doubles();
    const auto named = [&](const Gpu& gpu) {
        return !gpu.identity.empty() && !not_told_apart.contains(gpu.identity);
    };
    for (const auto& [key, report] : before_.by_key) {
        for (const Gpu& gpu : report->gpus) {
            if (named(gpu)) earlier.emplace(gpu.identity, Place{report, &gpu});
        }
    }
    std::set<std::string_view> still_there;
    const auto key_of = [](const NodeReport& report) {
        return report.key.empty() ? report.node : report.key;
    };
    for (const auto& [key, report] : after_.by_key) {
        const auto node = before_.by_key.find(key);
        for (const Gpu& gpu : report->gpus) {
            const std::string& slot = after_.text(gpu.bdf);
            const auto known = named(gpu) ? earlier.find(gpu.identity) : earlier.end();
            if (known != earlier.end()) {
                still_there.insert(known->first);
                gpus_.push_back({known->second.node, report, known->second.gpu, &gpu});
                if (key_of(*known->second.node) != key)
                    fact(*report, gpu.identity, "moved",
                         known->second.node->node + " " + before_.text(known->second.gpu->bdf),
                         report->node + " " + slot, false);
                continue;
            }
            if (node == before_.by_key.end()) continue;
            const auto& olds = node->second->gpus;
            const auto old = std::find_if(olds.begin(), olds.end(),
                                          [&](const Gpu& each) { return before_.text(each.bdf) == slot; });
            if (old != olds.end() && (!named(*old) || !named(gpu)))
                gpus_.push_back({node->second, report, &*old, &gpu});
            else if (named(gpu))
                fact(*report, slot, "GPU", old == olds.end() ? "" : old->identity, gpu.identity, false);
        }
    }
    for (const Pair& pair : nodes_) {
        if (pair.after->gpus.size() < pair.before->gpus.size())
            fact(*pair.after, "GPUs", "count", std::to_string(pair.before->gpus.size()),
                 std::to_string(pair.after->gpus.size()), true);
        const bool as_many = pair.after->gpus.size() >= pair.before->gpus.size();
        for (const Gpu& gpu : pair.before->gpus) {
            const bool another = std::any_of(
                pair.after->gpus.begin(), pair.after->gpus.end(),
                [&](const Gpu& now) { return named(now) && after_.text(now.bdf) == before_.text(gpu.bdf); });
            if (as_many && another) continue;  // exchanged, which is told of the new one
            if (named(gpu) && !still_there.contains(gpu.identity))
                fact(*pair.after, before_.text(gpu.bdf), "GPU gone", gpu.identity, "", true);
        }
    }
}

void Comparing::codes(const Pair& pair) {
    const auto listed = [](const Side& side, const NodeReport& report) {
        std::map<std::string, Verdict> all;
        for (const Problem& problem : report.problems) {
            Verdict& worst = all.emplace(side.text(problem.code), problem.verdict).first->second;
            worst = std::max(worst, problem.verdict);
        }
        return all;
    };
    const auto before = listed(before_, *pair.before), after = listed(after_, *pair.after);
    for (const auto& [code, verdict] : before) {
        const auto now = after.find(code);
        const std::string then = std::string(name_of(verdict));
        if (now == after.end())
            fact(*pair.after, pair.after->node, "code " + code, then, "", false);
        else if (now->second != verdict)
            fact(*pair.after, pair.after->node, "code " + code, then, std::string(name_of(now->second)),
                 now->second > verdict);
    }
    for (const auto& [code, verdict] : after) {
        if (!before.contains(code))
            fact(*pair.after, pair.after->node, "code " + code, "", std::string(name_of(verdict)), true);
    }
}

/// Lanes, generation and size of one GPU's wiring: what is less now is worse, whatever was measured.
void Comparing::wiring(const GpuPair& pair) {
    const Gpu &before = *pair.before, &after = *pair.after;
    const std::string& slot = after_.text(after.bdf);
    const auto compare_whole = [&](const char* name, unsigned then, unsigned now) {
        if (then != 0 && now == 0) ++unread_[name];
        if (then != 0 && now != 0 && then != now)
            fact(*pair.node, slot, name, std::to_string(then), std::to_string(now), now < then);
    };
    compare_whole("link width", before.link_width, after.link_width);
    compare_whole("link generation", before.link_generation, after.link_generation);
    if (before.memory_gib > 0 && !(after.memory_gib > 0)) ++unread_["memory GiB"];
    constexpr float kSame = 0.01F;  // what firmware and ECC reserve differs by less between drivers
    if (before.memory_gib > 0 && after.memory_gib > 0 &&
        std::fabs(after.memory_gib - before.memory_gib) > kSame * before.memory_gib)
        fact(*pair.node, slot, "memory GiB", number(before.memory_gib), number(after.memory_gib),
             after.memory_gib < before.memory_gib);
}

void Comparing::facts() {
    for (const Pair& pair : nodes_) {
        const NodeReport &before = *pair.before, &after = *pair.after;
        if (before.verdict != after.verdict)
            fact(after, after.node, "verdict", std::string(name_of(before.verdict)),
                 std::string(name_of(after.verdict)), after.verdict > before.verdict);
        const std::array members{std::pair("driver", &NodeReport::driver),
                                 std::pair("kernel", &NodeReport::kernel),
                                 std::pair("instance type", &NodeReport::instance_type)};
        for (const auto& [name, member] : members) {
            const std::string &then = before_.text(before.*member), &now = after_.text(after.*member);
            if (then != now) fact(after, after.node, name, then, now, false);
        }
        if (before.gpus_bound >= 0 && after.gpus_bound >= 0 && before.gpus_bound != after.gpus_bound)
            fact(after, "GPUs", "held by a driver", std::to_string(before.gpus_bound),
                 std::to_string(after.gpus_bound), after.gpus_bound < before.gpus_bound);
        codes(pair);
    }
    for (const GpuPair& pair : gpus_) {
        const std::string &then = before_.text(pair.before->firmware),
                          &now = after_.text(pair.after->firmware);
        if (then != now && !then.empty() && !now.empty())
            fact(*pair.node, after_.text(pair.after->bdf), "firmware", then, now, false);
        const std::string &cut = before_.text(pair.before->mode), &cut_now = after_.text(pair.after->mode);
        if (cut != cut_now) fact(*pair.node, after_.text(pair.after->bdf), "mode", cut, cut_now, false);
        wiring(pair);
    }
}

/// The same change on more than half of the nodes is one change of the fleet.
void Comparing::fold_facts() {
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<const Change*>> alike;
    for (const Change& change : facts_) {
        if (change.metric != "moved" && change.metric != "GPU" && change.metric != "GPU gone")
            alike[{change.metric, change.before, change.after}].push_back(&change);
    }
    std::set<const Change*> folded;
    for (const auto& [what, changes] : alike) {
        std::set<std::string_view> nodes;
        for (const Change* change : changes) nodes.insert(change->node);
        if (nodes.size() < 3 || 2 * nodes.size() <= nodes_.size()) continue;
        Change one = *changes.front();
        one.node.clear();
        one.subject = std::to_string(nodes.size()) + " of " + std::to_string(nodes_.size()) + " nodes";
        comparison_.significant.push_back(std::move(one));
        folded.insert(changes.begin(), changes.end());
    }
    for (const Change& change : facts_) {
        if (!folded.contains(&change)) comparison_.significant.push_back(change);
    }
}

}  // namespace gpucheck::fleet
