// Tells whether a GPU's link runs at its generation, without ever calling an idle link slow: idle links rest
// at Gen1 (nvtop#6), so only "already fast" or "measured under load" is proof.
#include <algorithm>

#include "checks/all.h"
#include "checks/burn_facts.h"
#include "checks/model/wiring.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "pcie.generation";

NotApplicable applies(const Snapshot& snapshot) {
    return snapshot.gpus.empty() ? NotApplicable("no GPU found") : std::nullopt;
}

/// A slot below the board's generation is reported by pcie.path; here the link can only be as fast as its
/// slowest port.
LinkSpeed reachable(const Snapshot& snapshot, const Device& gpu, LinkSpeed wanted) {
    if (!snapshot.host.bare_metal() || gpu.pci.path.empty()) return wanted;
    const PciPort& nearest = gpu.pci.path.front();  // the other end of the GPU's own link
    const Fact<LinkSpeed>& speed = nearest.link.max_speed;
    if (nearest.emulated() || !speed.known() || *speed == LinkSpeed::unknown) return wanted;
    return std::min(wanted, *speed);
}

// Half a second of copying: a link that is slower only between two of them shows its speed by then.
constexpr std::uint64_t kCertain = 10;

/// By what the link did while something was copied over it.
Finding judge_under_load(const Snapshot& snapshot, const Device& gpu, const LinkUnderLoad& link,
                         const WantedSpeed& wanted, const std::string& expected) {
    const std::string observed = "Gen" + std::to_string(link.generation) + " at best during copies";
    if (link.generation >= generation(reachable(snapshot, gpu, wanted.speed)))
        return finding(kId, Verdict::pass, gpu.bdf, expected, observed, link.source);
    // A guest may sit in a slot that its provider wired slower for every instance of the type, and a link
    // that is fast now has only been slow for a while: neither is a failure.
    const Fact<LinkSpeed>& now = gpu.pci.link.current_speed;
    const bool slow_now = now.known() && *now != LinkSpeed::unknown && generation(*now) <= link.generation;
    const bool certain =
        slow_now && link.samples >= kCertain && (wanted.promised || snapshot.host.bare_metal());
    Finding result = finding("pcie.generation.slow", certain ? Verdict::fail : Verdict::warn, gpu.bdf,
                             expected, observed, link.source);
    result.scope = Scope::host;
    return result;
}

Finding judge_gpu(const Snapshot& snapshot, const Device& gpu) {
    const Fact<LinkSpeed>& speed = gpu.pci.link.current_speed;
    if (on_superchip(gpu) || is_virtual_link(gpu.pci.link)) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "a PCIe link to the host",
                       "a coherent or virtual port", speed.source());
    }
    if (speed.absent() && !snapshot.host.bare_metal()) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "a PCI Express link",
                       "the virtual machine shows the function without one", speed.source());
    }
    const std::optional<LinkUnderLoad> loaded = link_under_load(gpu);
    if (!loaded && (asleep(gpu.pci) || !speed.known() || *speed == LinkSpeed::unknown)) {
        return finding("pcie.link.unread", Verdict::unknown, gpu.bdf, "a readable link speed",
                       asleep(gpu.pci) ? "runtime suspended"
                       : speed.known() ? "Unknown"
                                       : speed.why(),
                       speed.source());
    }
    const std::optional<WantedSpeed> wanted = wanted_speed(snapshot, gpu);
    if (!wanted) {
        return finding("pcie.link.no_expectation", Verdict::unknown, gpu.bdf,
                       "a board row or --expect pcie_generation",
                       speed.known() ? std::string(text_of(*speed)) : speed.why(), speed.source());
    }
    const LinkSpeed limit = reachable(snapshot, gpu, wanted->speed);
    std::string expected = std::string(text_of(limit)) + " (" + wanted->source + ")";
    if (limit < wanted->speed) expected += ", all that the slot can do";
    if (loaded) return judge_under_load(snapshot, gpu, *loaded, *wanted, expected);
    if (*speed >= limit) {
        return finding(kId, Verdict::pass, gpu.bdf, expected, std::string(text_of(*speed)), speed.source());
    }
    return finding("pcie.generation.idle", Verdict::unknown, gpu.bdf, expected,
                   std::string(text_of(*speed)) + " while idle; judged under load", speed.source());
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device& gpu : snapshot.gpus) findings.push_back(judge_gpu(snapshot, gpu));
}

}  // namespace

const Check kPcieGenerationCheck{.id = kId,
                                 .title = "PCIe generation (judged under load)",
                                 .impact = Impact::passive,
                                 .required_from = Profile::boot,
                                 .applies = applies,
                                 .judge = judge};

}  // namespace gpucheck
