// Finds Volta and Turing boards whose memory is wearing out page by page, and pages that stay in use although
// they are known to be bad.
#include <cstdint>
#include <string>

#include "checks/all.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvidia.pages";
// DCGM's software test, and NVIDIA's return policy for boards with page retirement ("Dynamic Page
// Retirement"): 64 pages can be retired.
constexpr std::uint64_t kMostPages = 63;

void judge_gpu(const Device& gpu, Findings& findings) {
    const auto& sbe = newest(gpu, &NvidiaTelemetry::repair, &NvRepair::retired_pages_sbe);
    const auto& dbe = newest(gpu, &NvidiaTelemetry::repair, &NvRepair::retired_pages_dbe);
    const auto& pending = newest(gpu, &NvidiaTelemetry::repair, &NvRepair::retired_pages_pending);
    const std::string expected = "fewer than 63 retired pages, none pending";
    const std::size_t before = findings.size();
    // A page that is pending is still handed out until the driver is loaded again (NVIDIA, Dynamic Page
    // Retirement); a pending row of Ampere and later is not.
    if (pending.is(true)) {
        findings.push_back(finding("nvidia.pages.pending", Verdict::fail, gpu.bdf, "no page pending",
                                   "a bad page is still in use", pending.source()));
    }
    std::uint64_t pages = 0;
    for (const auto* fact : {&sbe, &dbe}) {
        // Written so that an absurd count cannot wrap around.
        if (fact->known()) pages = **fact > UINT64_MAX - pages ? UINT64_MAX : pages + **fact;
    }
    const std::string& source = sbe.known() ? sbe.source() : dbe.source();
    if (pages > 0) {
        const bool many = pages >= kMostPages;
        findings.push_back(finding(many ? "nvidia.pages.exhausted" : "nvidia.pages.retired",
                                   many ? Verdict::fail : Verdict::warn, gpu.bdf, expected,
                                   std::to_string(pages) + " retired", source));
    }
    for (const Missing* missing :
         {sbe.known() ? nullptr : &sbe.missing(), dbe.known() ? nullptr : &dbe.missing(),
          pending.known() ? nullptr : &pending.missing()}) {
        if (missing == nullptr) continue;
        findings.push_back(missing_fact(kId, gpu.bdf, expected, *missing));
        return;
    }
    if (findings.size() == before) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected, "0 retired", source));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device* gpu : answering_nvidia(snapshot, "retired pages", findings)) {
        judge_gpu(*gpu, findings);
    }
}

}  // namespace

const Check kNvidiaRetiredPagesCheck{.id = kId,
                                     .title = "Retired pages",
                                     .impact = Impact::passive,
                                     .required_from = Profile::boot,
                                     .applies = without_usable_nvidia,
                                     .judge = judge};

}  // namespace gpucheck
