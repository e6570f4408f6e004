// Finds GPUs that compute without ECC although their board is sold with it: flipped bits then go into results
// uncounted, and every error counter says 0.
#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.ecc";

std::string on_off(bool on) {
    return on ? "on" : "off";
}

/// Off without a promise: a failure where the maker's row says that the board is shipped with it, unless the
/// GPU itself says that its default is off; else a warning where only the GPU says that its default is on.
Finding judge_off(const Device& gpu, const Fact<bool>& current) {
    const Fact<bool>& own_default = newest(gpu, &NvidiaTelemetry::ecc, &NvEcc::is_default);
    const bool row_says_on = gpu.board.known() && gpu.board->ecc.is(true);
    if (row_says_on && !own_default.is(false)) {
        return finding("nvidia.ecc.off", Verdict::fail, gpu.bdf, "on, as shipped (" + gpu.board->name + ")",
                       "off", current.source());
    }
    if (own_default.is(true)) {
        return finding("nvidia.ecc.off", Verdict::warn, gpu.bdf, "on, this GPU's default", "off",
                       current.source());
    }
    return finding(kId, Verdict::not_applicable, gpu.bdf, "", "off; nothing says that it should be on",
                   current.source());
}

Finding judge_current(const Fact<bool>& promised, const Device& gpu) {
    const Fact<bool>& current = newest(gpu, &NvidiaTelemetry::ecc, &NvEcc::current);
    const std::string expected =
        promised.known() ? on_off(*promised) + " (" + promised.source() + ")" : "ECC of the memory on";
    if (!current.known()) {
        const bool has_it = promised.is(true) || (gpu.board.known() && gpu.board->ecc.is(true));
        if (!not_offered(current.missing()) || !has_it || sliced(gpu)) {
            return missing_fact(kId, gpu.bdf, expected, current.missing());
        }
        return unread_fact(gpu.bdf, expected,
                           Missing{current.source(), current.why() + ", on a board that has ECC"});
    }
    if (promised.known() && *promised != *current) {
        return finding(*promised ? "nvidia.ecc.off" : "nvidia.ecc.on",
                       *promised ? Verdict::fail : Verdict::warn, gpu.bdf, expected, on_off(*current),
                       current.source());
    }
    if (!promised.known() && !*current) return judge_off(gpu, current);
    return finding(kId, Verdict::pass, gpu.bdf, expected, on_off(*current), current.source());
}

void judge_gpu(const Fact<bool>& promised, const Device& gpu, Findings& findings) {
    findings.push_back(judge_current(promised, gpu));
    const Fact<bool>& current = newest(gpu, &NvidiaTelemetry::ecc, &NvEcc::current);
    const Fact<bool>& pending = newest(gpu, &NvidiaTelemetry::ecc, &NvEcc::pending);
    if (!current.known() || !pending.known() || *current == *pending) return;
    findings.push_back(finding("nvidia.ecc.pending", Verdict::warn, gpu.bdf, "no change pending",
                               on_off(*current) + " now, " + on_off(*pending) + " after the next reset",
                               pending.source()));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : answering_nvidia(snapshot, "the ECC mode", findings)) {
        judge_gpu(snapshot.expected.ecc, *gpu, findings);
    }
}

}  // namespace

const Check kNvidiaEccCheck{.id = kId,
                            .title = "ECC mode",
                            .impact = Impact::passive,
                            .required_from = Profile::boot,
                            .applies = without_usable_nvidia,
                            .judge = judge};

}  // namespace gpucheck
