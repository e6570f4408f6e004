// Finds the node that has less than its peers, and promised nothing: seven GPUs among eights, eight lanes
// among sixteens, 1 GiB among 80. Its own report passes, because nobody told it what to expect.
#include <algorithm>
#include <cmath>

#include "fleet/analysis/deliberation.h"
#include "fleet/analysis/metric_judge.h"

namespace gpucheck::fleet {
namespace {

constexpr double kHalf = 0.5, kMajority = 0.75;

/// What a policy says of a code, else `usual`. Rules with verdicts or scopes speak of a report's own
/// findings.
void tell(Deliberation& work, std::size_t node, int gpu, const std::string& code, Decision usual,
          std::string text) {
    const NodeReport& report = work.report(node);
    bool named = false, waived = false;
    for (const Rule& rule : work.policy.rules) {
        if (!rule.metric.empty() || !rule.verdicts.empty() || !rule.scopes.empty()) continue;
        const bool code_named =
            std::any_of(rule.codes.begin(), rule.codes.end(),
                        [&](const std::string& each) { return code_matches(each, code); });
        const bool board_named =
            rule.boards.empty() || std::any_of(report.gpus.begin(), report.gpus.end(), [&](const Gpu& each) {
                return std::find(rule.boards.begin(), rule.boards.end(), work.text(each.board)) !=
                       rule.boards.end();
            });
        if (!code_named || !board_named) continue;
        named = true;
        if (rule.decision == Decision::accept)
            waived = true;
        else
            work.add(node, rule.decision, rule.name, code + ": " + text, gpu);
    }
    if (waived) return;
    work.mark(node, gpu, code);
    if (!named) work.add(node, usual, code, std::move(text), gpu);
}

struct Holding {
    int value = 0;
    std::uint32_t node = 0;
    int gpu = -1;
};

/// The most frequent value, if three and `share` of all hold it; of two alike the larger.
std::optional<int> usual_of(const std::vector<Holding>& held, double share) {
    std::map<int, std::size_t> counts;
    for (const Holding& each : held) ++counts[each.value];
    std::pair<std::size_t, int> most{0, 0};
    for (const auto& [value, count] : counts) most = std::max(most, std::pair(count, value));
    if (most.first < kFewestForNormal ||
        static_cast<double>(most.first) < share * static_cast<double>(held.size()))
        return std::nullopt;
    return most.second;
}

std::size_t count_of(const std::vector<Holding>& held, int value) {
    return static_cast<std::size_t>(
        std::count_if(held.begin(), held.end(), [&](const Holding& each) { return each.value == value; }));
}

/// Of one instance type all have as many. Where it is not known four GPUs among eights may be another
/// product; seven are none.
void judge_counts(Deliberation& work, const std::vector<Holding>& held, bool one_type) {
    const auto usual = usual_of(held, one_type ? kHalf : kMajority);
    if (!usual) return;
    const auto few = std::max<std::size_t>(
        1, static_cast<std::size_t>(work.policy.unlike_share * static_cast<double>(held.size())));
    const std::string peers = std::to_string(count_of(held, *usual)) + " of " + std::to_string(held.size()) +
                              " nodes of its kind have " + std::to_string(*usual);
    for (const Holding& each : held) {
        if (each.value >= *usual || work.report(each.node).gpus_expected >= 0) continue;
        const bool product = each.value > 0 && (each.value & (each.value - 1)) == 0;
        if (!one_type && product && count_of(held, each.value) > few) continue;
        tell(work, each.node, -1, "fleet.gpus.fewer", Decision::quarantine,
             std::to_string(each.value) + " GPUs; " + peers);
    }
}

void judge_bound(Deliberation& work, const std::vector<Holding>& held) {
    const auto usual = usual_of(held, kHalf);
    if (!usual) return;
    for (const Holding& each : held) {
        if (each.value >= *usual || work.report(each.node).gpus_bound >= work.report(each.node).gpus_found)
            continue;
        tell(work, each.node, -1, "fleet.gpus.unbound", Decision::quarantine,
             "a driver holds " + std::to_string(each.value) + " of its " +
                 std::to_string(work.report(each.node).gpus_found) + " GPUs; of its peers' " +
                 std::to_string(*usual));
    }
}

void judge_nodes(Deliberation& work) {
    using Kind = std::tuple<Name, Name, Name, Name>;  // provider, type; without a type board and mode
    std::map<Kind, std::vector<Holding>> counts, bound;
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        const NodeReport& report = work.report(node);
        if (!work.counts[node] || report.gpus.empty()) continue;
        const auto at = static_cast<std::uint32_t>(node);
        if (report.gpus_found >= 0 && report.gpus_bound < 0)
            tell(work, node, -1, "fleet.gpus.unbound", Decision::no_evidence,
                 "its report does not say how many of its " + std::to_string(report.gpus_found) +
                     " GPUs a driver holds");
        if (report.instance_type != kNoName) {
            const Kind kind{report.provider, report.instance_type, kNoName, kNoName};
            counts[kind].push_back(
                {std::max(report.gpus_found, static_cast<int>(report.gpus.size())), at, -1});
            if (report.gpus_bound >= 0) bound[kind].push_back({report.gpus_bound, at, -1});
            continue;
        }
        std::map<std::pair<Name, Name>, int> boards;
        for (const Gpu& gpu : report.gpus) ++boards[{gpu.board, gpu.mode}];
        for (const auto& [board, count] : boards)
            counts[{report.provider, kNoName, board.first, board.second}].push_back({count, at, -1});
        if (boards.size() == 1 && report.gpus_bound >= 0)
            bound[{report.provider, kNoName, boards.begin()->first.first, boards.begin()->first.second}]
                .push_back({report.gpus_bound, at, -1});
    }
    for (const auto& [kind, held] : counts) judge_counts(work, held, std::get<1>(kind) != kNoName);
    for (const auto& [kind, held] : bound) judge_bound(work, held);
}

/// Lanes and generation against the same slot in other nodes, because boards wire slots differently; where a
/// slot is rare, against all GPUs of the kind.
template <class Tell>
void judge_link(const Deliberation& work, const std::vector<Holding>& held, Tell say) {
    std::map<Name, std::vector<Holding>> slots;
    for (const Holding& each : held)
        slots[work.report(each.node).gpus[static_cast<std::size_t>(each.gpu)].bdf].push_back(each);
    const auto of_all = usual_of(held, kMajority);
    for (const auto& [slot, here] : slots) {
        const auto usual = here.size() >= kFewestForNormal ? usual_of(here, kMajority) : of_all;
        if (!usual) continue;
        for (const Holding& each : here) {
            if (each.value < *usual) say(each, *usual);
        }
    }
}

void judge_gpus(Deliberation& work) {
    std::map<std::pair<Name, Name>, std::pair<std::vector<Holding>, std::vector<Holding>>> kinds;
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        if (!work.counts[node]) continue;
        const NodeReport& report = work.report(node);
        for (std::size_t index = 0; index < report.gpus.size(); ++index) {
            const Gpu& gpu = report.gpus[index];
            auto& [widths, generations] = kinds[{gpu.board, report.instance_type}];
            const auto at = static_cast<std::uint32_t>(node);
            const int generation = gpu.link_generation != 0 ? gpu.link_generation : gpu.link_generation_rest;
            if (gpu.link_width != 0) widths.push_back({gpu.link_width, at, static_cast<int>(index)});
            if (generation != 0) generations.push_back({generation, at, static_cast<int>(index)});
            const MemorySizes::Size* size = work.memory.find(report, index);
            if (size != nullptr && size->odd)
                tell(work, node, static_cast<int>(index), "fleet.memory.size", Decision::quarantine,
                     "GPU " + work.text(gpu.bdf) + ": " + number(gpu.memory_gib) +
                         " GiB of memory; its peers have " + std::to_string(size->gib));
        }
    }
    for (const auto& [kind, links] : kinds) {
        judge_link(work, links.first, [&](const Holding& each, int usual) {
            const Gpu& gpu = work.report(each.node).gpus[static_cast<std::size_t>(each.gpu)];
            tell(work, each.node, each.gpu, "fleet.link.narrow", Decision::quarantine,
                 "GPU " + work.text(gpu.bdf) + ": a link of " + std::to_string(each.value) +
                     " lanes; its peers have " + std::to_string(usual));
        });
        judge_link(work, links.second, [&](const Holding& each, int usual) {
            const Gpu& gpu = work.report(each.node).gpus[static_cast<std::size_t>(each.gpu)];
            const std::size_t place = work.first_gpu[each.node] + static_cast<std::size_t>(each.gpu);
            const bool under_load = gpu.link_generation != 0;
            // A link sleeps; how fast it copies says more than what it showed when nothing ran.
            const auto copied = 1U << static_cast<unsigned>(Aspect::host_link);
            if (!under_load && (work.compared[place] & copied) != 0) return;
            tell(work, each.node, each.gpu, "fleet.link.slow",
                 under_load ? Decision::quarantine : Decision::no_evidence,
                 "GPU " + work.text(gpu.bdf) + ": PCIe " + std::to_string(each.value) +
                     (under_load ? " under load" : " at rest, and no copy was compared") +
                     "; its peers have " + std::to_string(usual));
        });
    }
}

}  // namespace

void find_lesser(Deliberation& work) {
    judge_nodes(work);
    judge_gpus(work);
}

}  // namespace gpucheck::fleet
