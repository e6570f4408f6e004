// Finds kernel settings of a bare-metal host that cost GPUs their peer-to-peer bandwidth or their memory
// windows, and that no driver complains about.
#include <algorithm>

#include "checks/all.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "host.settings";

NotApplicable applies(const Snapshot& snapshot) {
    if (snapshot.gpus.empty()) return "no GPU found";
    if (snapshot.host.virtual_machine()) return "in a virtual machine these are the host's settings";
    return std::nullopt;
}

bool has_argument(std::string_view cmdline, std::string_view wanted) {
    while (!cmdline.empty()) {
        const std::size_t blank = std::min(cmdline.find_first_of(" \n\t"), cmdline.size());
        if (cmdline.substr(0, blank) == wanted) return true;
        cmdline.remove_prefix(std::min(blank + 1, cmdline.size()));
    }
    return false;
}

bool has_any(std::string_view cmdline, std::initializer_list<std::string_view> wanted) {
    return std::any_of(wanted.begin(), wanted.end(),
                       [&](std::string_view name) { return has_argument(cmdline, name); });
}

/// A board that AMD's system acceptance guides speak of: a row of ours that is no workstation card.
bool is_instinct(const Device& gpu) {
    return gpu.vendor == Vendor::amd && gpu.board.known() && gpu.board->arch.starts_with("gfx9");
}

/// How the kernel answers "are DMA addresses translated?": yes, no, or nothing tells.
enum class Translation { on, off, unsaid };

Translation translation(const Snapshot& snapshot, std::string_view cmdline) {
    bool grouped = false;
    for (const Device& gpu : snapshot.gpus) {
        const Fact<std::string>& type = gpu.pci.iommu_type;
        if (type.known()) return type->starts_with("DMA") ? Translation::on : Translation::off;
        grouped = grouped || gpu.pci.iommu_group.known();
    }
    if (has_any(cmdline,
                {"iommu=pt", "iommu.passthrough=1", "iommu=off", "amd_iommu=off", "intel_iommu=off"})) {
        return Translation::off;
    }
    if (has_any(cmdline, {"iommu=nopt", "iommu.passthrough=0", "iommu.strict=1", "iommu=force"}))
        return Translation::on;
    // The IOMMU is on and nobody asked for pass-through: what kernels do then depends on how they were built.
    return grouped ? Translation::unsaid : Translation::off;
}

void judge_iommu(const Snapshot& snapshot, std::string_view cmdline, bool instinct, Findings& findings) {
    const Translation answer = translation(snapshot, cmdline);
    // NVIDIA's peer copies suffer too (cuda-samples#48), but only between GPUs, and its documents ask for no
    // argument.
    const bool concerned = instinct || snapshot.gpus.size() > 1;
    if (!concerned || answer == Translation::off || (answer == Translation::unsaid && !instinct)) return;
    findings.push_back(finding(
        "host.iommu.translated", Verdict::warn, {}, "iommu=pt, or the IOMMU off",
        answer == Translation::on ? "DMA is translated" : "IOMMU in use, no iommu=pt on the command line",
        snapshot.host.kernel_cmdline.source()));
}

void judge_balancing(const Host& host, Findings& findings) {
    const Fact<int>& balancing = host.numa_balancing;
    const bool one_node = host.numa_nodes.known() && *host.numa_nodes <= 1;
    if (balancing.absent() || one_node) return;  // built without it, or nothing to balance
    if (!balancing.known()) {
        findings.push_back(finding("host.settings.unread", Verdict::unknown, {}, "kernel.numa_balancing",
                                   balancing.why(), balancing.source()));
    } else if (*balancing != 0) {
        findings.push_back(finding("host.numa_balancing.on", Verdict::warn, {}, "0",
                                   std::to_string(*balancing), balancing.source()));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Host& host = snapshot.host;
    if (!host.hypervisor.known() || !host.kernel_cmdline.known()) {
        const Fact<std::string>& missing = host.hypervisor.known() ? host.kernel_cmdline : host.hypervisor;
        findings.push_back(finding("host.settings.unread", Verdict::unknown, {},
                                   "kernel command line of a bare-metal host", missing.why(),
                                   missing.source()));
        return;
    }
    const std::string_view cmdline = *host.kernel_cmdline;
    const bool instinct = std::any_of(snapshot.gpus.begin(), snapshot.gpus.end(), is_instinct);
    judge_iommu(snapshot, cmdline, instinct, findings);
    if (instinct) {
        judge_balancing(host, findings);
        if (has_any(cmdline, {"pci=realloc", "pci=realloc=on"})) {
            findings.push_back(finding("host.realloc", Verdict::warn, {}, "pci=realloc=off",
                                       "pci=realloc is on", host.kernel_cmdline.source()));
        }
    }
    if (findings.empty()) {
        findings.push_back(finding(kId, Verdict::pass, {}, "no setting that the vendor advises against",
                                   "none found", host.kernel_cmdline.source()));
    }
}

}  // namespace

const Check kHostSettingsCheck{.id = kId,
                               .title = "Kernel settings of the host",
                               .impact = Impact::passive,
                               .required_from = Profile::acceptance,
                               .applies = applies,
                               .judge = judge};

}  // namespace gpucheck
