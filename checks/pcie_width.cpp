// Finds GPUs with missing lanes: a card at x8 of x16 loads models at half the speed for as long as somebody
// rents it, and nothing logs it.
#include "checks/all.h"
#include "checks/burn_facts.h"
#include "checks/model/wiring.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "pcie.width";

NotApplicable applies(const Snapshot& snapshot) {
    return snapshot.gpus.empty() ? NotApplicable("no GPU found") : std::nullopt;
}

std::string lanes(unsigned width) {
    return "x" + std::to_string(width);
}

/// What keeps us from judging, whatever the expectation: nullopt when the width can be judged.
std::optional<Finding> unusable(const Snapshot& snapshot, const Device& gpu) {
    const PciLink& link = gpu.pci.link;
    const std::string& source = link.current_width.source();
    if (on_superchip(gpu)) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "a coherent link",
                       "the PCIe link is a placeholder", source);
    }
    if (asleep(gpu.pci)) {
        return finding("pcie.link.unread", Verdict::unknown, gpu.bdf, "an awake GPU", "runtime suspended",
                       gpu.pci.runtime_status.source());
    }
    if (reads_all_ones(link, gpu.pci.vendor)) {
        return finding("pcie.link.dead", Verdict::fail, gpu.bdf, "a link", "reads of all ones (Unknown, x63)",
                       source);
    }
    if (link.current_width.absent() && !snapshot.host.bare_metal()) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "a PCI Express link",
                       "the virtual machine shows the function without one", source);
    }
    if (!link.current_width.known()) {
        return finding("pcie.link.unread", Verdict::unknown, gpu.bdf, "a readable link width",
                       link.current_width.why(), source);
    }
    if (is_virtual_link(link)) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "a physical link",
                       "a virtual or coherent port (Unknown, x0)", source);
    }
    if (!is_link_width(*link.current_width)) {
        return finding("pcie.link.odd", Verdict::unknown, gpu.bdf, "x1, x2, x4, x8, x12, x16 or x32",
                       lanes(*link.current_width), source);
    }
    return std::nullopt;
}

Finding narrow(const Snapshot& snapshot, const Device& gpu, const WantedWidth& wanted) {
    const PciLink& link = gpu.pci.link;
    std::string observed = lanes(*link.current_width);
    if (link.max_width.known() && is_link_width(*link.max_width)) {
        observed += " (the function can do " + lanes(*link.max_width) + ")";
    }
    // A guest may see a slot that its provider wired narrow for every instance of the type: only a promise
    // makes that a fault.
    const bool certain = wanted.promised || snapshot.host.bare_metal();
    Finding result =
        finding("pcie.link.narrow", certain ? Verdict::fail : Verdict::warn, gpu.bdf,
                lanes(wanted.lanes) + " (" + wanted.source + ")", observed, link.current_width.source());
    result.scope = Scope::host;
    if (!certain) {
        result.message =
            "The GPU has fewer lanes than its board; some platforms wire it so on purpose: ask, or state "
            "--expect pcie_width";
    }
    return result;
}

Finding judge_gpu(const Snapshot& snapshot, const Device& gpu) {
    if (auto reason = unusable(snapshot, gpu)) return std::move(*reason);
    const Fact<unsigned>& width = gpu.pci.link.current_width;
    const std::optional<WantedWidth> wanted = wanted_width(snapshot, gpu);
    if (!wanted) {
        // No GPU board has more than 16 lanes, so x16 is full whatever the board is.
        if (*width >= 16)
            return finding(kId, Verdict::pass, gpu.bdf, "x16 or less", lanes(*width), width.source());
        return finding("pcie.link.no_expectation", Verdict::unknown, gpu.bdf,
                       "a board row or --expect pcie_width", lanes(*width), width.source());
    }
    const bool by_design = !wanted->promised && narrow_by_design(gpu, *width);
    const std::optional<LinkUnderLoad> loaded = link_under_load(gpu);
    // Some parts give up lanes while idle; what they use during copies is the proof, either way.
    const bool full_under_load = loaded && loaded->width && *loaded->width >= wanted->lanes;
    if (*width < wanted->lanes && !by_design && !full_under_load) return narrow(snapshot, gpu, *wanted);
    if (loaded && loaded->width && *loaded->width < *width && *loaded->width < wanted->lanes) {
        Finding result = finding(
            "pcie.link.narrowed", Verdict::warn, gpu.bdf, lanes(wanted->lanes) + " (" + wanted->source + ")",
            lanes(*width) + " at rest, " + lanes(*loaded->width) + " during copies", loaded->source);
        result.scope = Scope::host;
        return result;
    }
    if (full_under_load && *width < wanted->lanes) {
        return finding(kId, Verdict::pass, gpu.bdf, lanes(wanted->lanes),
                       lanes(*width) + " at rest, " + lanes(*loaded->width) + " during copies",
                       loaded->source);
    }
    return finding(kId, Verdict::pass, gpu.bdf,
                   lanes(wanted->lanes) + (by_design ? ", or fewer where platforms wire it so" : ""),
                   lanes(*width), width.source());
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device& gpu : snapshot.gpus) findings.push_back(judge_gpu(snapshot, gpu));
}

}  // namespace

const Check kPcieWidthCheck{.id = kId,
                            .title = "PCIe width of each GPU",
                            .impact = Impact::passive,
                            .required_from = Profile::quick,
                            .applies = applies,
                            .judge = judge};

}  // namespace gpucheck
