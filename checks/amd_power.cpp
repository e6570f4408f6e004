// Finds AMD GPUs whose power limit was lowered: nothing is broken, every health tool is green, and the GPU
// computes more slowly than the one that is paid for.
#include <array>
#include <cstdio>

#include "checks/all.h"
#include "checks/amd_facts.h"
#include "checks/capacity.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "amd.power";
// Limits are set in whole watts and boards differ by some: a tenth below is somebody's decision.
constexpr double kTolerated = 0.9;
constexpr double kMicro = 1e6;

std::string watts(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.0f W", value);
    return text.data();
}

/// What the limit should be: the board's, else what the driver calls its default.
Fact<double> usual_w(const Device& gpu) {
    const Fact<std::uint64_t>& set = gpu.telemetry.first.amd.power_cap_default_uw;
    if (gpu.board.known() && gpu.board->power_w.known())
        return Fact<double>(*gpu.board->power_w, gpu.board->power_w.source());
    // MI350P: one id for a 450 W and a 600 W part, so that only the driver's default tells them apart.
    if (set.known() && *set > 0) return Fact<double>(static_cast<double>(*set) / kMicro, set.source());
    if (!set.known()) return set.missing();
    return Missing{set.source(), "0"};
}

void judge_gpu(const Snapshot& snapshot, const Device& gpu, Findings& findings) {
    const std::string expected = "the board's usual power limit";
    const auto without = [&](const std::string& why, const std::string& source) {
        findings.push_back(finding(kId, Verdict::not_applicable, gpu.bdf, expected, why, source));
    };
    const Fact<std::uint64_t>& cap = gpu.telemetry.first.amd.power_cap_uw;
    if (!cap.known()) {
        findings.push_back(amd_gap(kId, snapshot, gpu, expected, cap.missing()));
        return;
    }
    // The second die of an MI250X shows 0: power is counted for the package. All-ones is "not available" in a
    // guest (amd/MxGPU-Virtualization#26), and no board takes 100 kW.
    const double cap_w = static_cast<double>(*cap) / kMicro;
    if (*cap == 0 || cap_w > 100000) return without("no limit is shown", cap.source());
    if (slice_of(gpu) > 1) return without("a slice of a GPU shares the limit of the whole", cap.source());
    const Fact<double> usual = usual_w(gpu);
    if (!usual.known()) return without(watts(cap_w) + "; no figure to compare with", cap.source());
    if (cap_w >= *usual * kTolerated) {
        findings.push_back(
            finding(kId, Verdict::pass, gpu.bdf, "about " + watts(*usual), watts(cap_w), cap.source()));
        return;
    }
    Finding low =
        finding("amd.power.limit_low", Verdict::warn, gpu.bdf,
                "at least " + watts(*usual * kTolerated) + " (" + usual.source() + ": " + watts(*usual) + ")",
                watts(cap_w), cap.source());
    // A virtual function reads its limit and cannot set it (ROCm/ROCm#5231).
    low.scope = in_guest(snapshot, gpu) ? Scope::host : Scope::guest;
    findings.push_back(std::move(low));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    judge_each_amd(snapshot, findings, judge_gpu);
}

}  // namespace

const Check kAmdPowerCheck{.id = kId,
                           .title = "Power limit of AMD GPUs",
                           .impact = Impact::passive,
                           .required_from = Profile::boot,
                           .applies = without_usable_amd,
                           .judge = judge};

}  // namespace gpucheck
