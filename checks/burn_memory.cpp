// Finds memory that is slower than a healthy board's: a weak stack or a channel that was switched off costs
// every token, and every counter stays at zero.
#include "checks/all.h"
#include "checks/burn_floors.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "burn.memory";
constexpr RateWords kWords{kId, "burn.memory.slow"};

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : tested_gpus(snapshot)) {
        if (const auto why = untimed(*gpu)) {
            findings.push_back(not_by_time(kId, *gpu, *why));
            continue;
        }
        const std::string gap = rate_gap(*gpu, "memory_stream", true);
        const std::vector<MeasuredRate> rates = rates_of(*gpu, "memory_");
        if (!gap.empty()) findings.push_back(unmeasured(*gpu, gap));
        for (const MeasuredRate& rate : rates) findings.push_back(judge_rate(snapshot, *gpu, rate, kWords));
        if (gap.empty() && rates.empty())
            findings.push_back(not_by_time(kId, *gpu, "no sound result: see the check burn"));
    }
}

}  // namespace

const Check kBurnMemoryCheck{.id = kId,
                             .title = "Memory bandwidth",
                             .impact = Impact::passive,
                             .required_from = Profile::boot,
                             .applies = without_burn_in,
                             .judge = judge};

}  // namespace gpucheck
