// Finds AMD GPUs with a dead or slow link to a neighbour: collectives then run at the speed of that one link,
// or over PCIe, and nothing fails.
#include <algorithm>
#include <map>

#include "checks/all.h"
#include "checks/amd_facts.h"
#include "checks/capacity.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "amd.xgmi";

unsigned up(const std::vector<unsigned>& links) {
    return static_cast<unsigned>(std::count(links.begin(), links.end(), 1U));
}
/// 0 is down and 1 is up; all other values mean that there is no such link (amd-smi: "disabled").
unsigned down(const std::vector<unsigned>& links) {
    return static_cast<unsigned>(std::count(links.begin(), links.end(), 0U));
}

const AmdLinkCounters& links_of(const Device& gpu) {
    return gpu.telemetry.first.amd.metrics.links;
}

std::uint64_t hive_of(const Device& gpu) {
    if (gpu.amd.kfd_nodes.empty() || !gpu.amd.kfd_nodes.front().hive_id.known()) return 0;
    return *gpu.amd.kfd_nodes.front().hive_id;
}

/// Other GPUs of the same board on this machine: what they show is what this one could show.
Gpus siblings(const Snapshot& snapshot, const Device& gpu) {
    Gpus others;
    for (const Device* other : usable_amd(snapshot)) {
        if (other != &gpu && other->board.known() && gpu.board.known() && other->board->key == gpu.board->key)
            others.push_back(other);
    }
    return others;
}

/// A link that is down, against the number of links that the board has.
void judge_down(const Snapshot& snapshot, const Device& gpu, Findings& findings) {
    const Fact<std::vector<unsigned>>& links = links_of(gpu).xgmi_link_up;
    if (!links.known() || down(*links) == 0 || up(*links) >= *gpu.board->links) return;
    const Gpus others = siblings(snapshot, gpu);
    // Another GPU with all links up proves what the numbers of this driver mean, and that they can be up.
    const bool proven = std::any_of(others.begin(), others.end(), [&](const Device* other) {
        const Fact<std::vector<unsigned>>& theirs = links_of(*other).xgmi_link_up;
        return theirs.known() && up(*theirs) >= *gpu.board->links;
    });
    findings.push_back(finding("amd.xgmi.down", proven ? Verdict::fail : Verdict::warn, gpu.bdf,
                               count_of(*gpu.board->links, "link") + " up",
                               std::to_string(up(*links)) + " up", links.source()));
}

/// Width and speed below those of a neighbour. Zero is no rate but "not trained" or "not told".
void judge_slow(const Snapshot& snapshot, const Device& gpu, Findings& findings) {
    const AmdLinkCounters& mine = links_of(gpu);
    if (!mine.xgmi_width.known() || !mine.xgmi_speed_gbps.known()) return;
    unsigned width = 0, speed = 0;
    for (const Device* other : siblings(snapshot, gpu)) {
        const AmdLinkCounters& theirs = links_of(*other);
        if (theirs.xgmi_width.known()) width = std::max(width, *theirs.xgmi_width);
        if (theirs.xgmi_speed_gbps.known()) speed = std::max(speed, *theirs.xgmi_speed_gbps);
    }
    const bool narrow = *mine.xgmi_width != 0 && *mine.xgmi_width < width;
    const bool slow = *mine.xgmi_speed_gbps != 0 && *mine.xgmi_speed_gbps < speed;
    if (!narrow && !slow) return;
    const auto text = [](unsigned lanes, unsigned gbps) {
        return "x" + std::to_string(lanes) + " at " + std::to_string(gbps) + " Gb/s";
    };
    findings.push_back(finding("amd.xgmi.slow", Verdict::warn, gpu.bdf,
                               text(width, speed) + ", as its neighbours",
                               text(*mine.xgmi_width, *mine.xgmi_speed_gbps), mine.xgmi_width.source()));
}

/// KFD draws a link to every other member of the hive; where one is missing, peer copies go over PCIe.
void judge_topology(const Snapshot& snapshot, const Device& gpu, Findings& findings) {
    const std::uint64_t hive = hive_of(gpu);
    if (hive == 0 || gpu.amd.kfd_nodes.size() != 1 || partitions_of(gpu) != 1U) return;
    unsigned members = 0;
    for (const Device* other : usable_amd(snapshot)) {
        if (hive_of(*other) == hive && other->amd.kfd_nodes.size() == 1) ++members;
    }
    const Fact<unsigned>& drawn = gpu.amd.kfd_nodes.front().xgmi_links;
    if (!drawn.known() || members < 2 || *drawn >= members - 1) return;
    findings.push_back(finding("amd.xgmi.missing", Verdict::warn, gpu.bdf,
                               count_of(members - 1, "link") + " to the others of its hive",
                               count_of(*drawn, "link"), drawn.source()));
}

void judge_error(const Device& gpu, Findings& findings) {
    const Fact<unsigned>& error = gpu.telemetry.first.amd.xgmi_error;
    // gfx942 and gfx950 answer EINVAL rightly (ROCm/rocm-systems#11468): the RAS block xgmi_wafl counts
    // there.
    if (!counts_reset_on_read(gpu) || !error.known() || *error == 0) return;
    findings.push_back(
        finding("amd.xgmi.error", Verdict::warn, gpu.bdf, "0", std::to_string(*error), error.source()));
}

/// GPUs of a guest that were given as one hive and show several: a hive of 0 is what a single function has.
void judge_guest_hive(const Snapshot& snapshot, Findings& findings) {
    std::map<std::uint64_t, Gpus> hives;
    for (const Device* gpu : usable_amd(snapshot)) {
        if (gpu->board.known() && gpu->board->form == FormFactor::oam && in_guest(snapshot, *gpu) &&
            !gpu->amd.kfd_nodes.empty() && gpu->amd.kfd_nodes.front().hive_id.known())
            hives[hive_of(*gpu)].push_back(gpu);
    }
    if (hives.size() < 2) return;
    std::string observed;
    for (const auto& [hive, members] : hives) {
        observed += (observed.empty() ? "" : "; ") +
                    (hive == 0 ? std::string("none") : "hive " + std::to_string(hive)) + ": " +
                    addresses(members);
    }
    findings.push_back(finding("kfd.hive.split", Verdict::warn, {},
                               "one xGMI hive for the GPUs of this guest", observed,
                               "/sys/class/kfd/kfd/topology"));
}

void judge_gpu(const Snapshot& snapshot, const Device& gpu, Findings& findings) {
    const std::string expected = "every xGMI link up, and as fast as its neighbours'";
    const auto without = [&](const std::string& why) {
        findings.push_back(finding(kId, Verdict::not_applicable, gpu.bdf, expected, why, ""));
    };
    // In a guest the links read as down, all of them, and are not (amd-smi in a virtual function).
    if (in_guest(snapshot, gpu)) return without("a guest sees no state of the links");
    if (!gpu.board.known() || !gpu.board->links.known())
        return without("no number of links is known for this board");
    const std::size_t before = findings.size();
    judge_error(gpu, findings);
    judge_topology(snapshot, gpu, findings);
    // Cards with bridges have as many links as somebody plugged in.
    const bool wired = gpu.board->form == FormFactor::oam;
    if (wired) {
        judge_down(snapshot, gpu, findings);
        judge_slow(snapshot, gpu, findings);
    }
    if (findings.size() > before) return;
    const AmdLinkCounters& links = links_of(gpu);
    if (links.xgmi_link_up.known() && (up(*links.xgmi_link_up) > 0 || down(*links.xgmi_link_up) > 0)) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected,
                                   count_of(up(*links.xgmi_link_up), "link") + " up",
                                   links.xgmi_link_up.source()));
        return;
    }
    const Fact<std::string>& layout = gpu.telemetry.first.amd.metrics.layout;
    if (!layout.known()) {
        findings.push_back(amd_gap(kId, snapshot, gpu, expected, layout.missing()));
        return;
    }
    without("layout " + *layout + " of gpu_metrics has no state of the links");
}

void judge(const Snapshot& snapshot, Findings& findings) {
    judge_each_amd(snapshot, findings, judge_gpu);
    judge_guest_hive(snapshot, findings);
}

}  // namespace

const Check kAmdXgmiCheck{.id = kId,
                          .title = "xGMI links of AMD GPUs",
                          .impact = Impact::passive,
                          .required_from = Profile::boot,
                          .applies = without_usable_amd,
                          .judge = judge};

}  // namespace gpucheck
