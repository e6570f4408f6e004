// Finds links that somebody pinned or switched off in config space: a GPU ran at Gen2 for hours with nothing
// in any log (rtx6kpro PR#88), and only LnkCtl2 tells.
#include <algorithm>

#include "checks/all.h"
#include "checks/model/wiring.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "pcie.pinned";

NotApplicable applies(const Snapshot& snapshot) {
    return snapshot.gpus.empty() ? NotApplicable("no GPU found") : std::nullopt;
}

/// The speed that is useful on this function's link: what it can do, but not more than the GPU can use.
LinkSpeed useful_speed(const Snapshot& snapshot, const Device& gpu, const PcieConfig& config) {
    LinkSpeed useful = config.cap_speed;
    if (const auto wanted = wanted_speed(snapshot, gpu)) useful = std::min(useful, wanted->speed);
    if (gpu.pci.config.known() && gpu.pci.config->cap_speed != LinkSpeed::unknown) {
        useful = std::min(useful, gpu.pci.config->cap_speed);
    }
    return useful;
}

/// What one function's registers say; nullopt when nothing holds the link down.
std::optional<Finding> judge_function(const Snapshot& snapshot, const Device& gpu, const Bdf& bdf,
                                      const Fact<PcieConfig>& fact) {
    const PcieConfig& config = *fact;
    if (config.link_disabled) {
        return finding("pcie.link.disabled", Verdict::fail, gpu.bdf, "LnkCtl: link enabled",
                       bdf.str() + ": link disable bit set", fact.source());
    }
    const LinkSpeed useful = useful_speed(snapshot, gpu, config);
    const bool low_target = config.target_speed != LinkSpeed::unknown && config.target_speed < useful;
    const bool slow_now = config.status_speed != LinkSpeed::unknown && config.status_speed < useful;
    if (!low_target && !(config.autonomous_speed_disabled && slow_now)) return std::nullopt;
    // Certain only when all three agree: a lower target, the bit that keeps it there, and a link that sits
    // there now.
    const bool held = low_target && config.autonomous_speed_disabled && slow_now &&
                      config.status_speed <= config.target_speed;
    const bool certain = held && snapshot.host.bare_metal();
    std::string observed = bdf.str() + ": target " + std::string(text_of(config.target_speed)) + ", now " +
                           std::string(text_of(config.status_speed));
    if (config.autonomous_speed_disabled) observed += ", autonomous speed changes off";
    return finding("pcie.link.pinned", certain ? Verdict::fail : Verdict::warn, gpu.bdf,
                   "LnkCtl2 target " + std::string(text_of(useful)), observed, fact.source());
}

Finding unread(const Device& gpu, const std::string& observed, const std::string& source) {
    return finding("pcie.config.unread", Verdict::unknown, gpu.bdf,
                   "the PCI Express capability in config space", observed, source);
}

Finding judge_gpu(const Snapshot& snapshot, const Device& gpu) {
    const Fact<PcieConfig>& own = gpu.pci.config;
    if (on_superchip(gpu)) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "a PCIe link to the host", "a coherent link",
                       own.source());
    }
    if (!snapshot.host.bare_metal() && own.known() && own->cap_speed == LinkSpeed::unknown &&
        own->cap_width == 0) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "link registers",
                       "the virtual machine shows the function without any", own.source());
    }
    if (asleep(gpu.pci)) return unread(gpu, "runtime suspended", gpu.pci.runtime_status.source());

    std::optional<Finding> unreadable;
    std::optional<Finding> suspicion;
    const auto visit = [&](const Bdf& bdf, const Fact<PcieConfig>& config) -> std::optional<Finding> {
        if (!config.known()) {
            if (!unreadable) unreadable = unread(gpu, bdf.str() + ": " + config.why(), config.source());
            return std::nullopt;
        }
        if (config->cap_speed == LinkSpeed::unknown) {  // all ones, or a function without link registers
            if (!unreadable)
                unreadable = unread(gpu, bdf.str() + ": no link speed in LnkCap", config.source());
            return std::nullopt;
        }
        auto result = judge_function(snapshot, gpu, bdf, config);
        if (result && result->verdict == Verdict::fail) return result;
        if (result && !suspicion) suspicion = std::move(result);
        return std::nullopt;
    };
    if (auto fault = visit(gpu.bdf, own)) return std::move(*fault);
    for (const PciPort& port : gpu.pci.path) {
        if (port.emulated() || !snapshot.host.bare_metal()) continue;  // a guest's ports are its hypervisor's
        if (auto fault = visit(port.bdf, port.config)) return std::move(*fault);
    }
    if (suspicion) return std::move(*suspicion);
    if (unreadable) return std::move(*unreadable);
    return finding(
        kId, Verdict::pass, gpu.bdf, "no link held below its speed",
        "target " + std::string(text_of(own->target_speed)) + " of " + std::string(text_of(own->cap_speed)),
        own.source());
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device& gpu : snapshot.gpus) findings.push_back(judge_gpu(snapshot, gpu));
}

}  // namespace

// Config space beyond 64 bytes is for root alone, so an unprivileged look is no fault before acceptance.
const Check kPciePinnedCheck{.id = kId,
                             .title = "PCIe links pinned by hand",
                             .impact = Impact::passive,
                             .required_from = Profile::acceptance,
                             .applies = applies,
                             .judge = judge};

}  // namespace gpucheck
