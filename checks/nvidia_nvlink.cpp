// Finds GPUs with fewer or slower NVLinks than their board has: collectives fall back to PCIe or run at the
// pace of the worst GPU, and a test that only looks at links which are up passes.
#include <algorithm>
#include <map>
#include <string>

#include "checks/all.h"
#include "checks/nvidia_fabric.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.nvlink";
// NVML shows 25,000 to 26,562 MB/s where makers print 25 GB/s: below nine tenths is no rounding.
constexpr double kSlow = 0.9;

const Fact<std::vector<NvLink>>& links_of(const Device& gpu) {
    return newer(gpu.telemetry.first.nvidia.nvlinks, gpu.telemetry.last.nvidia.nvlinks);
}

struct Count {
    unsigned active = 0, down = 0;
    const Missing* unread = nullptr;  ///< a link whose state could not be read
    std::string names;                ///< of those that are down
    std::string source;
};

Count count(const std::vector<NvLink>& links) {
    Count result;
    for (const NvLink& link : links) {
        if (link.active.known()) {
            result.source = link.active.source();
            if (*link.active) {
                ++result.active;
                continue;
            }
            ++result.down;
            result.names += (result.names.empty() ? "" : ", ") + std::to_string(link.link);
        } else if (!not_offered(link.active.missing()) && result.unread == nullptr) {
            result.unread = &link.active.missing();
        }
    }
    return result;
}

/// The most links that any GPU of the same board has up: what one GPU lacks beside its peers.
using Peers = std::map<std::string, unsigned>;

Peers best_of(const Gpus& gpus) {
    Peers best;
    for (const Device* gpu : gpus) {
        if (!links_of(*gpu).known()) continue;
        unsigned& most = best[board_name(*gpu)];
        most = std::max(most, count(*links_of(*gpu)).active);
    }
    return best;
}

Finding judge_missing(const Snapshot& snapshot, const Device& gpu, const std::string& expected,
                      const Missing& missing) {
    const bool wired = gpu.board.known() && gpu.board->links.known() && gpu.board->form != FormFactor::pcie;
    if (not_offered(missing) && wired && snapshot.host.bare_metal() && !sliced(gpu)) {
        return unread_fact(gpu.bdf, expected,
                           Missing{missing.source, missing.why + ", on a board that has NVLink"});
    }
    return missing_fact(kId, gpu.bdf, expected, missing);
}

std::string observed_text(const Count& count) {
    return std::to_string(count.active) + " up" + (count.down > 0 ? ", down: " + count.names : "");
}

/// Boards whose links are wired to switches or to each other: all are up, except in a guest, whose host
/// decides which links belong to its partition.
Finding judge_wired(const Snapshot& snapshot, const Gpus& gpus, const Device& gpu, const Count& count,
                    unsigned peers) {
    const std::string expected = std::to_string(*gpu.board->links) + " links up (" + gpu.board->name + ")";
    const std::string observed = observed_text(count);
    if (count.active >= *gpu.board->links)
        return finding(kId, Verdict::pass, gpu.bdf, expected, observed, count.source);
    if (fabric_unfinished(gpu) && fabric_may_come(snapshot.host)) {
        return unread_fact(gpu.bdf, expected,
                           Missing{count.source, observed + "; the fabric is not ready yet"});
    }
    if (!snapshot.host.bare_metal() && peers == 0) {
        if (gpus.size() == 1) {
            return finding(kId, Verdict::not_applicable, gpu.bdf, "",
                           "no link: one GPU of a larger board, passed through alone", count.source);
        }
        return finding("nvidia.nvlink.none", Verdict::warn, gpu.bdf, expected, observed, count.source);
    }
    const bool proven = snapshot.host.bare_metal() || count.active < peers;
    return finding("nvidia.nvlink.missing", proven ? Verdict::fail : Verdict::warn, gpu.bdf, expected,
                   observed, count.source);
}

/// Cards that are joined by bridges, or not: A100 PCIe without one shows 12 links down (NVIDIA/NVSentinel
/// PR#1481), rightly.
Finding judge_bridged(const Device& gpu, const Count& count, unsigned peers) {
    const std::string observed = observed_text(count);
    if (count.active == 0) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "", "no link up: no bridge, or no partner",
                       count.source);
    }
    const std::string expected = std::to_string(peers) + " links up, as its peers have";
    return finding(count.active < peers ? "nvidia.nvlink.odd" : kId,
                   count.active < peers ? Verdict::warn : Verdict::pass, gpu.bdf, expected, observed,
                   count.source);
}

void judge_speed(const Device& gpu, const std::vector<NvLink>& links, Findings& findings) {
    if (!gpu.board.known() || !gpu.board->links.known() || !gpu.board->link_gb_s.known()) return;
    const double wanted_mbps = 1000.0 * *gpu.board->link_gb_s / 2 / *gpu.board->links;
    std::string slow;
    const NvLink* proof = nullptr;
    for (const NvLink& link : links) {
        if (!link.active.is(true) || !link.speed_mbps.known()) continue;
        if (*link.speed_mbps >= kSlow * wanted_mbps) continue;
        proof = &link;
        slow += (slow.empty() ? "link " : ", link ") + std::to_string(link.link) + " " +
                std::to_string(*link.speed_mbps);
    }
    if (proof == nullptr) return;
    findings.push_back(finding("nvidia.nvlink.slow", Verdict::fail, gpu.bdf,
                               std::to_string(static_cast<unsigned>(wanted_mbps)) + " MB/s a link",
                               slow + " MB/s", proof->speed_mbps.source()));
}

void judge_gpu(const Snapshot& snapshot, const Gpus& gpus, const Device& gpu, unsigned peers,
               Findings& findings) {
    const Fact<std::vector<NvLink>>& links = links_of(gpu);
    const std::string expected = "its NVLinks up";
    if (!links.known()) {
        findings.push_back(judge_missing(snapshot, gpu, expected, links.missing()));
        return;
    }
    Count counted = count(*links);
    if (counted.source.empty()) counted.source = links.source();
    if (counted.unread != nullptr) {
        findings.push_back(unread_fact(gpu.bdf, expected, *counted.unread));
    } else if (counted.active + counted.down == 0) {
        findings.push_back(judge_missing(snapshot, gpu, expected, Missing{links.source(), "NOT_SUPPORTED"}));
    } else if (gpu.board.known() && gpu.board->form != FormFactor::pcie && gpu.board->links.known()) {
        findings.push_back(judge_wired(snapshot, gpus, gpu, counted, peers));
    } else if (gpu.board.known() && gpu.board->form == FormFactor::pcie) {
        findings.push_back(judge_bridged(gpu, counted, peers));
    } else if (counted.active < peers) {
        findings.push_back(finding("nvidia.nvlink.odd", Verdict::warn, gpu.bdf,
                                   std::to_string(peers) + " links up, as its peers have",
                                   observed_text(counted), counted.source));
    } else {
        findings.push_back(finding(kId, Verdict::not_applicable, gpu.bdf, "",
                                   observed_text(counted) + "; nothing says how many there should be",
                                   counted.source));
    }
    judge_speed(gpu, *links, findings);
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Gpus gpus = answering_nvidia(snapshot, "the state of the NVLinks", findings);
    const Peers best = best_of(gpus);
    for (const Device* gpu : gpus) {
        const auto peers = best.find(board_name(*gpu));
        judge_gpu(snapshot, gpus, *gpu, peers != best.end() ? peers->second : 0, findings);
    }
}

}  // namespace

const Check kNvidiaNvlinkCheck{.id = kId,
                               .title = "NVLink",
                               .impact = Impact::passive,
                               .required_from = Profile::boot,
                               .applies = without_usable_nvidia,
                               .judge = judge};

}  // namespace gpucheck
