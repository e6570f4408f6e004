// Finds memory that needs its ECC while it works: errors that come with load and are gone when somebody looks
// at an idle GPU.
#include "checks/all.h"
#include "checks/burn_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "burn.ecc";
// Storms of 4,600 to 17,700 corrected errors a second came under load on a GPU that counted none when idle
// (NVIDIA/NVSentinel#1748). A hundred is far below each of them and reaches the 20 million at which Azure's
// node checks warn within 2.3 days.
constexpr double kStormPerSecond = 100;

double rate_of(const LoadSamples& load) {
    const bool timed = load.seconds.known() && *load.seconds >= 1;
    return static_cast<double>(*load.ecc_corrected) / (timed ? *load.seconds : 1);
}

void judge_uncorrected(const Device& gpu, Findings& findings) {
    const Fact<std::uint64_t>& errors = gpu.burn_in.load.ecc_uncorrected;
    const std::string expected = "no uncorrected memory error under load";
    if (!errors.known()) {
        findings.push_back(unsampled(kId, gpu, expected, errors.missing()));
    } else if (*errors != 0) {
        findings.push_back(finding("burn.ecc.uncorrected", Verdict::fail, gpu.bdf, expected,
                                   count_of(*errors, "more error") + " than at the first sample",
                                   errors.source()));
    } else {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected, "none", errors.source()));
    }
}

void judge_corrected(const Device& gpu, Findings& findings) {
    const LoadSamples& load = gpu.burn_in.load;
    if (!load.ecc_corrected.known()) return;  // the same interface, which the other part spoke of
    // AMD counts corrected errors after the on-die correction of HBM: each is worth a look (its node scraper
    // and the check ras.errors say the same).
    const bool amd = gpu.vendor == Vendor::amd;
    const std::string expected =
        amd ? "no corrected memory error under load" : "fewer than 100 corrected memory errors a second";
    const std::string observed =
        std::to_string(*load.ecc_corrected) + " corrected, " + number_text(rate_of(load)) + " a second";
    const bool many = amd ? *load.ecc_corrected > 0 : rate_of(load) >= kStormPerSecond;
    findings.push_back(finding(many ? std::string_view("burn.ecc.corrected") : kId,
                               many ? Verdict::warn : Verdict::pass, gpu.bdf, expected, observed,
                               load.ecc_corrected.source()));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : tested_gpus(snapshot)) {
        judge_uncorrected(*gpu, findings);
        judge_corrected(*gpu, findings);
    }
}

}  // namespace

const Check kBurnEccCheck{.id = kId,
                          .title = "Memory errors under load",
                          .impact = Impact::passive,
                          .required_from = Profile::boot,
                          .applies = without_burn_in,
                          .judge = judge};

}  // namespace gpucheck
