// Finds GPUs that the NVIDIA driver was told to leave out: bound, listed, and invisible to every program.
#include <algorithm>

#include "checks/all.h"
#include "checks/gpus.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.excluded";

// The module option of this machine names GPUs to leave out; NVreg_GpuBlacklist is its name in older drivers.
bool option_is_set(const Host& host) {
    return std::any_of(host.nvidia.params.begin(), host.nvidia.params.end(), [](const NamedText& param) {
        return (param.name == "ExcludedGpus" || param.name == "GpuBlacklist") && !param.text.empty() &&
               param.text != "\"\"";
    });
}

Finding judge_gpu(const Snapshot& snapshot, const Device& gpu) {
    const Fact<bool>& excluded = gpu.nvidia.excluded;
    if (left_outside(snapshot, gpu)) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "", "not passed into this container",
                       excluded.source());
    }
    if (!excluded.known()) {
        return finding("nvidia.excluded.unread", Verdict::unknown, gpu.bdf, "GPU Excluded: No",
                       excluded.why(), excluded.source());
    }
    if (!excluded.value()) {
        return finding(kId, Verdict::pass, gpu.bdf, "GPU Excluded: No", "GPU Excluded: No",
                       excluded.source());
    }
    Finding out = finding("nvidia.gpu.excluded", Verdict::fail, gpu.bdf, "GPU Excluded: No",
                          "GPU Excluded: Yes", excluded.source());
    if (option_is_set(snapshot.host)) out.scope = Scope::guest;
    return out;
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : driven_gpus(snapshot, Vendor::nvidia))
        findings.push_back(judge_gpu(snapshot, *gpu));
}

}  // namespace

const Check kExcludedCheck{.id = kId,
                           .title = "Excluded GPUs",
                           .impact = Impact::passive,
                           .required_from = Profile::acceptance,
                           .applies = without_driven_nvidia,
                           .judge = judge};

}  // namespace gpucheck
