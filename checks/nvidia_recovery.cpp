// Finds GPUs whose own driver asks for a reset, a reboot or more: they go on answering monitoring while every
// new job on them fails.
#include <algorithm>
#include <array>

#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.recovery";
constexpr std::string_view kImex = "nvidia-imex.service";

struct Wish {
    std::string_view action, code;
};
// nvml.h, nvmlDeviceGpuRecoveryAction_t; DCGM's software test fails anything but "none".
constexpr std::array kWishes{
    Wish{"reset", "nvidia.recovery.reset"},
    Wish{"reboot", "nvidia.recovery.reboot"},
    Wish{"drain_p2p", "nvidia.recovery.drain_p2p"},
    Wish{"drain_and_reset", "nvidia.recovery.drain_and_reset"},
    Wish{"recover_imex", "nvidia.recovery.imex"},
};

Finding judge_gpu(const Host& host, const Device& gpu) {
    const Fact<std::string>& action = newest(gpu, &NvidiaTelemetry::state, &NvState::recovery_action);
    const std::string expected = "no recovery action";
    if (!action.known()) return missing_fact(kId, gpu.bdf, expected, action.missing());
    if (*action == "none") return finding(kId, Verdict::pass, gpu.bdf, expected, "none", action.source());
    const auto wish = std::find_if(kWishes.begin(), kWishes.end(),
                                   [&](const Wish& known) { return known.action == *action; });
    if (wish == kWishes.end()) {
        return unread_fact(gpu.bdf, expected, Missing{action.source(), "not a known action: " + *action});
    }
    std::string observed = *action;
    if (*action == "recover_imex") observed += "; " + unit_text(kImex, unit_state(host, kImex));
    return finding(wish->code, Verdict::fail, gpu.bdf, expected, observed, action.source());
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : answering_nvidia(snapshot, "the driver's recovery action", findings)) {
        findings.push_back(judge_gpu(snapshot.host, *gpu));
    }
}

}  // namespace

const Check kNvidiaRecoveryCheck{.id = kId,
                                 .title = "Recovery that the NVIDIA driver asks for",
                                 .impact = Impact::passive,
                                 .required_from = Profile::boot,
                                 .applies = without_usable_nvidia,
                                 .judge = judge};

}  // namespace gpucheck
