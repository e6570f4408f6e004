// Finds AMD GPUs that run out of spare memory: pages that wait for a reset still serve wrong data, and a
// board at its limit of retired pages will be refused by its own driver at the next boot.
#include "checks/all.h"
#include "checks/amd_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "ras.pages";
// A limit seen in the field ("RAS: bad page threshold is 128"); below nine tenths of it no board is near its
// end, whatever its driver's limit.
constexpr std::uint64_t kSmallestKnownLimit = 128;
// Left to itself the driver allows one page for each 100 MB of memory (Linux amdgpu_ras.c,
// RAS_BAD_PAGE_COVER; the table in the EEPROM holds more than that).
constexpr std::uint64_t kBytesPerPage = 100ULL << 20;

/// The driver itself warns from nine tenths on (Linux amdgpu_ras_eeprom.c: "exceeds 90% of threshold").
bool near_limit(std::uint64_t pages, std::uint64_t limit) {
    return pages >= limit - limit / 10;
}

/// The limit that somebody set, or the one that the driver takes when nobody did.
Fact<std::uint64_t> limit_of(const Device& gpu) {
    const Fact<std::uint64_t>& set = gpu.telemetry.first.amd.bad_page_threshold;
    const Fact<std::uint64_t>& memory = gpu.amd.vram_total_bytes;
    if (!set.known() && set.why().starts_with("left to the driver") && memory.known() &&
        *memory >= kBytesPerPage)
        return Fact<std::uint64_t>(*memory / kBytesPerPage, set.source());
    return set;
}

void judge_retired(const Device& gpu, const BadPages& pages, const std::string& source, Findings& findings) {
    const Fact<std::uint64_t> limit = limit_of(gpu);
    const std::string observed = count_of(*pages.retired, "retired page");
    // 0: retirement was switched off by amdgpu.bad_page_threshold=0, and so was the limit.
    if (!limit.known() || *limit == 0) {
        if (!near_limit(*pages.retired, kSmallestKnownLimit)) return;
        findings.push_back(unread_fact(
            gpu.bdf, "the driver's limit of bad pages, as there are " + observed,
            limit.known() ? Missing{limit.source(), "0: the limit is switched off"} : limit.missing()));
        return;
    }
    const std::string expected = "fewer than " + std::to_string(*limit) + " retired pages";
    if (*pages.retired >= *limit) {
        findings.push_back(finding("ras.pages.limit", Verdict::fail, gpu.bdf, expected, observed, source));
    } else if (near_limit(*pages.retired, *limit)) {
        findings.push_back(
            finding("ras.pages.near_limit", Verdict::warn, gpu.bdf, expected, observed, source));
    }
}

void judge_gpu(const Snapshot& snapshot, const Device& gpu, Findings& findings) {
    const std::string expected = "no bad page pending or failed, few retired";
    const Fact<BadPages>& pages = gpu.telemetry.first.amd.bad_pages;
    if (!pages.known()) {
        findings.push_back(amd_gap(kId, snapshot, gpu, expected, pages.missing()));
        return;
    }
    const std::string& source = pages.source();
    for (const Fact<unsigned>* number : {&pages->retired, &pages->pending, &pages->failed}) {
        if (number->known()) continue;
        findings.push_back(amd_gap(kId, snapshot, gpu, expected, number->missing()));
        return;
    }
    const std::size_t before = findings.size();
    if (*pages->failed > 0) {
        findings.push_back(finding("ras.pages.failed", Verdict::fail, gpu.bdf,
                                   "every bad page taken out of use",
                                   count_of(*pages->failed, "page") + " could not be", source));
    }
    if (*pages->pending > 0) {
        findings.push_back(finding("ras.pages.pending", Verdict::warn, gpu.bdf, "no bad page still in use",
                                   count_of(*pages->pending, "page") + " waiting for a reset", source));
    }
    judge_retired(gpu, *pages, source, findings);
    if (findings.size() == before) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected,
                                   count_of(*pages->retired, "retired page"), source));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    judge_each_amd(snapshot, findings, judge_gpu);
}

}  // namespace

const Check kAmdBadPagesCheck{.id = kId,
                              .title = "Bad memory pages of AMD GPUs",
                              .impact = Impact::passive,
                              .required_from = Profile::boot,
                              .applies = without_usable_amd,
                              .judge = judge};

}  // namespace gpucheck
