// Finds GPUs that are bound but switched off: a function in D3cold or disabled answers no read, and programs
// see "no device".
#include "checks/all.h"
#include "checks/model/wiring.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "pcie.power";

NotApplicable applies(const Snapshot& snapshot) {
    return snapshot.gpus.empty() ? NotApplicable("no GPU found") : std::nullopt;
}

/// vfio-pci keeps a function disabled and asleep until a virtual machine opens it: only the vendors' drivers
/// are judged.
bool driven(const PciFunction& pci) {
    return pci.driver.is("nvidia") || pci.driver.is("amdgpu");
}

Finding judge_gpu(const Device& gpu) {
    const PciFunction& pci = gpu.pci;
    if (pci.driver.known() && !driven(pci)) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "a function driven by nvidia or amdgpu",
                       pci.driver->empty() ? "no driver bound" : *pci.driver, pci.driver.source());
    }
    if (asleep(pci)) {
        return finding(kId, Verdict::pass, gpu.bdf, "awake, or asleep until opened",
                       "runtime suspended: wakes when a program opens it", pci.runtime_status.source());
    }
    if (const std::string why = first_missing(pci.driver, pci.power_state, pci.enabled); !why.empty()) {
        return finding("pcie.power.unread", Verdict::unknown, gpu.bdf, "power state and enable count", why,
                       pci.power_state.source());
    }
    // The kernel also sets D3cold when a function's config space reads all ones (pci_update_current_state).
    if (*pci.power_state == "D3cold" || *pci.power_state == "D3hot") {
        return finding("pcie.power.off", Verdict::warn, gpu.bdf, "D0 while in use",
                       *pci.power_state + " while not suspended", pci.power_state.source());
    }
    if (!*pci.enabled) {
        return finding("pcie.power.disabled", Verdict::warn, gpu.bdf, "enabled by " + *pci.driver,
                       "enable count 0", pci.enabled.source());
    }
    return finding(kId, Verdict::pass, gpu.bdf, "D0 and enabled", *pci.power_state + " and enabled",
                   pci.power_state.source());
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device& gpu : snapshot.gpus) findings.push_back(judge_gpu(gpu));
}

}  // namespace

const Check kPciePowerCheck{.id = kId,
                            .title = "Power state of each GPU",
                            .impact = Impact::passive,
                            .required_from = Profile::acceptance,
                            .applies = applies,
                            .judge = judge};

}  // namespace gpucheck
