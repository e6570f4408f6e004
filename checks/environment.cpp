// Finds environment variables that make healthy GPUs crash or crawl: a forgotten override, serialised
// launches, a profiler left on.
#include <algorithm>
#include <array>
#include <charconv>

#include "checks/all.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "env.settings";
constexpr std::string_view kOverride = "HSA_OVERRIDE_GFX_VERSION";

struct Switch {
    std::string_view name, code;
    std::optional<Vendor> vendor;  ///< nullopt: whatever the GPU
};
// *_LAUNCH_BLOCKING and AMD_SERIALIZE_*: NVIDIA/nccl#750 and others. The profiler and debugger variables are
// those that DCGM's software plugin warns of. The last two are advised in articles, and no released runtime
// reads them; the real name of the first is GPU_MAX_HW_QUEUES.
constexpr std::array kSwitches{
    Switch{"CUDA_LAUNCH_BLOCKING", "env.serialized", Vendor::nvidia},
    Switch{"HIP_LAUNCH_BLOCKING", "env.serialized", Vendor::amd},
    Switch{"AMD_SERIALIZE_KERNEL", "env.serialized", Vendor::amd},
    Switch{"AMD_SERIALIZE_COPY", "env.serialized", Vendor::amd},
    Switch{"NSIGHT_CUDA_DEBUGGER", "env.debug", Vendor::nvidia},
    Switch{"CUDA_INJECTION32_PATH", "env.debug", Vendor::nvidia},
    Switch{"CUDA_INJECTION64_PATH", "env.debug", Vendor::nvidia},
    Switch{"CUDA_AUTO_BOOST", "env.debug", Vendor::nvidia},
    Switch{"CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "env.debug", Vendor::nvidia},
    Switch{"CUDA_COREDUMP_FILE", "env.debug", Vendor::nvidia},
    Switch{"CUDA_DEVICE_WAITS_ON_EXCEPTION", "env.debug", Vendor::nvidia},
    Switch{"CUDA_PROFILE", "env.debug", Vendor::nvidia},
    Switch{"COMPUTE_PROFILE", "env.debug", Vendor::nvidia},
    Switch{"OPENCL_PROFILE", "env.debug", Vendor::nvidia},
    Switch{"HIP_DEVICE_MAX_HW_QUEUES", "env.no_effect", std::nullopt},
    Switch{"HSA_OVERRIDE_THERMAL_LIMIT", "env.no_effect", std::nullopt},
};

NotApplicable applies(const Snapshot& snapshot) {
    return snapshot.gpus.empty() ? NotApplicable("no GPU found") : std::nullopt;
}

bool has(const Snapshot& snapshot, Vendor vendor) {
    return std::any_of(snapshot.gpus.begin(), snapshot.gpus.end(),
                       [&](const Device& gpu) { return gpu.vendor == vendor; });
}

/// "9.4.2" as KFD writes it: 90402. The runtime refuses anything but three numbers within 63.255.255.
std::optional<std::uint64_t> gfx_version(std::string_view text) {
    constexpr std::array<unsigned, 3> kLimits{63, 255, 255};
    std::uint64_t version = 0;
    for (std::size_t part = 0; part < kLimits.size(); ++part) {
        const std::size_t dot = part + 1 < kLimits.size() ? text.find('.') : text.size();
        if (dot == std::string_view::npos || dot == 0) return std::nullopt;
        unsigned number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + dot, number);
        if (error != std::errc{} || end != text.data() + dot || number > kLimits[part]) return std::nullopt;
        version = version * 100 + number;
        text.remove_prefix(std::min(dot + 1, text.size()));
    }
    return version;
}

/// CDNA targets; a Radeon of the same family (Vega, Renoir) has another stepping.
bool is_instinct(std::uint64_t target) {
    return target == 90008 || target == 90010 || (target >= 90400 && target <= 90402) || target == 90500;
}

std::string target_text(std::uint64_t target) {
    return std::to_string(target / 10000) + "." + std::to_string(target / 100 % 100) + "." +
           std::to_string(target % 100);
}

Finding judge_override(const Snapshot& snapshot, const std::string& value) {
    const std::string observed = std::string(kOverride) + "=" + value;
    const auto wanted = gfx_version(value);
    const KfdNode* differs = nullptr;
    std::size_t compared = 0;
    for (const Device& gpu : snapshot.gpus) {
        for (const KfdNode& node : gpu.amd.kfd_nodes) {
            if (!node.gfx_target_version.known() || *node.gfx_target_version == 0) continue;
            ++compared;
            if (differs == nullptr && !(wanted && *wanted == *node.gfx_target_version)) differs = &node;
        }
    }
    if (!wanted) {  // the runtime then finds no GPU at all
        return finding("env.hsa_override", Verdict::fail, {}, "unset", observed + " (not three numbers)",
                       "environment");
    }
    if (compared == 0) {
        return finding("env.hsa_override.unread", Verdict::unknown, {},
                       "a KFD gfx_target_version to compare with", observed, "KFD topology");
    }
    if (differs == nullptr) {
        return finding("env.hsa_override.redundant", Verdict::warn, {}, "unset",
                       observed + ", what the GPUs are", "environment");
    }
    const std::uint64_t target = *differs->gfx_target_version;
    // Consumer cards without library support are often run under a neighbour's name on purpose.
    return finding("env.hsa_override", is_instinct(target) ? Verdict::fail : Verdict::warn, {},
                   "unset, or " + target_text(target) + " as KFD says", observed,
                   differs->gfx_target_version.source());
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const NamedText& variable : snapshot.host.process.env) {
        if (variable.text.empty()) continue;
        if (variable.name == kOverride && has(snapshot, Vendor::amd)) {
            findings.push_back(judge_override(snapshot, variable.text));
        }
        for (const Switch& known : kSwitches) {
            if (variable.name != known.name || variable.text == "0") continue;
            if (known.vendor && !has(snapshot, *known.vendor)) continue;
            findings.push_back(finding(known.code, Verdict::warn, {}, "unset",
                                       variable.name + "=" + variable.text, "environment"));
        }
    }
    if (findings.empty()) {
        findings.push_back(finding(kId, Verdict::pass, {}, "no override, debugger or serialised launches",
                                   "none set", "environment"));
    }
}

}  // namespace

const Check kEnvironmentCheck{.id = kId,
                              .title = "Environment variables that change GPU behaviour",
                              .impact = Impact::passive,
                              .required_from = Profile::quick,
                              .applies = applies,
                              .judge = judge};

}  // namespace gpucheck
