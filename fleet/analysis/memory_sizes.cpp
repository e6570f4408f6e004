// Boards of one name with different memory: an A100 of 40 GB is no slow one of 80, and one that shows 1 GiB
// of its 80 must not become a kind of its own.
#include <algorithm>
#include <cmath>

#include "fleet/analysis/deliberation.h"
#include "fleet/analysis/metric_judge.h"

namespace gpucheck::fleet {
namespace {

struct Seen {
    float gib;
    std::uint32_t node;
};

MemorySizes::Size size_of(const std::vector<Seen>& seen, std::size_t first, std::size_t end) {
    const double middle = seen[first + (end - first) / 2].gib;
    return {seen[first].gib, seen[end - 1].gib, static_cast<unsigned>(std::max(1.0, std::round(middle))),
            false};
}

/// Sizes with a gap between them; one that few nodes have, where others are usual, is odd.
std::vector<MemorySizes::Size> sizes_of(std::vector<Seen> seen, double unlike_share) {
    std::sort(seen.begin(), seen.end(),
              [](const Seen& a, const Seen& b) { return std::tie(a.gib, a.node) < std::tie(b.gib, b.node); });
    const auto nodes_in = [&](std::size_t first, std::size_t end) {
        std::vector<std::uint32_t> nodes;
        for (std::size_t i = first; i < end; ++i) nodes.push_back(seen[i].node);
        std::sort(nodes.begin(), nodes.end());
        return static_cast<std::size_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
    };
    std::vector<MemorySizes::Size> sizes;
    std::vector<std::size_t> nodes;
    for (std::size_t first = 0; first < seen.size();) {
        std::size_t end = first + 1;
        while (end < seen.size() && same_memory(seen[end].gib, seen[end - 1].gib)) ++end;
        sizes.push_back(size_of(seen, first, end));
        nodes.push_back(sizes.size() == 1 && end == seen.size() ? 1 : nodes_in(first, end));
        first = end;
    }
    if (sizes.size() < 2) return sizes;
    const auto few = std::max<std::size_t>(
        1, static_cast<std::size_t>(unlike_share * static_cast<double>(nodes_in(0, seen.size()))));
    const auto most = static_cast<std::size_t>(std::max_element(nodes.begin(), nodes.end()) - nodes.begin());
    if (nodes[most] < kFewestForNormal || nodes[most] <= 2 * few) return sizes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (i == most || nodes[i] > few) continue;
        sizes[i].odd = true;
        sizes[i].gib = sizes[most].gib;
    }
    return sizes;
}

}  // namespace

const MemorySizes::Size* MemorySizes::find(const NodeReport& report, std::size_t gpu) const {
    const Gpu& wanted = report.gpus[gpu];
    const auto kind = sizes.find({wanted.board, report.instance_type, wanted.mode});
    if (kind == sizes.end()) return nullptr;
    const auto holds = [&](const Size& size) {
        return wanted.memory_gib >= size.least && wanted.memory_gib <= size.most;
    };
    const auto found = std::find_if(kind->second.begin(), kind->second.end(), holds);
    return found == kind->second.end() ? nullptr : &*found;
}

unsigned MemorySizes::of(const NodeReport& report, std::size_t gpu) const {
    const Gpu& wanted = report.gpus[gpu];
    if (const Size* size = find(report, gpu)) return size->gib;
    if (wanted.memory_gib > 0) return static_cast<unsigned>(std::max(1.0F, std::round(wanted.memory_gib)));
    // Not known is not unlike: where its name has one size it is that.
    const auto kind = sizes.find({wanted.board, report.instance_type, wanted.mode});
    if (kind == sizes.end()) return 0;
    const bool one = std::all_of(kind->second.begin(), kind->second.end(),
                                 [&](const Size& size) { return size.gib == kind->second.front().gib; });
    return one ? kind->second.front().gib : 0;
}

MemorySizes memory_sizes(const Deliberation& work) {
    std::map<MemorySizes::Kind, std::vector<Seen>> seen;
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        if (!work.counts[node]) continue;
        const NodeReport& report = work.report(node);
        for (const Gpu& gpu : report.gpus) {
            if (std::isfinite(gpu.memory_gib) && gpu.memory_gib > 0)
                seen[{gpu.board, report.instance_type, gpu.mode}].push_back(
                    {gpu.memory_gib, static_cast<std::uint32_t>(node)});
        }
    }
    MemorySizes made;
    for (auto& [kind, all] : seen)
        made.sizes.emplace(kind, sizes_of(std::move(all), work.policy.unlike_share));
    return made;
}

}  // namespace gpucheck::fleet
