// Finds GPUs that are held below the power their board is sold with: they are healthy, and slower than what
// is paid for.
#include <string>

#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.power";
// Below nine tenths of the default performance suffers visibly (lium-io/lium-io PR#1071 draws the same line).
constexpr std::uint64_t kTenths = 9;
constexpr std::uint64_t kMostMw = 10'000'000;  // 10 kW: beyond any board

bool plausible(const Fact<std::uint64_t>& mw) {
    return mw.known() && *mw > 0 && *mw <= kMostMw;
}

std::string watts(std::uint64_t mw) {
    return std::to_string(mw / 1000) + " W";
}

void judge_gpu(const Device& gpu, Findings& findings) {
    const auto& enforced = newest(gpu, &NvidiaTelemetry::power, &NvPower::limit_enforced_mw);
    const auto& normal = newest(gpu, &NvidiaTelemetry::power, &NvPower::limit_default_mw);
    const std::string expected = "the board's default power limit";
    const std::size_t before = findings.size();
    const bool row = gpu.board.known() && gpu.board->power_w.known();
    const std::uint64_t board_mw = row ? std::uint64_t{*gpu.board->power_w} * 1000 : 0;
    if (plausible(normal) && row && *normal * 10 < board_mw * kTenths) {
        findings.push_back(finding("nvidia.power.board", Verdict::warn, gpu.bdf,
                                   "a default limit of " + watts(board_mw) + " (" + gpu.board->name + ")",
                                   watts(*normal), normal.source()));
    }
    const std::uint64_t wanted_mw = plausible(normal) ? *normal : board_mw;
    if (plausible(enforced) && wanted_mw > 0 && *enforced * 10 < wanted_mw * kTenths) {
        findings.push_back(finding("nvidia.power.limited", Verdict::warn, gpu.bdf,
                                   "at least 90 % of " + watts(wanted_mw), watts(*enforced),
                                   enforced.source()));
    }
    if (findings.size() > before) return;
    if (!enforced.known()) {
        findings.push_back(missing_fact(kId, gpu.bdf, expected, enforced.missing()));
    } else if (!plausible(enforced)) {
        findings.push_back(unread_fact(gpu.bdf, expected,
                                       Missing{enforced.source(), "no power limit: " + watts(*enforced)}));
    } else if (wanted_mw == 0) {
        findings.push_back(finding(kId, Verdict::not_applicable, gpu.bdf, "",
                                   watts(*enforced) + "; no default is known", enforced.source()));
    } else {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, "at least 90 % of " + watts(wanted_mw),
                                   watts(*enforced), enforced.source()));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : answering_nvidia(snapshot, "power limits", findings)) {
        judge_gpu(*gpu, findings);
    }
}

}  // namespace

const Check kNvidiaPowerCheck{.id = kId,
                              .title = "Power limit",
                              .impact = Impact::passive,
                              .required_from = Profile::boot,
                              .applies = without_usable_nvidia,
                              .judge = judge};

}  // namespace gpucheck
