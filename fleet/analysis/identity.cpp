// GPUs by their serial numbers and UUIDs; see identity.h.
#include "fleet/analysis/identity.h"

#include <algorithm>
#include <functional>

#include "agent/report/report_id.h"
#include "fleet/analysis/deliberation.h"
#include "fleet/analysis/excuse.h"

namespace gpucheck::fleet {
namespace {

/// Sorted; empty where one is not known.
std::vector<std::string_view> identities(const NodeReport& report) {
    std::vector<std::string_view> all;
    for (const Gpu& gpu : report.gpus) {
        if (gpu.identity.empty()) return {};
        all.emplace_back(gpu.identity);
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// A serial number in one report and a UUID in the other may be one GPU's.
bool comparable(std::string_view a, std::string_view b) {
    const auto dashed = [](std::string_view text) { return text.find('-') != std::string_view::npos; };
    return a.size() == b.size() && dashed(a) == dashed(b);
}

struct Sighting {
    std::size_t hash = 0;  ///< sorts faster than the text
    std::string_view identity;
    double time_s = 0;
    std::uint32_t node = 0;
    bool speaks = false;  ///< in the node's report that counts
};

bool same_gpu(const Sighting& a, const Sighting& b) {
    return a.hash == b.hash && a.identity == b.identity;
}

/// In node order of (GPU, time, node): the same for each order of input.
std::vector<Sighting> sightings_of(const Deliberation& work) {
    const Clock clock(work.fleet, work.policy);
    std::vector<Sighting> all;
    all.reserve(work.fleet.reports.size() * 8);  // growing would need it three times over
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        if (!work.counts[node]) continue;
        const auto collect = [&](std::size_t index, bool speaks) {
            const NodeReport& report = work.fleet.reports[index];
            if (!excuse_of(report, work.policy, clock).rule.empty()) return;
            const double time_s = static_cast<double>(report::unix_seconds(report.created).value_or(0));
            for (const Gpu& gpu : report.gpus) {
                if (!gpu.identity.empty())
                    all.push_back({std::hash<std::string>{}(gpu.identity), gpu.identity, time_s,
                                   static_cast<std::uint32_t>(node), speaks});
            }
        };
        collect(work.nodes[node].report, true);
        for (const std::size_t earlier : work.nodes[node].earlier) collect(earlier, false);
    }
    std::sort(all.begin(), all.end(), [](const Sighting& a, const Sighting& b) {
        return std::tie(a.hash, a.identity, a.time_s, a.node) <
               std::tie(b.hash, b.identity, b.time_s, b.node);
    });
    return all;
}

/// What one node shares with another.
struct Shared {
    std::size_t gpus = 0;
    std::string_view example;  ///< the first by text
};
using Pairs = std::map<std::pair<std::uint32_t, std::uint32_t>, Shared>;

void share(Pairs& pairs, const Sighting& a, const Sighting& b) {
    for (const auto& [own, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
        Shared& shared = pairs[{own->node, other->node}];
        ++shared.gpus;
        if (shared.example.empty() || own->identity < shared.example) shared.example = own->identity;
    }
}

/// One GPU's sightings by time. A GPU that was moved is in one node, then in another, and perhaps back again;
/// in two nodes within minutes, or in them by turns, it is in one of them a copy.
bool claimed_twice(const Sighting* first, const Sighting* end, Pairs& pairs) {
    constexpr double kMove = 300;  // nobody moves a GPU and boots both machines in less
    constexpr std::size_t kByTurns = 3;
    std::size_t changes = 0;
    for (const Sighting* each = first + 1; each < end; ++each) changes += each[-1].node != each->node ? 1 : 0;
    std::set<std::pair<std::uint32_t, std::uint32_t>> told;
    for (const Sighting* each = first + 1; each < end; ++each) {
        const Sighting& before = each[-1];
        if (before.node == each->node || (each->time_s - before.time_s > kMove && changes < kByTurns))
            continue;
        if (told.insert(std::minmax(before.node, each->node)).second) share(pairs, before, *each);
    }
    return !told.empty();
}

}  // namespace

bool strangers(const NodeReport& a, const NodeReport& b) {
    const std::vector<std::string_view> own = identities(a), other = identities(b);
    if (own.empty() || other.empty() || !comparable(own.front(), other.front())) return false;
    std::size_t i = 0, j = 0;
    while (i < own.size() && j < other.size()) {
        if (own[i] == other[j]) return false;
        ++(own[i] < other[j] ? i : j);
    }
    return true;
}

void find_doubles(Deliberation& work, std::vector<std::string>& notes) {
    const std::vector<Sighting> all = sightings_of(work);
    Pairs pairs;
    std::size_t moved = 0;
    std::string example;
    for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
        while (end < all.size() && same_gpu(all[first], all[end])) ++end;
        if (end - first < 2 || claimed_twice(&all[first], all.data() + end, pairs)) continue;
        const Sighting* before = nullptr;  // in the report of another node that speaks
        for (std::size_t each = first; each < end; ++each) {
            if (!all[each].speaks) continue;
            if (before != nullptr && before->node != all[each].node) {
                ++moved;
                const std::string text = std::string(all[each].identity) + " in " +
                                         work.report(before->node).node + " and " +
                                         work.report(all[each].node).node;
                if (example.empty() || text < example) example = text;
            }
            before = &all[each];
        }
    }
    for (const auto& [nodes, shared] : pairs)
        work.add(nodes.first, Decision::no_evidence, "same GPU",
                 std::to_string(shared.gpus) + " of its " +
                     std::to_string(work.report(nodes.first).gpus.size()) + " GPUs, such as " +
                     std::string(shared.example) + ", are at the same time in " +
                     name_beside(work.report(nodes.first), work.report(nodes.second)) +
                     ": one of the two reports is of another machine");
    if (moved != 0)
        notes.push_back(std::to_string(moved) + " GPUs are named twice, such as " + example +
                        ": moved between the reports");
}

}  // namespace gpucheck::fleet
