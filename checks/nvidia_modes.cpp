// Finds modes of a healthy GPU that keep programs off it or slow their start: a compute mode that forbids
// CUDA, no persistence, a graphical desktop on a machine for computing.
#include <string>

#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.modes";
constexpr std::string_view kDaemon = "nvidia-persistenced.service";

void judge_compute_mode(const Device& gpu, Findings& findings) {
    const Fact<std::string>& mode = newest(gpu, &NvidiaTelemetry::state, &NvState::compute_mode);
    const std::string expected = "compute mode default";
    if (!mode.known()) {
        findings.push_back(missing_fact(kId, gpu.bdf, expected, mode.missing()));
    } else if (*mode == "prohibited") {
        findings.push_back(finding("nvidia.compute_mode.prohibited", Verdict::fail, gpu.bdf, expected, *mode,
                                   mode.source()));
    } else if (*mode == "exclusive_process" || *mode == "exclusive_thread") {
        findings.push_back(
            finding("nvidia.compute_mode.exclusive", Verdict::warn, gpu.bdf, expected, *mode, mode.source()));
    } else if (*mode == "default") {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected, *mode, mode.source()));
    } else {
        findings.push_back(
            unread_fact(gpu.bdf, expected, Missing{mode.source(), "not a known mode: " + *mode}));
    }
}

/// Without persistence every first program waits for the GPU to start, and the volatile error counts begin at
/// 0 with each of them. A vGPU's state belongs to its host, and the daemon does the same as the mode.
void judge_persistence(const Host& host, const Device& gpu, Findings& findings) {
    if (sliced(gpu) && gpu.telemetry.first.nvidia.state.virtualization.is("vgpu")) return;
    const Fact<bool>& on = newest(gpu, &NvidiaTelemetry::state, &NvState::persistence_mode);
    const std::string expected = "persistence mode on";
    if (!on.known()) {
        if (!not_offered(on.missing())) findings.push_back(unread_fact(gpu.bdf, expected, on.missing()));
        return;
    }
    const UnitState daemon = unit_state(host, kDaemon);
    if (*on || daemon == UnitState::running) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected,
                                   *on ? "on" : unit_text(kDaemon, daemon), on.source()));
        return;
    }
    findings.push_back(
        finding("nvidia.persistence.off", Verdict::warn, gpu.bdf, expected, "off", on.source()));
}

void judge_graphics(const Device& gpu, Findings& findings) {
    const Fact<unsigned>& processes = newest(gpu, &NvidiaTelemetry::state, &NvState::graphics_processes);
    if (!processes.known() || *processes == 0) return;
    findings.push_back(finding("nvidia.graphics.running", Verdict::warn, gpu.bdf, "no graphics process",
                               std::to_string(*processes), processes.source()));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : answering_nvidia(snapshot, "persistence and compute mode", findings)) {
        judge_compute_mode(*gpu, findings);
        judge_persistence(snapshot.host, *gpu, findings);
        judge_graphics(*gpu, findings);
    }
}

}  // namespace

const Check kNvidiaModesCheck{.id = kId,
                              .title = "Persistence, compute mode",
                              .impact = Impact::passive,
                              .required_from = Profile::boot,
                              .applies = without_usable_nvidia,
                              .judge = judge};

}  // namespace gpucheck
