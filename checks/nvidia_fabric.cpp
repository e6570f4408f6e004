// Finds GPUs that never joined the NVSwitch fabric: every CUDA program gets error 802 while nvidia-smi looks
// healthy; and fabrics whose manager has died, which go on until the first error or restart.
#include "checks/nvidia_fabric.h"

#include <string>

#include "checks/all.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.fabric";

const Fact<std::string>& state_of(const Device& gpu) {
    return newest(gpu, &NvidiaTelemetry::fabric, &NvFabric::state);
}

/// The manager is needed here and does not run.
bool manager_missing(UnitState manager) {
    return manager == UnitState::stopped || manager == UnitState::not_installed;
}

/// Registration has not ended. Who is to blame depends on who manages the fabric.
Finding judge_unfinished(const Host& host, const Device& gpu) {
    const Fact<std::string>& state = state_of(gpu);
    const UnitState manager = unit_state(host, kFabricManager);
    const std::string expected = "registration completed";
    if (owns_fabric(host, gpu) && manager_missing(manager)) {
        // A unit that is stopped may be on its way up; one that is not installed is not.
        if (manager == UnitState::stopped && fabric_may_come(host)) {
            return finding("nvidia.fabric.waiting", Verdict::unknown, gpu.bdf, expected,
                           *state + "; " + unit_text(kFabricManager, manager), state.source());
        }
        return finding("nvidia.fabric.no_manager", Verdict::fail, gpu.bdf, expected,
                       *state + "; " + unit_text(kFabricManager, manager), state.source());
    }
    if (fabric_may_come(host)) {
        return finding("nvidia.fabric.waiting", Verdict::unknown, gpu.bdf, expected, *state, state.source());
    }
    const bool guest = !host.bare_metal();
    // A guest with "not started" may have a GPU whose links its host switched off, which computes alone; "in
    // progress" for ever is a partition that was never activated (huggingface/huggingface_hub#4134).
    const Verdict verdict = guest && *state == "not_started" ? Verdict::warn : Verdict::fail;
    Finding stuck = finding("nvidia.fabric.stuck", verdict, gpu.bdf, expected,
                            *state + " " + std::to_string(static_cast<std::uint64_t>(*host.uptime_s)) +
                                " s after boot; " + unit_text(kFabricManager, manager),
                            state.source());
    stuck.scope = guest ? Scope::host : Scope::unknown;
    return stuck;
}

Finding judge_completed(const Device& gpu) {
    const Fact<std::string>& status = newest(gpu, &NvidiaTelemetry::fabric, &NvFabric::status);
    const std::string expected = "registration completed, status SUCCESS";
    if (!status.known()) return unread_fact(gpu.bdf, expected, status.missing());
    if (*status != "SUCCESS") {
        return finding("nvidia.fabric.error", Verdict::fail, gpu.bdf, expected, "completed with " + *status,
                       status.source());
    }
    return finding(kId, Verdict::pass, gpu.bdf, expected, "completed", state_of(gpu).source());
}

Finding judge_gpu(const Host& host, const Device& gpu) {
    const Fact<std::string>& state = state_of(gpu);
    const std::string expected = "registration with the fabric";
    if (!state.known()) return missing_fact(kId, gpu.bdf, expected, state.missing());
    if (*state == "not_supported") {
        return finding(kId, Verdict::not_applicable, gpu.bdf, expected, "not supported by this GPU",
                       state.source());
    }
    if (fabric_unfinished(gpu)) return judge_unfinished(host, gpu);
    if (*state == "completed") return judge_completed(gpu);
    return unread_fact(gpu.bdf, expected, Missing{state.source(), "not a known state: " + *state});
}

/// The state stays "completed" when the manager dies (2.5 weeks in NVIDIA/NVSentinel#883), and A100 has no
/// state at all: the unit is judged by itself. A manager that is not installed may live in a driver
/// container.
void judge_manager(const Host& host, const Gpus& gpus, Findings& findings) {
    bool owned = false, stateless = false, unfinished = false;
    for (const Device* gpu : gpus) {
        owned = owned || owns_fabric(host, *gpu);
        stateless = stateless || !state_of(*gpu).known() || state_of(*gpu).is("not_supported");
        unfinished = unfinished || fabric_unfinished(*gpu);
    }
    if (!owned || unfinished) return;  // said of each GPU
    const UnitState manager = unit_state(host, kFabricManager);
    const std::string expected = std::string(kFabricManager) + " runs";
    const std::string observed = unit_text(kFabricManager, manager);
    const std::string source = host.units.source().empty() ? "systemd units" : host.units.source();
    if (manager == UnitState::running) {
        findings.push_back(finding(kId, Verdict::pass, {}, expected, observed, source));
    } else if (manager == UnitState::stopped) {
        if (stateless && fabric_may_come(host)) {
            findings.push_back(
                finding("nvidia.fabric.waiting", Verdict::unknown, {}, expected, observed, source));
        } else if (stateless) {
            findings.push_back(
                finding("nvidia.fabric.no_manager", Verdict::fail, {}, expected, observed, source));
        } else {
            findings.push_back(
                finding("nvidia.fabric.manager_died", Verdict::warn, {}, expected, observed, source));
        }
    } else if (manager == UnitState::not_installed && stateless) {
        findings.push_back(
            finding("nvidia.fabric.no_manager", Verdict::warn, {}, expected, observed, source));
    } else if (manager == UnitState::unknown && stateless) {
        findings.push_back(
            unread_fact({}, expected, Missing{source, host.units.known() ? observed : host.units.why()}));
    }
}

NotApplicable applies(const Snapshot& snapshot) {
    if (NotApplicable none = without_usable_nvidia(snapshot)) return none;
    for (const Device* gpu : usable_nvidia(snapshot)) {
        const Fact<std::string>& state = state_of(*gpu);
        if (owns_fabric(snapshot.host, *gpu) || (state.known() && *state != "not_supported"))
            return std::nullopt;
        // A board that is not known, or whose place in a fabric is not known, is asked.
        if (!state.known() && !not_offered(state.missing()) &&
            (!gpu->board.known() || gpu->board->form != FormFactor::pcie))
            return std::nullopt;
    }
    return "no GPU here belongs to an NVSwitch fabric";
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Gpus answering = answering_nvidia(snapshot, "registration with the fabric", findings);
    for (const Device* gpu : answering) findings.push_back(judge_gpu(snapshot.host, *gpu));
    judge_manager(snapshot.host, answering, findings);
}

}  // namespace

bool fabric_unfinished(const Device& gpu) {
    const Fact<std::string>& state = state_of(gpu);
    return state.is("in_progress") || state.is("not_started");
}

bool fabric_may_come(const Host& host) {
    return !host.uptime_s.known() || !(*host.uptime_s >= kFabricDeadlineS);
}

bool owns_fabric(const Host& host, const Device& gpu) {
    constexpr unsigned kFirstWithHiddenSwitches = 100;  // Blackwell: the switches are behind a bridge NIC
    if (!host.bare_metal() || !gpu.board.known() || !gpu.board->needs_nvswitch) return false;
    return !host.nvswitches.empty() || compute_capability(gpu) >= kFirstWithHiddenSwitches;
}

const Check kNvidiaFabricCheck{.id = kId,
                               .title = "NVSwitch fabric",
                               .impact = Impact::passive,
                               .required_from = Profile::boot,
                               .applies = applies,
                               .judge = judge};

}  // namespace gpucheck
