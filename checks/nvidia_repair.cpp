// Finds memory that the maker's own repair gave up on, and repairs of channels and processor clusters that
// wait for a reset.
#include <string>

#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.repair";

void judge_gpu(const Device& gpu, Findings& findings) {
    const auto& unrepairable = newest(gpu, &NvidiaTelemetry::repair, &NvRepair::memory_unrepairable);
    const auto& channel = newest(gpu, &NvidiaTelemetry::repair, &NvRepair::channel_repair_pending);
    const auto& tpc = newest(gpu, &NvidiaTelemetry::repair, &NvRepair::tpc_repair_pending);
    const std::size_t before = findings.size();
    if (unrepairable.is(true)) {
        findings.push_back(finding("nvidia.memory.unrepairable", Verdict::fail, gpu.bdf,
                                   "memory that is whole or repaired", "unrepairable",
                                   unrepairable.source()));
    }
    for (const auto& [fact, name] : {std::pair{&channel, "a memory channel"}, std::pair{&tpc, "a TPC"}}) {
        if (!fact->is(true)) continue;
        findings.push_back(finding("nvidia.repair.pending", Verdict::warn, gpu.bdf, "no repair pending",
                                   std::string("the repair of ") + name + " waits for a reset",
                                   fact->source()));
    }
    const std::string expected = "no unrepairable memory, no repair pending";
    for (const auto* fact : {&unrepairable, &channel, &tpc}) {
        // Hopper and later, newer drivers: what is not offered is no news beside what was answered.
        if (fact->known() || not_offered(fact->missing())) continue;
        findings.push_back(unread_fact(gpu.bdf, expected, fact->missing()));
        return;
    }
    if (findings.size() > before) return;
    const bool any = unrepairable.known() || channel.known() || tpc.known();
    findings.push_back(any ? finding(kId, Verdict::pass, gpu.bdf, expected, "none",
                                     (unrepairable.known() ? unrepairable
                                      : channel.known()    ? channel
                                                           : tpc)
                                         .source())
                           : missing_fact(kId, gpu.bdf, expected, unrepairable.missing()));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : answering_nvidia(snapshot, "the state of repairs", findings)) {
        judge_gpu(*gpu, findings);
    }
}

}  // namespace

const Check kNvidiaRepairCheck{.id = kId,
                               .title = "Repairs of memory and processors",
                               .impact = Impact::passive,
                               .required_from = Profile::boot,
                               .applies = without_usable_nvidia,
                               .judge = judge};

}  // namespace gpucheck
