// Finds a GPU that takes long to start a kernel: decoding tokens is thousands of short kernels, and a launch
// path that is twice as slow costs more there than slow memory.
#include "checks/all.h"
#include "checks/burn_node.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "burn.launch";
// What a launch takes depends on driver, processor and its clock, so no figure from elsewhere is a bar; twice
// the median of the neighbours is beyond any difference between sockets.
constexpr double kTwice = 2, kLeastUs = 5;

void judge(const Snapshot& snapshot, Findings& findings) {
    const std::vector<NodeRate> rates = node_rates(snapshot);
    for (const Device* gpu : tested_gpus(snapshot)) {
        bool compared = false;
        for (const NodeRate& rate : rates) {
            if (rate.gpu != gpu || rate.rate.metric != "launch_us") continue;
            const auto others = standing(rate, rates);
            if (!others) continue;
            compared = true;
            const double us = rate.rate.quantity->median, limit = others->median * kTwice;
            const bool slow = us > limit && us - others->median > kLeastUs;
            findings.push_back(finding(slow ? std::string_view("burn.launch.slow") : kId,
                                       slow ? Verdict::warn : Verdict::pass, gpu->bdf,
                                       "at most " + number_text(limit) + " us, twice the median of " +
                                           count_of(others->count, "other GPU"),
                                       number_text(us) + " us for an empty kernel and the wait for it",
                                       rate.rate.result->ran.source()));
        }
        if (compared) continue;
        const auto why = untimed(*gpu);
        findings.push_back(not_by_time(kId, *gpu, why ? *why : std::string(kFewOthers)));
    }
}

}  // namespace

const Check kBurnLaunchCheck{.id = kId,
                             .title = "Launch latency",
                             .impact = Impact::passive,
                             .required_from = Profile::acceptance,
                             .applies = without_burn_in,
                             .judge = judge};

}  // namespace gpucheck
