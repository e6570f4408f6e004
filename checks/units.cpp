// Finds GPUs that show fewer compute units than their board has: a die that did not start, or a slice sold as
// a whole.
#include <string>

#include "checks/all.h"
#include "checks/capacity.h"
#include "checks/gpus.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "gpu.units";
constexpr const char* kSource = "/sys/class/kfd/kfd/topology/nodes/*/properties";

Finding judge_gpu(const Snapshot& snapshot, const Device& gpu) {
    const auto say = [&](std::string_view code, Verdict verdict, std::string expected, std::string observed) {
        return finding(code, verdict, gpu.bdf, std::move(expected), std::move(observed), kSource);
    };
    if (left_outside(snapshot, gpu))
        return say(kId, Verdict::not_applicable, "", "not passed into this container");
    if (!gpu.board.known()) return say(kId, Verdict::not_applicable, "", "no row for this board");
    if (!gpu.board->compute_units.known())
        return say(kId, Verdict::not_applicable, "", "no figure for this board");
    const std::uint64_t whole = gpu.board->compute_units.value();
    const std::string expected = count_of(whole, "compute unit") + " (" + gpu.board->name + ")";
    if (gpu.amd.kfd_nodes.empty())
        return say(kId, Verdict::not_applicable, expected, "no KFD node; see kfd.topology");
    const auto units = units_of(gpu.amd);
    const auto share = share_of(gpu, whole);
    if (!units)
        return say("gpu.units.unread", Verdict::unknown, expected, "simd_count or simd_per_cu is missing");
    std::string observed = std::to_string(*units) + " on " + count_of(gpu.amd.kfd_nodes.size(), "KFD node");
    if (*units >= whole || (share && *units >= *share)) return say(kId, Verdict::pass, expected, observed);
    if (const unsigned parts = slice_of(gpu); parts > 1) {
        return say("gpu.units.slice", Verdict::warn, expected,
                   observed + ": 1/" + std::to_string(parts) + " of the board");
    }
    // Nodes that could not be read may hold the rest; so may partitions of an unknown number.
    if (!share || !snapshot.host.kfd.unreadable.empty()) {
        return say("gpu.units.unread", Verdict::unknown, expected,
                   observed + "; other nodes may hold the rest");
    }
    return say("gpu.units.missing", Verdict::fail, expected, observed);
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : driven_gpus(snapshot, Vendor::amd))
        findings.push_back(judge_gpu(snapshot, *gpu));
}

NotApplicable applies(const Snapshot& snapshot) {
    if (NotApplicable none = without_gpus(snapshot)) return none;
    if (without_driven_amd(snapshot)) return "no GPU is bound to amdgpu; NVIDIA's units are not in files";
    return std::nullopt;
}

}  // namespace

const Check kUnitsCheck{.id = kId,
                        .title = "Compute units",
                        .impact = Impact::passive,
                        .required_from = Profile::boot,
                        .applies = applies,
                        .judge = judge};

}  // namespace gpucheck
