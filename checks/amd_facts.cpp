// Which absence of an amdgpu file is by design; see amd_facts.h.
#include "checks/amd_facts.h"

#include <algorithm>
#include <array>

namespace gpucheck {

Gpus usable_amd(const Snapshot& snapshot) {
    Gpus usable;
    for (const Device* gpu : driven_gpus(snapshot, Vendor::amd)) {
        // The graphics unit of a processor or a display adapter is not what somebody rents.
        if (computes(*gpu) && !left_outside(snapshot, *gpu)) usable.push_back(gpu);
    }
    return usable;
}

NotApplicable without_usable_amd(const Snapshot& snapshot) {
    if (NotApplicable none = without_driven_amd(snapshot)) return none;
    if (usable_amd(snapshot).empty()) return "no accelerator bound to amdgpu is meant for this process";
    return std::nullopt;
}

void judge_each_amd(const Snapshot& snapshot, Findings& findings, JudgeAmdGpu judge) {
    Findings single;
    for (const Device* gpu : usable_amd(snapshot)) judge(snapshot, *gpu, single);
    const auto same = [](const Finding& a, const Finding& b) {
        return a.code == b.code && a.expected == b.expected && a.observed == b.observed;
    };
    std::vector<bool> told(single.size(), false);
    for (std::size_t i = 0; i < single.size(); ++i) {
        if (told[i]) continue;
        Finding& finding = single[i];
        if (finding.code == "telemetry.unread") {
            std::uint64_t count = 1;
            for (std::size_t j = i + 1; j < single.size(); ++j) {
                if (!same(finding, single[j])) continue;
                told[j] = true;
                ++count;
            }
            if (count > 1) {
                finding.observed += " (" + count_of(count, "GPU") + ")";
                finding.subject = {};
                finding.count = count;
            }
        }
        findings.push_back(std::move(finding));
    }
}

bool in_guest(const Snapshot& snapshot, const Device& gpu) {
    return snapshot.host.virtual_machine() || (gpu.board.known() && gpu.board->virtual_function);
}

bool instinct(const Device& gpu) {
    if (!gpu.board.known()) return computes(gpu);
    static constexpr std::array<std::string_view, 4> kArchs{"gfx908", "gfx90a", "gfx94", "gfx95"};
    return std::any_of(kArchs.begin(), kArchs.end(),
                       [&](std::string_view arch) { return gpu.board->arch.starts_with(arch); });
}

bool counts_reset_on_read(const Device& gpu) {
    return gpu.board.known() && gpu.board->arch == "gfx90a";
}

bool not_reported(const Missing& missing) {
    static constexpr std::array<std::string_view, 6> kReasons{
        "EOPNOTSUPP", "ENODATA", "not available", "not in layout", "not reported", "N/A"};
    return not_offered(missing) ||
           std::any_of(kReasons.begin(), kReasons.end(),
                       [&](std::string_view reason) { return missing.why.starts_with(reason); });
}

Finding amd_gap(std::string_view id, const Snapshot& snapshot, const Device& gpu, std::string expected,
                const Missing& missing, bool on_instinct) {
    const auto without = [&](std::string why) {
        return finding(id, Verdict::not_applicable, gpu.bdf, std::move(expected), std::move(why),
                       missing.source);
    };
    if (not_reported(missing)) return without(missing.why);
    if (missing.why == "ENOENT") {
        if (in_guest(snapshot, gpu)) return without("a guest: the host keeps this file");
        if (!on_instinct || !instinct(gpu)) return without("the driver has no such file for this board");
    }
    return unread_fact(gpu.bdf, std::move(expected), missing);
}

}  // namespace gpucheck
