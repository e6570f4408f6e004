// Finds GPUs whose memory window was never assigned: the driver then gives up with "BAR1 is 0M" or error -12
// and the machine is one GPU short (gpu-operator#492, ROCm/ROCm#6281).
#include <algorithm>

#include "checks/all.h"
#include "checks/model/wiring.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "pcie.bar";
// include/linux/ioport.h
constexpr std::uint64_t kMemoryFlag = 0x200;
constexpr std::uint64_t kUnsetFlag = 0x20000000;
// BARs 0 to 5 of a type 0 header; 6 is the ROM, whose "can't assign; bogus alignment" is harmless
// (ROCm/ROCm#4021), and those above belong to virtual functions.
constexpr unsigned kLastBar = 5;
// The smallest window to a GPU's memory on the boards we know is NVIDIA's 64 MiB BAR1; register windows are
// 32 MiB at most.
constexpr std::uint64_t kSmallestAperture = 64ULL << 20;

NotApplicable applies(const Snapshot& snapshot) {
    return snapshot.gpus.empty() ? NotApplicable("no GPU found") : std::nullopt;
}

std::string mib(std::uint64_t bytes) {
    return std::to_string(bytes >> 20) + " MiB";
}

Finding judge_gpu(const Device& gpu) {
    const Fact<std::vector<Bar>>& bars = gpu.pci.bars;
    const std::string expected = "every memory BAR assigned, one of 64 MiB or more";
    if (!bars.known())
        return finding("pcie.bar.unread", Verdict::unknown, gpu.bdf, expected, bars.why(), bars.source());
    std::uint64_t largest = 0;
    for (const Bar& bar : *bars) {
        if (bar.index > kLastBar || (bar.flags & kMemoryFlag) == 0) continue;
        if (bar.start == 0 || (bar.flags & kUnsetFlag) != 0) {
            return finding("pcie.bar.unassigned", Verdict::fail, gpu.bdf, expected,
                           "BAR " + std::to_string(bar.index) + " of " + mib(bar.size) + " has no address",
                           bars.source());
        }
        largest = std::max(largest, bar.size);
    }
    if (largest >= kSmallestAperture) {
        return finding(kId, Verdict::pass, gpu.bdf, expected, "largest " + mib(largest), bars.source());
    }
    if (on_superchip(gpu)) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, expected,
                       "memory is reached over the coherent link", bars.source());
    }
    // A BAR that the kernel failed to place is cleared, so it is not listed at all.
    return finding("pcie.bar.unassigned", Verdict::fail, gpu.bdf, expected,
                   largest == 0 ? "no memory BAR" : "largest " + mib(largest), bars.source());
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device& gpu : snapshot.gpus) findings.push_back(judge_gpu(gpu));
}

}  // namespace

const Check kPcieBarCheck{.id = kId,
                          .title = "PCI memory windows of each GPU",
                          .impact = Impact::passive,
                          .required_from = Profile::acceptance,
                          .applies = applies,
                          .judge = judge};

}  // namespace gpucheck
