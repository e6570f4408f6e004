// Finds AMD GPUs whose PCIe link works only by repeating itself: packets are sent again and again, copies
// slow down, and the link is one step from being lost.
#include <array>

#include "checks/all.h"
#include "checks/amd_facts.h"
#include "checks/pcie_budget.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "amd.pcie";
// ROCm/cvs fails a node above 100 of these in a lifetime; a lifetime is history here, so it warns.
constexpr std::uint64_t kHistory = 100;

using Counter = Fact<std::uint64_t> AmdLinkCounters::*;
struct Named {
    Counter counter;
    std::string_view name;
    bool replays;  ///< an error in a packet, which the budget is for; else the link was trained again
};
constexpr std::array<Named, 6> kCounters{
    {{&AmdLinkCounters::pcie_replays, "replays", true},
     {&AmdLinkCounters::pcie_naks_sent, "NAKs sent", true},
     {&AmdLinkCounters::pcie_naks_received, "NAKs received", true},
     {&AmdLinkCounters::pcie_replay_rollovers, "replay rollovers", false},
     {&AmdLinkCounters::pcie_l0_to_recovery, "recoveries", false},
     {&AmdLinkCounters::pcie_other_end_recovery, "recoveries of the other end", false}}};

/// What the link is made for: the board's figures, as an idle link shows less.
std::optional<std::uint64_t> budget(const Device& gpu) {
    const Fact<double> seconds = seconds_between(gpu);
    if (!seconds.known()) return std::nullopt;
    LinkSpeed speed = LinkSpeed::gen5;
    unsigned width = 16;
    if (gpu.board.known() && gpu.board->pcie_speed.known()) speed = *gpu.board->pcie_speed;
    if (gpu.board.known() && gpu.board->pcie_width.known()) width = *gpu.board->pcie_width;
    return replay_budget(speed, width, *seconds);
}

void add(std::string& text, std::string_view name, std::uint64_t number) {
    text += (text.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(number);
}

void judge_history(const Device& gpu, const AmdLinkCounters& links, Findings& findings) {
    std::string many, all, source;
    for (const Named& named : kCounters) {
        const Fact<std::uint64_t>& total = links.*named.counter;
        if (!total.known()) continue;
        add(all, named.name, *total);
        source = total.source();
        if (*total > kHistory) add(many, named.name, *total);
    }
    const std::string expected =
        "at most " + std::to_string(kHistory) + " of each kind since the driver started";
    if (!many.empty()) {
        findings.push_back(finding("amd.pcie.history", Verdict::warn, gpu.bdf, expected, many, source));
    } else {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected, all, source));
    }
}

void judge_growth(const Device& gpu, std::uint64_t allowed, Findings& findings) {
    const AmdLinkCounters &first = gpu.telemetry.first.amd.metrics.links,
                          &last = gpu.telemetry.last.amd.metrics.links;
    std::string errors, trained, all, source;
    for (const Named& named : kCounters) {
        const Fact<std::uint64_t> grown = growth(first.*named.counter, last.*named.counter);
        if (!grown.known()) continue;
        source = grown.source();
        add(all, named.name, *grown);
        if (named.replays && *grown > allowed) add(errors, named.name, *grown);
        // Changing speed between idle and load goes through recovery too (35 idle devices made 1,415 changes
        // in two minutes, rtx6kpro#88), so that only many say something. A rollover is four replays in vain.
        const std::uint64_t few = named.counter == &AmdLinkCounters::pcie_replay_rollovers ? 0 : kHistory;
        if (!named.replays && *grown > few) add(trained, named.name, *grown);
    }
    const std::string seconds =
        std::to_string(static_cast<unsigned long>(*seconds_between(gpu) + 0.5)) + " s";
    if (!errors.empty()) {
        findings.push_back(finding("amd.pcie.replays", Verdict::warn, gpu.bdf,
                                   "at most " + std::to_string(allowed) + " in " + seconds, errors, source));
    }
    if (!trained.empty()) {
        findings.push_back(
            finding("amd.pcie.recovery", Verdict::warn, gpu.bdf,
                    "no rollover, at most " + std::to_string(kHistory) + " recoveries in " + seconds, trained,
                    source));
    }
    if (errors.empty() && trained.empty()) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf,
                                   "at most " + std::to_string(allowed) + " replays in " + seconds, all,
                                   source));
    }
}

void judge_gpu(const Snapshot& snapshot, const Device& gpu, Findings& findings) {
    const AmdLinkCounters &first = gpu.telemetry.first.amd.metrics.links,
                          &last = gpu.telemetry.last.amd.metrics.links;
    const std::string expected = "few PCIe replays and recoveries";
    bool read = false, again = false;
    for (const Named& named : kCounters) {
        read = read || (first.*named.counter).known();
        again = again || ((first.*named.counter).known() && (last.*named.counter).known());
    }
    if (!read) {
        const Fact<std::string>& layout = gpu.telemetry.first.amd.metrics.layout;
        if (layout.known()) {
            findings.push_back(finding(kId, Verdict::not_applicable, gpu.bdf, expected,
                                       "layout " + *layout + " of gpu_metrics shows no PCIe counters here",
                                       layout.source()));
        } else {
            findings.push_back(amd_gap(kId, snapshot, gpu, expected, layout.missing()));
        }
        return;
    }
    // A second reading that failed is not the same as none.
    const Fact<std::string>& layout_again = gpu.telemetry.last.amd.metrics.layout;
    if (!again && read_twice(gpu) && !layout_again.known()) {
        findings.push_back(amd_gap(kId, snapshot, gpu, expected, layout_again.missing()));
        return;
    }
    if (const std::optional<std::uint64_t> allowed = again ? budget(gpu) : std::nullopt) {
        judge_growth(gpu, *allowed, findings);
    } else {
        judge_history(gpu, first, findings);
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    judge_each_amd(snapshot, findings, judge_gpu);
}

}  // namespace

const Check kAmdPcieCheck{.id = kId,
                          .title = "PCIe error counters of AMD GPUs",
                          .impact = Impact::passive,
                          .required_from = Profile::boot,
                          .applies = without_usable_amd,
                          .judge = judge};

}  // namespace gpucheck
