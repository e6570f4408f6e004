// Finds Instinct GPUs in another partition mode than somebody paid for: one CPX partition has an eighth of
// the memory and of the compute units, and looks like a small healthy GPU.
#include <algorithm>
#include <cctype>

#include "checks/all.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "gpu.partition";

NotApplicable applies(const Snapshot& snapshot) {
    const bool any = std::any_of(snapshot.gpus.begin(), snapshot.gpus.end(),
                                 [](const Device& gpu) { return gpu.vendor == Vendor::amd; });
    return any ? std::nullopt : NotApplicable("no AMD GPU found");
}

std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

/// A mode that says something: secondary partitions and guests print "N/A" (ROCm/amdsmi#100).
bool has_mode(const Fact<std::string>& mode) {
    return mode.known() && !mode->empty() && upper(*mode) != "N/A";
}
bool silent_mode(const Fact<std::string>& mode) {
    return mode.absent() || (mode.known() && !has_mode(mode));
}

/// Logical GPUs that a compute mode makes of one GPU; nullopt when the mode or the board's XCD count is not
/// known.
std::optional<std::size_t> partitions_of(const Device& gpu) {
    if (!has_mode(gpu.amd.compute_partition)) return std::nullopt;
    // A virtual function in CPX may own one partition of eight (GIM): its nodes are not the GPU's.
    if (gpu.board.known() && gpu.board->virtual_function) return std::nullopt;
    const std::string mode = upper(*gpu.amd.compute_partition);
    if (mode == "SPX") return 1;
    if (mode == "DPX") return 2;
    if (mode == "TPX") return 3;
    if (mode == "QPX") return 4;
    if (mode == "CPX" && gpu.board.known() && gpu.board->partitions_max.known())
        return *gpu.board->partitions_max;
    return std::nullopt;
}

std::string modes_text(const Device& gpu) {
    const auto text = [](const Fact<std::string>& mode) { return has_mode(mode) ? *mode : std::string("?"); };
    return text(gpu.amd.compute_partition) + "/" + text(gpu.amd.memory_partition);
}

/// One expectation against one mode; nullopt when nobody expects anything or it is met.
std::optional<Finding> against(const Device& gpu, const Fact<std::string>& expected,
                               const Fact<std::string>& mode) {
    if (!expected.known()) return std::nullopt;
    if (!has_mode(mode)) {
        return finding("partition.unread", Verdict::unknown, gpu.bdf, *expected,
                       mode.known() ? "N/A" : mode.why(), mode.source());
    }
    if (upper(*expected) == upper(*mode)) return std::nullopt;
    Finding result = finding("partition.wrong", Verdict::fail, gpu.bdf,
                             *expected + " (" + expected.source() + ")", *mode, mode.source());
    // The mode of a virtual function is set on its host (GIM); a guest cannot change it.
    if (gpu.board.known() && gpu.board->virtual_function) result.scope = Scope::host;
    return result;
}

Finding judge_gpu(const Snapshot& snapshot, const Device& gpu) {
    const AmdGpu& amd = gpu.amd;
    if (auto wrong = against(gpu, snapshot.expected.compute_partition, amd.compute_partition))
        return std::move(*wrong);
    if (auto wrong = against(gpu, snapshot.expected.memory_partition, amd.memory_partition))
        return std::move(*wrong);
    const std::string& source = amd.compute_partition.source();
    if (silent_mode(amd.compute_partition)) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "a partition mode",
                       "the driver shows none: no such board, a virtual function or an old driver", source);
    }
    if (!amd.compute_partition.known()) {
        return finding("partition.unread", Verdict::unknown, gpu.bdf, "a readable partition mode",
                       amd.compute_partition.why(), source);
    }
    const bool asked =
        snapshot.expected.compute_partition.known() || snapshot.expected.memory_partition.known();
    return finding(kId, Verdict::pass, gpu.bdf, asked ? "as expected" : "one mode on every GPU",
                   modes_text(gpu), source);
}

/// Different modes on one machine, when nobody said which is right.
void judge_mixture(const Snapshot& snapshot, Findings& findings) {
    if (snapshot.expected.compute_partition.known()) return;
    std::vector<std::string> modes;
    std::string source;
    for (const Device& gpu : snapshot.gpus) {
        if (gpu.vendor != Vendor::amd || !has_mode(gpu.amd.compute_partition)) continue;
        const std::string mode = modes_text(gpu);
        if (std::find(modes.begin(), modes.end(), mode) == modes.end()) modes.push_back(mode);
        source = gpu.amd.compute_partition.source();
    }
    if (modes.size() < 2) return;
    std::string observed;
    for (const std::string& mode : modes) observed += (observed.empty() ? "" : ", ") + mode;
    findings.push_back(
        finding("partition.mixed", Verdict::warn, {}, "one mode on every GPU", observed, source));
}

/// Logical nodes against the modes. Kernels with 64 DRM minors show 63 of 64 because the BMC has one
/// (ROCm/amdsmi#99).
void judge_nodes(const Snapshot& snapshot, Findings& findings) {
    if (!snapshot.host.kfd.gpu_nodes.known() || !snapshot.host.kfd.unreadable.empty()) return;
    std::size_t expected = 0;
    std::size_t seen = 0;
    for (const Device& gpu : snapshot.gpus) {
        const auto partitions = partitions_of(gpu);
        if (gpu.vendor != Vendor::amd || !partitions || gpu.amd.kfd_nodes.empty())
            continue;  // none at all: kfd's matter
        expected += *partitions;
        seen += std::min(gpu.amd.kfd_nodes.size(), *partitions);
    }
    if (seen >= expected) return;
    findings.push_back(finding(
        "partition.nodes.short", Verdict::warn, {}, std::to_string(expected) + " logical GPUs",
        std::to_string(seen) + " of " + std::to_string(expected), snapshot.host.kfd.gpu_nodes.source()));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device& gpu : snapshot.gpus) {
        if (gpu.vendor == Vendor::amd) findings.push_back(judge_gpu(snapshot, gpu));
    }
    judge_mixture(snapshot, findings);
    judge_nodes(snapshot, findings);
}

}  // namespace

const Check kPartitionCheck{.id = kId,
                            .title = "Partition mode of AMD GPUs",
                            .impact = Impact::passive,
                            .required_from = Profile::quick,
                            .applies = applies,
                            .judge = judge};

}  // namespace gpucheck
