// Finds Grace superchips whose coherent link to the CPU is partly down: their PCI link is a placeholder, so
// nothing else shows that copies run at a fraction.
#include <string>

#include "checks/all.h"
#include "checks/model/wiring.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.c2c";

NotApplicable applies(const Snapshot& snapshot) {
    if (NotApplicable none = without_usable_nvidia(snapshot)) return none;
    for (const Device* gpu : usable_nvidia(snapshot)) {
        if (on_superchip(*gpu)) return std::nullopt;
    }
    return "no Grace superchip";
}

Finding judge_gpu(const Device& gpu) {
    const Fact<unsigned>&links =
              newer(gpu.telemetry.first.nvidia.c2c_links, gpu.telemetry.last.nvidia.c2c_links),
          &active =
              newer(gpu.telemetry.first.nvidia.c2c_links_active, gpu.telemetry.last.nvidia.c2c_links_active);
    const std::string expected = links.known() ? count_of(*links, "link") + " up" : "its links to the CPU up";
    if (!links.known()) return missing_fact(kId, gpu.bdf, expected, links.missing());
    if (!active.known()) return missing_fact(kId, gpu.bdf, expected, active.missing());
    const bool down = *active < *links;
    return finding(down ? "nvidia.c2c.down" : kId, down ? Verdict::fail : Verdict::pass, gpu.bdf, expected,
                   std::to_string(*active) + " up", active.source());
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : answering_nvidia(snapshot, "links to the CPU", findings)) {
        if (on_superchip(*gpu)) findings.push_back(judge_gpu(*gpu));
    }
}

}  // namespace

const Check kNvidiaC2cCheck{.id = kId,
                            .title = "Link to the CPU (C2C)",
                            .impact = Impact::passive,
                            .required_from = Profile::boot,
                            .applies = applies,
                            .judge = judge};

}  // namespace gpucheck
