// Finds GPUs of another kind than the one that was ordered, and GPUs of which nothing can be expected because
// their ids are in no table.
#include <algorithm>
#include <map>

#include "checks/all.h"
#include "checks/gpus.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "gpu.board";

std::string source_of(const Device& gpu) {
    return gpu.pci.device.source();
}

// With as many GPUs of the promised board as were promised, the others are extras (a display adapter, say),
// not wrong ones.
bool promise_is_kept(const Snapshot& snapshot, const Gpus& gpus) {
    const Fact<unsigned>& count = snapshot.expected.gpu_count;
    const Fact<std::string>& board = snapshot.expected.board;
    if (!count.known() || !board.known()) return false;
    const auto right = std::count_if(gpus.begin(), gpus.end(), [&](const Device* gpu) {
        return gpu->board.known() && gpu->board->key == board.value();
    });
    return static_cast<std::size_t>(right) >= count.value();
}

Finding judge_gpu(const Snapshot& snapshot, const Device& gpu, bool kept) {
    const Fact<std::string>& promised = snapshot.expected.board;
    const std::string expected = promised.known() ? promised.value() + " (" + promised.source() + ")"
                                                  : "a board with a row in gpus.json";
    const bool right = gpu.board.known() && promised.known() && gpu.board->key == promised.value();
    if (kept && !right) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, expected,
                       board_name(gpu) + ": beyond the promised GPUs, which are all there", source_of(gpu));
    }
    if (!gpu.board.known()) {
        return finding("gpu.board.unknown", Verdict::unknown, gpu.bdf, expected,
                       pci_ids(gpu.pci) + ": " + gpu.board.why(), source_of(gpu));
    }
    const std::string observed = gpu.board->key + ": " + gpu.board->name;
    if (promised.known() && !right) {
        return finding("gpu.board.wrong", Verdict::fail, gpu.bdf, expected, observed, source_of(gpu));
    }
    return finding(kId, Verdict::pass, gpu.bdf, expected, observed, source_of(gpu));
}

// Different boards on one node: a virtual function and its physical one are the same board.
void judge_mix(const Gpus& gpus, Findings& findings) {
    std::map<std::string, Gpus> kinds;
    for (const Device* gpu : gpus) {
        if (gpu->board.known()) kinds[gpu->board->key].push_back(gpu);
    }
    if (kinds.size() < 2) return;
    std::string observed;
    for (const auto& [key, having] : kinds)
        observed += (observed.empty() ? "" : "; ") + key + ": " + addresses(having);
    findings.push_back(finding("gpu.board.mixed", Verdict::warn, {},
                               "one kind of board, as none was promised", observed,
                               "/sys/bus/pci/devices/*/device"));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Gpus gpus = own_gpus(snapshot);
    const bool kept = promise_is_kept(snapshot, gpus);
    for (const Device* gpu : gpus) findings.push_back(judge_gpu(snapshot, *gpu, kept));
    if (!snapshot.expected.board.known()) judge_mix(gpus, findings);
}

}  // namespace

const Check kBoardCheck{.id = kId,
                        .title = "Kind of GPU",
                        .impact = Impact::passive,
                        .required_from = Profile::boot,
                        .applies = without_gpus,
                        .judge = judge};

}  // namespace gpucheck
