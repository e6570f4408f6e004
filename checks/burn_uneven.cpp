// Finds the one GPU of a machine that is slower than its neighbours: the whole job waits for it, and no floor
// is needed to see it.
#include <algorithm>
#include <array>
#include <cmath>

#include "checks/all.h"
#include "checks/burn_facts.h"
#include "checks/burn_node.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "burn.uneven";

/// How far below the median of the others is a warning, and how far a failure.
struct Bars {
    std::string_view prefix;
    double warns, fails;
};
// Memory of one kind moves at one speed; chips under a power limit differ by 8 % on average
// (arXiv:2208.11035), and gpu-fryer's bar for a node is 10 %. Copies from the host meet on shared links, so
// that there only half the rate of the others is a fault.
constexpr std::array kBars{Bars{"memory_", 0.07, 0.15}, Bars{"host_link_", 0.25, 0.5}, Bars{"", 0.10, 0.20}};

const Bars& bars_of(std::string_view metric) {
    return *std::find_if(kBars.begin(), kBars.end(),
                         [&](const Bars& bars) { return metric.starts_with(bars.prefix); });
}

Finding judge_one(const NodeRate& mine, const Standing& others) {
    const Quantity& quantity = *mine.rate.quantity;
    const Bars& bars = bars_of(mine.rate.metric);
    const std::string unit = " " + quantity.unit;
    const std::string expected = std::string(mine.rate.metric) + ": at least " +
                                 number_text((1 - bars.warns) * 100) + " % of " + number_text(others.median) +
                                 unit + ", the median of " + count_of(others.count, "other GPU");
    const std::string observed = number_text(quantity.median) + unit + " (" + number_text(quantity.min) +
                                 " to " + number_text(quantity.max) + "), " +
                                 number_text(quantity.median / others.median * 100) + " %";
    const std::string& source = mine.rate.result->ran.source();
    const bool low = quantity.median < others.median * (1 - bars.warns) &&
                     others.median - quantity.median > others.usual_distance;
    if (!low) return finding(kId, Verdict::pass, mine.gpu->bdf, expected, observed, source);
    const bool fails = quantity.samples >= kRepeated && quantity.max < others.median * (1 - bars.fails);
    return finding("burn.uneven.slow", fails ? Verdict::fail : Verdict::warn, mine.gpu->bdf, expected,
                   observed, source);
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const std::vector<NodeRate> rates = node_rates(snapshot);
    for (const Device* gpu : tested_gpus(snapshot)) {
        std::size_t compared = 0;
        for (const NodeRate& rate : rates) {
            if (rate.gpu != gpu || rate.rate.metric == "launch_us") continue;
            const auto others = standing(rate, rates);
            if (!others) continue;
            findings.push_back(judge_one(rate, *others));
            ++compared;
        }
        if (compared != 0) continue;
        const auto why = untimed(*gpu);
        findings.push_back(not_by_time(kId, *gpu, why ? *why : std::string(kFewOthers)));
    }
}

}  // namespace

const Check kBurnUnevenCheck{.id = kId,
                             .title = "GPUs against each other",
                             .impact = Impact::passive,
                             .required_from = Profile::boot,
                             .applies = without_burn_in,
                             .judge = judge};

}  // namespace gpucheck
