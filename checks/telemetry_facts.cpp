// Which absence is an answer, and how far a counter ran; see telemetry_facts.h.
#include "checks/telemetry_facts.h"

#include <array>
#include <cstdio>
#include <map>

namespace gpucheck {
namespace {

template <class T>
bool one_of(const T& text, std::initializer_list<std::string_view> beginnings) {
    for (const std::string_view beginning : beginnings) {
        if (text.starts_with(beginning)) return true;
    }
    return false;
}

}  // namespace

bool not_offered(const Missing& missing) {
    return one_of(missing.why, {"NOT_SUPPORTED", "VGPU_ECC_NOT_SUPPORTED", "FUNCTION_NOT_FOUND", "DEPRECATED",
                                "symbol absent"});
}

bool not_asked(const Missing& missing) {
    return one_of(missing.why, {"not looked at", "not captured"});
}

Finding unread_fact(Subject subject, std::string expected, const Missing& missing) {
    return finding("telemetry.unread", Verdict::unknown, std::move(subject), std::move(expected), missing.why,
                   missing.source);
}

Finding missing_fact(std::string_view id, Subject subject, std::string expected, const Missing& missing) {
    if (!not_offered(missing)) return unread_fact(std::move(subject), std::move(expected), missing);
    return finding(id, Verdict::not_applicable, std::move(subject), std::move(expected), missing.why,
                   missing.source);
}

bool read_twice(const Device& gpu) {
    return gpu.telemetry.first.at_s.known() && gpu.telemetry.last.at_s.known();
}

Fact<double> seconds_between(const Device& gpu) {
    const Fact<double>&first = gpu.telemetry.first.at_s, &last = gpu.telemetry.last.at_s;
    if (!first.known() || !last.known()) return Missing{"this run", "one reading only"};
    const double seconds = last.value() - first.value();
    // Written so that NaN fails too: a recorded machine can hold anything.
    if (!(seconds > 0.001)) return Missing{"this run", "no time between the two readings"};
    return Fact<double>(seconds, "this run");
}

Fact<std::uint64_t> growth(const Fact<std::uint64_t>& first, const Fact<std::uint64_t>& last) {
    if (!first.known()) return first.missing();
    if (!last.known()) {
        if (not_asked(last.missing())) return Missing{first.source(), "one reading only"};
        return last.missing();
    }
    const std::uint64_t grown = last.value() >= first.value() ? last.value() - first.value() : last.value();
    return Fact<std::uint64_t>(grown, last.source());
}

Fact<double> share_of_run(const Device& gpu, const Fact<std::uint64_t>& grown_ns) {
    const Fact<double> seconds = seconds_between(gpu);
    if (!grown_ns.known()) return grown_ns.missing();
    if (!seconds.known()) return seconds.missing();
    return Fact<double>(static_cast<double>(grown_ns.value()) / (seconds.value() * 1e9), grown_ns.source());
}

std::string percent_text(double share) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g %%", share * 100);
    return text.data();
}

Gpus usable_nvidia(const Snapshot& snapshot) {
    Gpus usable;
    for (const Device* gpu : driven_gpus(snapshot, Vendor::nvidia)) {
        if (!gpu->nvidia.excluded.is(true) && !left_outside(snapshot, *gpu)) usable.push_back(gpu);
    }
    return usable;
}

NotApplicable without_usable_nvidia(const Snapshot& snapshot) {
    if (NotApplicable none = without_driven_nvidia(snapshot)) return none;
    if (usable_nvidia(snapshot).empty()) return "no GPU bound to nvidia is meant for this process";
    return std::nullopt;
}

Gpus answering_nvidia(const Snapshot& snapshot, const std::string& expected, Findings& findings) {
    Gpus answering;
    std::map<std::string, Gpus> silent;  // reason -> those
    for (const Device* gpu : usable_nvidia(snapshot)) {
        const Fact<bool>& handle = gpu->telemetry.first.nvidia.identity.handle;
        if (handle.is(true)) {
            answering.push_back(gpu);
        } else {
            silent[handle.known() ? "no handle" : handle.why()].push_back(gpu);
        }
    }
    for (const auto& [why, gpus] : silent) {
        const std::string& source = gpus.front()->telemetry.first.nvidia.identity.handle.source();
        const Missing missing{source.empty() ? "NVML" : source, why};
        if (gpus.size() == 1) {
            findings.push_back(unread_fact(gpus.front()->bdf, expected, missing));
            continue;
        }
        Finding all = unread_fact({}, expected, missing);
        all.observed += " (" + addresses(gpus) + ")";
        all.count = gpus.size();
        findings.push_back(std::move(all));
    }
    return answering;
}

UnitState unit_state(const Host& host, std::string_view name) {
    if (!host.units.known() || host.in_container() || !host.container.known()) return UnitState::unknown;
    for (const ServiceUnit& unit : host.units.value()) {
        if (unit.name != name) continue;
        if (unit.processes.known() && unit.processes.value() > 0) return UnitState::running;
        if (unit.installed.is(false)) return UnitState::not_installed;
        if (unit.processes.known() || unit.processes.absent()) return UnitState::stopped;
        return UnitState::unknown;
    }
    return UnitState::unknown;
}

std::string unit_text(std::string_view name, UnitState state) {
    const std::string unit(name);
    switch (state) {
        case UnitState::not_installed:
            return unit + " is not installed";
        case UnitState::stopped:
            return unit + " is installed and does not run";
        case UnitState::running:
            return unit + " runs";
        case UnitState::unknown:
            break;
    }
    return unit + ": state not known";
}

bool sliced(const Device& gpu) {
    return !slice_text(gpu).empty();
}

std::string slice_text(const Device& gpu) {
    const NvState& state = gpu.telemetry.first.nvidia.state;
    if (state.virtualization.is("vgpu")) return "a vGPU";
    if (state.mig_current.is(true)) return "MIG is on";
    return {};
}

unsigned compute_capability(const Device& gpu) {
    if (!gpu.board.known() || !gpu.board->arch.starts_with("sm_")) return 0;
    unsigned capability = 0;
    for (const char c : std::string_view(gpu.board->arch).substr(3)) {
        if (c < '0' || c > '9' || capability > 1000) break;
        capability = capability * 10 + static_cast<unsigned>(c - '0');
    }
    return capability;
}

}  // namespace gpucheck
