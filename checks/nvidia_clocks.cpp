// Finds GPUs that somebody set to another clock than their neighbours, and GPUs that stay in a slow state
// while they work: a job runs at the pace of its slowest member.
#include <map>
#include <string>

#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.clocks";
constexpr unsigned kBusyPercent = 90;
constexpr unsigned kSlowState = 5;  // P0 to P2 are for work (nvml.h: P0 is maximum performance, P15 minimum)

struct Most {
    std::map<unsigned, unsigned> seen;  ///< clock -> GPUs
    unsigned commonest() const {
        unsigned best = 0, number = 0;
        for (const auto& [clock, gpus] : seen) {
            if (gpus >= number) best = clock, number = gpus;
        }
        return best;
    }
};
using Boards = std::map<std::string, Most>;

const Fact<unsigned>& application(const Device& gpu) {
    return newest(gpu, &NvidiaTelemetry::clocks, &NvClocks::sm_application_mhz);
}

/// Application clocks have other defaults than the maximum on many boards, so only a difference between GPUs
/// of one board shows that somebody set them.
bool judge_application(const Device& gpu, const Boards& boards, Findings& findings) {
    const auto board = boards.find(board_name(gpu));
    if (!application(gpu).known() || board == boards.end()) return false;
    const unsigned commonest = board->second.commonest();
    if (*application(gpu) >= commonest) return false;
    findings.push_back(
        finding("nvidia.clocks.odd", Verdict::warn, gpu.bdf,
                "an application clock of " + std::to_string(commonest) + " MHz, as its peers have",
                std::to_string(*application(gpu)) + " MHz", application(gpu).source()));
    return true;
}

bool slow_at_work(const NvidiaTelemetry& reading) {
    return reading.clocks.pstate.known() && *reading.clocks.pstate >= kSlowState &&
           reading.power.gpu_busy_percent.known() && *reading.power.gpu_busy_percent >= kBusyPercent;
}

/// Load is a mean over the last second and the state is a moment: both readings have to agree.
bool judge_state(const Device& gpu, Findings& findings) {
    const NvidiaTelemetry &first = gpu.telemetry.first.nvidia, &last = gpu.telemetry.last.nvidia;
    if (!read_twice(gpu) || !slow_at_work(first) || !slow_at_work(last)) return false;
    findings.push_back(finding("nvidia.clocks.stuck", Verdict::warn, gpu.bdf, "P0 to P2 while it works",
                               "P" + std::to_string(*last.clocks.pstate) + " at " +
                                   std::to_string(*last.power.gpu_busy_percent) + " % load",
                               last.clocks.pstate.source()));
    return true;
}

void judge_gpu(const Device& gpu, const Boards& boards, Findings& findings) {
    const bool odd = judge_application(gpu, boards, findings), stuck = judge_state(gpu, findings);
    if (odd || stuck) return;
    const auto& pstate = newest(gpu, &NvidiaTelemetry::clocks, &NvClocks::pstate);
    const std::string expected = "the clocks of its peers, and a fast state under load";
    if (!pstate.known()) {
        findings.push_back(missing_fact(kId, gpu.bdf, expected, pstate.missing()));
    } else {
        findings.push_back(
            finding(kId, Verdict::pass, gpu.bdf, expected, "P" + std::to_string(*pstate), pstate.source()));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Gpus gpus = answering_nvidia(snapshot, "clocks and performance state", findings);
    Boards boards;
    for (const Device* gpu : gpus) {
        if (application(*gpu).known()) ++boards[board_name(*gpu)].seen[*application(*gpu)];
    }
    for (const Device* gpu : gpus) judge_gpu(*gpu, boards, findings);
}

}  // namespace

const Check kNvidiaClocksCheck{.id = kId,
                               .title = "Clocks",
                               .impact = Impact::passive,
                               .required_from = Profile::boot,
                               .applies = without_usable_nvidia,
                               .judge = judge};

}  // namespace gpucheck
