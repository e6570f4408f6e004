// Finds memory that loses data now: uncorrectable errors since the driver was loaded, and storms of corrected
// ones that come only under load and that precede the loss.
#include <string>

#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.ecc.errors";
// Azure node health checks warn above these counts.
constexpr std::uint64_t kManyDram = 20'000'000, kManySram = 10'000;
// Storms of 4,600 to 17,700 corrected errors a second were seen under load on a GPU that counted none when
// idle (NVIDIA/NVSentinel#1748). 100 a second is far below every storm on record and reaches the 20 million
// above within 2.3 days.
constexpr double kStormPerSecond = 100;

/// The larger of the two readings: a counter that was reset in between hides what it had shown.
const Fact<std::uint64_t>& count(const Device& gpu, Fact<std::uint64_t> NvEcc::*fact) {
    const Fact<std::uint64_t>& first = gpu.telemetry.first.nvidia.ecc.*fact;
    const Fact<std::uint64_t>& last = gpu.telemetry.last.nvidia.ecc.*fact;
    if (!last.known() || (first.known() && *first > *last)) return first;
    return last;
}

bool above(const Fact<std::uint64_t>& fact, std::uint64_t limit) {
    return fact.known() && *fact > limit;
}

/// Uncorrectable errors since the driver was loaded; the sum, or a part where only parts are offered.
void judge_uncorrectable(const Device& gpu, Findings& findings) {
    const std::string expected = "no uncorrectable error since the driver was loaded";
    const auto& total = count(gpu, &NvEcc::volatile_uncorrectable);
    const auto& dram = count(gpu, &NvEcc::dram_volatile_uncorrectable);
    const auto& sram = count(gpu, &NvEcc::sram_volatile_uncorrectable);
    if (above(total, 0) || above(dram, 0) || above(sram, 0)) {
        std::string observed = total.known() ? std::to_string(*total) : "some";
        if (dram.known()) observed += ", DRAM " + std::to_string(*dram);
        if (sram.known()) observed += ", SRAM " + std::to_string(*sram);
        const auto& proof = above(total, 0) ? total : above(dram, 0) ? dram : sram;
        findings.push_back(
            finding("nvidia.ecc.uncorrectable", Verdict::fail, gpu.bdf, expected, observed, proof.source()));
    } else if (total.known()) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected, "0", total.source()));
    } else {
        findings.push_back(missing_fact(kId, gpu.bdf, expected, total.missing()));
    }
}

/// The board's whole life: it may have been with other owners, and repaired since.
void judge_history(const Device& gpu, Findings& findings) {
    const auto& total = count(gpu, &NvEcc::aggregate_uncorrectable);
    const auto& sram = count(gpu, &NvEcc::sram_aggregate_uncorrectable);
    if (above(total, 0) || above(sram, 0)) {
        std::string observed = total.known() ? std::to_string(*total) + " in its life" : "some in its life";
        if (sram.known()) observed += ", SRAM " + std::to_string(*sram);
        findings.push_back(finding("nvidia.ecc.history", Verdict::warn, gpu.bdf, "no uncorrectable error",
                                   observed, above(total, 0) ? total.source() : sram.source()));
    }
    const Fact<bool>& exceeded = newest(gpu, &NvidiaTelemetry::ecc, &NvEcc::sram_threshold_exceeded);
    if (exceeded.is(true)) {
        findings.push_back(finding("nvidia.sram.threshold", Verdict::fail, gpu.bdf,
                                   "SRAM errors below the maker's threshold", "threshold exceeded",
                                   exceeded.source()));
    } else if (!exceeded.known() && !not_offered(exceeded.missing())) {
        findings.push_back(
            unread_fact(gpu.bdf, "SRAM errors below the maker's threshold", exceeded.missing()));
    }
}

void judge_corrected(const Device& gpu, Findings& findings) {
    const auto& dram = count(gpu, &NvEcc::dram_volatile_correctable);
    const auto& sram = count(gpu, &NvEcc::sram_volatile_correctable);
    if (above(dram, kManyDram) || above(sram, kManySram)) {
        const bool in_dram = above(dram, kManyDram);
        findings.push_back(finding(
            "nvidia.ecc.corrected", Verdict::warn, gpu.bdf, "at most 20000000 in DRAM, 10000 in SRAM",
            std::to_string(in_dram ? *dram : *sram) + (in_dram ? " corrected in DRAM" : " corrected in SRAM"),
            in_dram ? dram.source() : sram.source()));
    }
    const Fact<std::uint64_t> grown = growth(gpu, &NvidiaTelemetry::ecc, &NvEcc::volatile_correctable);
    const Fact<double> seconds = seconds_between(gpu);
    if (!grown.known() || !seconds.known()) return;
    const double rate = static_cast<double>(*grown) / *seconds;
    const std::string observed =
        std::to_string(*grown) + " corrected in " + std::to_string(static_cast<unsigned>(*seconds)) + " s";
    if (rate >= kStormPerSecond) {
        findings.push_back(finding("nvidia.ecc.storm", Verdict::warn, gpu.bdf,
                                   "fewer than 100 corrected errors a second", observed, grown.source()));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : answering_nvidia(snapshot, "ECC error counts", findings)) {
        judge_uncorrectable(*gpu, findings);
        judge_history(*gpu, findings);
        judge_corrected(*gpu, findings);
    }
}

}  // namespace

const Check kNvidiaEccErrorsCheck{.id = kId,
                                  .title = "ECC errors",
                                  .impact = Impact::passive,
                                  .required_from = Profile::boot,
                                  .applies = without_usable_nvidia,
                                  .judge = judge};

}  // namespace gpucheck
