// Finds NVLinks that are up and lose packets: every retry stalls a collective of all GPUs, and links that go
// on to fail begin this way.
#include <algorithm>
#include <array>
#include <string>

#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.nvlink.counters";
// DCGM's limits: any replay or recovery, 100 CRC errors a second, an effective bit error rate of 1e-12.
constexpr double kCrcPerSecond = 100;
constexpr double kMostErrorsPerBit = 1e-12;

struct Counter {
    Fact<std::uint64_t> NvLink::*fact;
    std::string_view name;
    std::string_view code;
    Verdict verdict;
};
// In NVLink 2 to 4 the first two, in NVLink 5 the others. Each is an event that a good link does not have.
constexpr std::array kCounters{
    Counter{&NvLink::replays, "replays", "nvidia.nvlink.errors", Verdict::warn},
    Counter{&NvLink::recoveries, "recoveries", "nvidia.nvlink.errors", Verdict::warn},
    Counter{&NvLink::recoveries_ok, "recoveries", "nvidia.nvlink.errors", Verdict::warn},
    Counter{&NvLink::recoveries_failed, "failed recoveries", "nvidia.nvlink.recovery_failed", Verdict::fail},
    Counter{&NvLink::malformed_packets, "malformed packets", "nvidia.nvlink.errors", Verdict::warn},
    Counter{&NvLink::buffer_overruns, "buffer overruns", "nvidia.nvlink.errors", Verdict::warn},
    Counter{&NvLink::receive_errors, "receive errors", "nvidia.nvlink.errors", Verdict::warn},
    Counter{&NvLink::integrity_errors, "integrity errors", "nvidia.nvlink.errors", Verdict::warn},
};

const NvLink* find_link(const Fact<std::vector<NvLink>>& links, unsigned number) {
    if (!links.known()) return nullptr;
    const auto found =
        std::find_if(links->begin(), links->end(), [&](const NvLink& link) { return link.link == number; });
    return found != links->end() ? &*found : nullptr;
}

/// Growth in this run. A total of 0 since the driver was loaded needs no second reading.
Fact<std::uint64_t> grown(const NvLink& first, const NvLink* last, Fact<std::uint64_t> NvLink::*fact) {
    if ((first.*fact).is(0U) && (last == nullptr || (last->*fact).is(0U))) return first.*fact;
    return growth(first.*fact, last != nullptr ? last->*fact : Fact<std::uint64_t>());
}

struct Judged {
    bool answered = false;  ///< some counter of some link
    Missing unread;         ///< the first reason why one was not; empty when all were
    std::size_t complaints = 0;
};

std::string link_text(const NvLink& link) {
    return "link " + std::to_string(link.link) + ": ";
}

void judge_link(const Device& gpu, const NvLink& first, const NvLink* last, Judged& judged,
                Findings& findings) {
    const std::size_t before = findings.size();
    const auto note = [&](const Fact<std::uint64_t>& fact) {
        if (fact.known())
            judged.answered = true;
        else if (!not_offered(fact.missing()) && judged.unread.why.empty())
            judged.unread = fact.missing();
    };
    for (const Counter& counter : kCounters) {
        const Fact<std::uint64_t> events = grown(first, last, counter.fact);
        note(events);
        if (!events.known() || *events == 0) continue;
        findings.push_back(finding(
            counter.code, counter.verdict, gpu.bdf, "none during the run",
            link_text(first) + std::to_string(*events) + " " + std::string(counter.name), events.source()));
    }
    const Fact<std::uint64_t> crc = grown(first, last, &NvLink::crc_errors);
    note(crc);
    const Fact<double> seconds = seconds_between(gpu);
    if (crc.known() && seconds.known() && static_cast<double>(*crc) / *seconds >= kCrcPerSecond) {
        findings.push_back(finding("nvidia.nvlink.crc", Verdict::fail, gpu.bdf,
                                   "fewer than 100 CRC errors a second",
                                   link_text(first) + std::to_string(*crc) + " in " +
                                       std::to_string(static_cast<unsigned>(*seconds)) + " s",
                                   crc.source()));
    }
    const Fact<double>& ber =
        last != nullptr ? newer(first.effective_ber, last->effective_ber) : first.effective_ber;
    if (ber.known() && *ber > kMostErrorsPerBit) {
        findings.push_back(finding("nvidia.nvlink.ber", Verdict::fail, gpu.bdf,
                                   "an effective bit error rate of at most 1e-12",
                                   link_text(first) + "above it", ber.source()));
    }
    judged.complaints += findings.size() - before;
}

void judge_gpu(const Device& gpu, Findings& findings) {
    const Fact<std::vector<NvLink>>&first = gpu.telemetry.first.nvidia.nvlinks,
          &last = gpu.telemetry.last.nvidia.nvlinks;
    const std::string expected = "links that lose nothing";
    if (!first.known()) {
        findings.push_back(missing_fact(kId, gpu.bdf, expected, first.missing()));
        return;
    }
    Judged judged;
    bool any_up = false;
    for (const NvLink& link : *first) {
        if (!link.active.is(true)) continue;
        any_up = true;
        const NvLink* again = find_link(last, link.link);
        if (again != nullptr && again->active.is(false)) {
            findings.push_back(finding("nvidia.nvlink.dropped", Verdict::fail, gpu.bdf, "links that stay up",
                                       link_text(link) + "up, then down", again->active.source()));
            ++judged.complaints;
        }
        judge_link(gpu, link, again, judged, findings);
    }
    if (!any_up) {
        findings.push_back(
            finding(kId, Verdict::not_applicable, gpu.bdf, "", "no link is up", first.source()));
    } else if (!judged.unread.why.empty()) {
        findings.push_back(unread_fact(gpu.bdf, expected, judged.unread));
    } else if (judged.complaints == 0) {
        findings.push_back(finding(kId, judged.answered ? Verdict::pass : Verdict::not_applicable, gpu.bdf,
                                   expected, judged.answered ? "none lost" : "no counter offered",
                                   first.source()));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : answering_nvidia(snapshot, "error counters of the NVLinks", findings)) {
        judge_gpu(*gpu, findings);
    }
}

}  // namespace

const Check kNvidiaNvlinkErrorsCheck{.id = kId,
                                     .title = "NVLink errors",
                                     .impact = Impact::passive,
                                     .required_from = Profile::boot,
                                     .applies = without_usable_nvidia,
                                     .judge = judge};

}  // namespace gpucheck
