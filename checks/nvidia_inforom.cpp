// Finds boards whose InfoROM is corrupted: repairs of bad memory can no longer be written down, so the next
// error strikes again after every boot.
#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.inforom";

Finding judge_gpu(const Device& gpu) {
    const Fact<bool>& valid = newest(gpu, &NvidiaTelemetry::state, &NvState::inforom_valid);
    const std::string expected = "a valid InfoROM";
    const bool said_so = !valid.known() && valid.why().starts_with("CORRUPTED_INFOROM");
    if (valid.is(false) || said_so) {
        return finding("nvidia.inforom.corrupt", Verdict::fail, gpu.bdf, expected, "CORRUPTED_INFOROM",
                       valid.source());
    }
    if (!valid.known()) return missing_fact(kId, gpu.bdf, expected, valid.missing());
    return finding(kId, Verdict::pass, gpu.bdf, expected, "valid", valid.source());
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : answering_nvidia(snapshot, "a valid InfoROM", findings)) {
        findings.push_back(judge_gpu(*gpu));
    }
}

}  // namespace

const Check kNvidiaInforomCheck{.id = kId,
                                .title = "InfoROM",
                                .impact = Impact::passive,
                                .required_from = Profile::boot,
                                .applies = without_usable_nvidia,
                                .judge = judge};

}  // namespace gpucheck
