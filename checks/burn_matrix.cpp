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

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : tested_gpus(snapshot)) {
        if (const auto why = untimed(*gpu)) {
            findings.push_back(not_by_time(kId, *gpu, *why));
            continue;
        }
        const std::string gap = rate_gap(*gpu, "matrix");
        std::size_t judged = 0;
        if (!gap.empty()) findings.push_back(unmeasured(*gpu, gap));
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
