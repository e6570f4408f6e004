// Finds GPUs whose bad rows of memory wait for a reset to be replaced, could not be replaced, or are about to
// have no replacement left.
#include <string>

#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.remap";
// DCGM's memory-damage limit for rows remapped after uncorrectable errors.
constexpr std::uint64_t kMostRows = 512;
constexpr unsigned kFirstWithRows = 80;  // Ampere; before it pages are retired

/// Ampere and later have row remapping: NOT_SUPPORTED from a whole GPU of theirs hides its state.
Finding judge_missing(const Device& gpu, const std::string& expected, const Missing& missing) {
    if (not_offered(missing) && compute_capability(gpu) >= kFirstWithRows && !sliced(gpu) &&
        gpu.board->ecc.is(true) && gpu.board->form != FormFactor::pcie) {
        return unread_fact(gpu.bdf, expected,
                           Missing{missing.source, missing.why + ", on a board that has it"});
    }
    return missing_fact(kId, gpu.bdf, expected, missing);
}

bool judge_state(const Device& gpu, Findings& findings) {
    const Fact<bool>& failure = newest(gpu, &NvidiaTelemetry::repair, &NvRepair::row_remap_failure);
    const Fact<bool>& pending = newest(gpu, &NvidiaTelemetry::repair, &NvRepair::row_remap_pending);
    const Fact<std::uint64_t>& rows = newest(gpu, &NvidiaTelemetry::repair, &NvRepair::rows_uncorrectable);
    const std::string number =
        rows.known() ? std::to_string(*rows) + " rows remapped after uncorrectable errors" : "";
    const std::string and_number = number.empty() ? "" : "; " + number;
    const std::size_t before = findings.size();
    if (failure.is(true)) {
        findings.push_back(finding("nvidia.remap.failed", Verdict::fail, gpu.bdf, "no remapping failure",
                                   "a remapping failed" + and_number, failure.source()));
    }
    if (pending.is(true)) {
        findings.push_back(finding("nvidia.remap.pending", Verdict::warn, gpu.bdf, "no row waiting",
                                   "a row waits for a reset" + and_number, pending.source()));
    }
    if (rows.known() && *rows >= kMostRows) {
        findings.push_back(finding("nvidia.remap.exhausted", Verdict::fail, gpu.bdf, "fewer than 512 rows",
                                   number, rows.source()));
    }
    return findings.size() > before;
}

/// Banks by how much of their reserve is left: "low" and "none" mean that the next error there fails.
bool judge_reserve(const Device& gpu, Findings& findings) {
    const Fact<unsigned>& low = newest(gpu, &NvidiaTelemetry::repair, &NvRepair::banks_low);
    const Fact<unsigned>& none = newest(gpu, &NvidiaTelemetry::repair, &NvRepair::banks_none);
    const bool few = (low.known() && *low > 0) || (none.known() && *none > 0);
    if (!few) return false;
    std::string observed;
    if (none.known()) observed = std::to_string(*none) + " with none left";
    if (low.known()) observed += (observed.empty() ? "" : ", ") + std::to_string(*low) + " with little left";
    findings.push_back(finding("nvidia.remap.reserve", Verdict::warn, gpu.bdf,
                               "every bank has spare rows left", "banks: " + observed,
                               (none.known() ? none : low).source()));
    return true;
}

void judge_gpu(const Device& gpu, Findings& findings) {
    const bool state = judge_state(gpu, findings), reserve = judge_reserve(gpu, findings);
    const std::string expected = "no row of memory waiting, none failed";
    for (const auto fact : {&NvRepair::row_remap_failure, &NvRepair::row_remap_pending}) {
        const Fact<bool>& known = newest(gpu, &NvidiaTelemetry::repair, fact);
        if (!known.known()) {
            findings.push_back(judge_missing(gpu, expected, known.missing()));
            return;
        }
    }
    if (state || reserve) return;
    findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected, "none",
                               newest(gpu, &NvidiaTelemetry::repair, &NvRepair::row_remap_failure).source()));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : answering_nvidia(snapshot, "the state of row remapping", findings)) {
        judge_gpu(*gpu, findings);
    }
}

}  // namespace

const Check kNvidiaRowRemapCheck{.id = kId,
                                 .title = "Row remapping",
                                 .impact = Impact::passive,
                                 .required_from = Profile::boot,
                                 .applies = without_usable_nvidia,
                                 .judge = judge};

}  // namespace gpucheck
