// What was compared, measurement by measurement: a node whose memory nobody looked at must not be accepted
// for its launch latency.
#include <algorithm>
#include <array>

#include "agent/report/words.h"
#include "fleet/analysis/deliberation.h"

namespace gpucheck::fleet {
namespace {

struct Needed {
    Aspect aspect;
    const char* name;
};
// What the boot and acceptance profiles measure of every GPU (docs/experiments.md). The copies between GPUs
// have no number in a report's measurements: their checks judge them on the node.
constexpr std::array kNeeded{Needed{Aspect::memory, "memory"}, Needed{Aspect::arithmetic, "arithmetic"},
                             Needed{Aspect::host_link, "the host link"}};

std::uint8_t bit_of(Aspect aspect) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(aspect));
}

/// "2 of its 8 GPUs"
std::string share(std::size_t gpus, std::size_t all) {
    return std::to_string(gpus) + " of its " + std::to_string(all) + " GPUs";
}

std::string joined(const std::vector<std::string>& parts) {
    constexpr std::size_t kMost = 6;
    return report::list_words({parts.begin(), parts.end()}, kMost);
}

/// Which aspects were not measured, and which were and have no peers; each with how many GPUs.
void judge_aspects(Deliberation& work, std::size_t node) {
    const std::size_t first = work.first_gpu[node], all = work.report(node).gpus.size();
    std::vector<std::string> unmeasured, uncompared;
    std::size_t most_unmeasured = 0, most_uncompared = 0, silent = 0;
    for (std::size_t gpu = 0; gpu < all; ++gpu) silent += work.measured[first + gpu] == 0 ? 1U : 0U;
    for (const Needed& needed : kNeeded) {
        std::size_t no_number = 0, no_peer = 0;
        for (std::size_t gpu = 0; gpu < all; ++gpu) {
            const bool measured = (work.measured[first + gpu] & bit_of(needed.aspect)) != 0;
            const bool compared = (work.compared[first + gpu] & bit_of(needed.aspect)) != 0;
            no_number += measured ? 0U : 1U;
            no_peer += measured && !compared ? 1U : 0U;
        }
        if (no_number != 0) unmeasured.emplace_back(needed.name);
        if (no_peer != 0) uncompared.emplace_back(needed.name);
        most_unmeasured = std::max(most_unmeasured, no_number);
        most_uncompared = std::max(most_uncompared, no_peer);
    }
    if (silent != 0)
        work.add(node, Decision::no_evidence, "not measured",
                 share(silent, all) + " have no speed measurement");
    else if (!unmeasured.empty())
        work.add(node, Decision::no_evidence, "not measured",
                 share(most_unmeasured, all) + " have no measurement of " + joined(unmeasured));
    if (!uncompared.empty())
        work.add(node, Decision::no_evidence, "too few peers",
                 share(most_uncompared, all) + " have too few peers to be compared with in " +
                     joined(uncompared) + ", and no baseline");
}

}  // namespace

void apply_coverage(Deliberation& work) {
    if (work.policy.accept_uncompared) return;
    std::vector<std::vector<std::string>> alone(work.alone.empty() ? 0 : work.nodes.size());
    for (const auto& [node, metric] : work.alone) alone[node].push_back(work.text(metric));
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        if (!work.counts[node] || work.report(node).gpus.empty()) continue;
        judge_aspects(work, node);
        if (alone.empty() || alone[node].empty()) continue;
        std::vector<std::string>& metrics = alone[node];
        std::sort(metrics.begin(), metrics.end());
        metrics.erase(std::unique(metrics.begin(), metrics.end()), metrics.end());
        work.add(node, Decision::no_evidence, "uncompared",
                 "not compared in " + joined(metrics) +
                     ": too few peers have measured it, and no baseline has it");
    }
}

void note_partial(Deliberation& work, const WorkGroup& group, Name metric, const std::vector<Cell>& column) {
    if (column.size() == group.members.size() || is_hole(column.size(), group.members.size())) return;
    work.notes.push_back(std::to_string(column.size()) + " of " + std::to_string(group.members.size()) +
                         " GPUs of " + group_name(group.group.key) + " have measured " + work.text(metric) +
                         ": the others are not compared in it");
}

}  // namespace gpucheck::fleet
