// Finds GPUs with less memory than their board has: a memory stack that did not train, or a smaller board
// under the same name.
#include <limits>

#include "checks/all.h"
#include "checks/capacity.h"
#include "checks/gpus.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "gpu.memory";
// A virtual function shows 196048 MiB where the physical one shows 196592 (alpha-miner#4), and retired pages
// cost little; a missing HBM stack costs 12 % or more.
constexpr double kFloor = 0.95;
constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

std::string gib(std::uint64_t bytes) {
    const auto tenths = static_cast<std::uint64_t>(static_cast<double>(bytes) / kGiB * 10.0 + 0.5);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

struct Memory {
    Fact<std::uint64_t> bytes;
    std::uint64_t expected = 0;  // of what `bytes` counts
};

// sysfs repeats the whole card's memory for each partition, so one value of it is taken and never a sum;
// KFD's banks belong to their partition and add up (ROCm/ROCm#4750).
Memory memory_of(const Device& gpu, std::uint64_t whole) {
    if (gpu.amd.vram_total_bytes.known()) return {gpu.amd.vram_total_bytes, whole};
    std::uint64_t sum = 0;
    for (const KfdNode& node : gpu.amd.kfd_nodes) {
        if (!node.vram_bytes.known()) return {node.vram_bytes, whole};
        if (node.vram_bytes.value() > std::numeric_limits<std::uint64_t>::max() - sum) {
            return {Missing{node.vram_bytes.source(), "malformed: memory banks add up to too much"}, whole};
        }
        sum += node.vram_bytes.value();
    }
    const auto share = share_of(gpu, whole);
    if (!share) return {gpu.amd.vram_total_bytes, whole};
    return {Fact<std::uint64_t>(sum, "/sys/class/kfd/kfd/topology/nodes/*/mem_banks"), *share};
}

Finding judge_gpu(const Snapshot& snapshot, const Device& gpu) {
    const auto say = [&](std::string_view code, Verdict verdict, std::string expected, std::string observed,
                         std::string source) {
        return finding(code, verdict, gpu.bdf, std::move(expected), std::move(observed), std::move(source));
    };
    if (!gpu.board.known() || !gpu.board->memory_bytes.known()) {
        return say(kId, Verdict::not_applicable, "", "no figure for this board", "gpus.json");
    }
    Memory memory = memory_of(gpu, gpu.board->memory_bytes.value());
    memory.expected /= slice_of(gpu);  // gpu.units warns of the slice
    const std::string expected = "about " + gib(memory.expected) + " (" + gpu.board->name + ")";
    if (!memory.bytes.known()) {
        return say("gpu.memory.unread", Verdict::unknown, expected, memory.bytes.why(),
                   memory.bytes.source());
    }
    const std::uint64_t bytes = memory.bytes.value();
    if (static_cast<double>(bytes) >= kFloor * static_cast<double>(memory.expected)) {
        return say(kId, Verdict::pass, expected, gib(bytes), memory.bytes.source());
    }
    if (!gpu.amd.vram_total_bytes.known() && !snapshot.host.kfd.unreadable.empty()) {
        return say("gpu.memory.unread", Verdict::unknown, expected,
                   gib(bytes) + "; other KFD nodes may hold the rest", memory.bytes.source());
    }
    return say("gpu.memory.short", Verdict::fail, expected, gib(bytes), memory.bytes.source());
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : driven_gpus(snapshot, Vendor::amd))
        findings.push_back(judge_gpu(snapshot, *gpu));
}

NotApplicable applies(const Snapshot& snapshot) {
    if (NotApplicable none = without_gpus(snapshot)) return none;
    if (without_driven_amd(snapshot))
        return "no GPU is bound to amdgpu; NVIDIA's memory size is not in files";
    return std::nullopt;
}

}  // namespace

const Check kMemoryCheck{.id = kId,
                         .title = "Memory size",
                         .impact = Impact::passive,
                         .required_from = Profile::boot,
                         .applies = applies,
                         .judge = judge};

}  // namespace gpucheck
