// Finds matrix units that multiply correctly and too slowly: training takes as long as the slowest GPU, and
// no driver complains.
#include "checks/all.h"
#include "checks/burn_floors.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "burn.matrix";
constexpr RateWords kWords{kId, "burn.matrix.slow"};

bool is_matrix_rate(std::string_view metric) {
    return metric.ends_with("_tflops") || metric.ends_with("_tops");
}

/// Formats that were right and not timed: FP8 by FP16 instructions is no rate of FP8.
void tell_untimed(const Device& gpu, Findings& findings) {
    for (const ExperimentResult& result : *gpu.burn_in.results) {
        const bool multiplies = result.experiment == "matrix" || result.experiment == "gemm";
        if (!multiplies || !is_sound(result) || !result.quantities.empty()) continue;
        findings.push_back(
            finding(kId, Verdict::not_applicable, gpu.bdf, "a rate",
                    result.experiment + " " + result.variant + ": right, and no rate was taken",
                    result.ran.source()));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : tested_gpus(snapshot)) {
        if (const auto why = untimed(*gpu)) {
            findings.push_back(not_by_time(kId, *gpu, *why));
            continue;
        }
        const std::string gap = rate_gap(*gpu, "matrix", false);
        std::size_t judged = 0;
        if (!gap.empty()) findings.push_back(unmeasured(*gpu, gap));
        if (gap.empty()) tell_untimed(*gpu, findings);
        for (const MeasuredRate& rate : rates_of(*gpu)) {
            if (!is_matrix_rate(rate.metric)) continue;
            findings.push_back(judge_rate(snapshot, *gpu, rate, kWords));
            ++judged;
        }
        if (gap.empty() && judged == 0)
            findings.push_back(not_by_time(kId, *gpu, "no sound result: see the check burn"));
    }
}

}  // namespace

const Check kBurnMatrixCheck{.id = kId,
                             .title = "Matrix rate",
                             .impact = Impact::passive,
                             .required_from = Profile::boot,
                             .applies = without_burn_in,
                             .judge = judge};

}  // namespace gpucheck
