// Finds AMD accelerators that run without ECC: single-bit errors then go uncorrected and uncounted, and
// training runs for days on wrong numbers.
#include <algorithm>
#include <array>

#include "checks/all.h"
#include "checks/amd_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "kfd.ecc";
// Linux include/uapi/linux/kfd_sysfs.h: HSA_CAP_MEM_EDCSUPPORTED and HSA_CAP_SRAM_EDCSUPPORTED.
constexpr std::uint64_t kMemoryEcc = 0x00100000;
constexpr std::uint64_t kSramEcc = 0x04000000;

/// Boards whose KFD nodes always carry both bits (public dumps of MI210, MI300X, MI308X and MI350X).
bool always_with_ecc(const Device& gpu) {
    static constexpr std::array<std::string_view, 3> kArchs{"gfx90a", "gfx942", "gfx950"};
    return gpu.board.known() && std::find(kArchs.begin(), kArchs.end(), gpu.board->arch) != kArchs.end();
}

void judge_gpu(const Snapshot& /*snapshot*/, const Device& gpu, Findings& findings) {
    const std::string expected = "ECC of memory and SRAM on";
    if (!always_with_ecc(gpu)) {
        findings.push_back(finding(kId, Verdict::not_applicable, gpu.bdf, expected,
                                   "no accelerator that always has ECC: " + board_name(gpu), ""));
        return;
    }
    if (gpu.amd.kfd_nodes.empty()) {
        findings.push_back(unread_fact(gpu.bdf, expected, Missing{"KFD topology", "no node of this GPU"}));
        return;
    }
    for (const KfdNode& node : gpu.amd.kfd_nodes) {
        if (!node.capability.known()) {
            findings.push_back(unread_fact(gpu.bdf, expected, node.capability.missing()));
            return;
        }
        const bool memory = (*node.capability & kMemoryEcc) != 0, sram = (*node.capability & kSramEcc) != 0;
        if (memory && sram) continue;
        findings.push_back(
            finding("kfd.ecc.off", Verdict::warn, gpu.bdf, expected,
                    std::string("memory ") + (memory ? "on" : "off") + ", SRAM " + (sram ? "on" : "off"),
                    node.capability.source()));
        return;
    }
    findings.push_back(
        finding(kId, Verdict::pass, gpu.bdf, expected, "on", gpu.amd.kfd_nodes.front().capability.source()));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    judge_each_amd(snapshot, findings, judge_gpu);
}

}  // namespace

const Check kKfdEccCheck{.id = kId,
                         .title = "ECC of AMD accelerators",
                         .impact = Impact::passive,
                         .required_from = Profile::boot,
                         .applies = without_usable_amd,
                         .judge = judge};

}  // namespace gpucheck
