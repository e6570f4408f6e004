// Finds GPUs that no compute driver holds: they are on the bus and on the bill, and every framework sees one
// GPU less.
#include <algorithm>

#include "checks/all.h"
#include "checks/gpus.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "driver.bound";

// Whether a GPU lent to a guest is one of those that this machine was promised to compute with.
bool lent_is_counted(const Snapshot& snapshot) {
    const Fact<unsigned>& expected = snapshot.expected.gpu_count;
    if (!expected.known()) return false;
    const Gpus own = own_gpus(snapshot);
    const auto usable = static_cast<std::size_t>(
        std::count_if(own.begin(), own.end(), [](const Device* gpu) { return driven(*gpu); }));
    return usable < expected.value();
}

Finding unbound(const Snapshot& snapshot, const Device& gpu, const std::string& expected) {
    const std::string native(native_driver(gpu.vendor));
    const std::string& source = gpu.pci.driver.source();
    if (driver_is_building(snapshot, gpu.vendor)) {
        return finding("driver.dkms.building", Verdict::unknown, gpu.bdf, expected, "no driver yet", source);
    }
    const Module* module = snapshot.host.module(native);
    if (module != nullptr && module->loaded.is(true)) {
        Finding failed = finding("driver.bound.probe_failed", Verdict::fail, gpu.bdf, expected,
                                 "no driver, although " + native + " is loaded", source);
        if (snapshot.host.virtual_machine()) failed.scope = Scope::host;
        return failed;
    }
    Finding none = finding("driver.bound.none", Verdict::fail, gpu.bdf, expected, "no driver", source);
    if (gpu.vendor == Vendor::amd && !gpu.board.known() && snapshot.host.virtual_machine()) {
        // Virtual functions of boards that ROCm never supported need the provider's own driver
        // (ROCm/ROCm#1498).
        none.message =
            "No driver is bound, and this function is not one that ROCm's driver is known to support";
    }
    return none;
}

Finding held_by_other(const Snapshot& snapshot, const Device& gpu, const std::string& expected) {
    const std::string& driver = gpu.pci.driver.value();
    const std::string& source = gpu.pci.driver.source();
    if (lent_to_guest(gpu)) {
        const bool counted = lent_is_counted(snapshot);
        return finding("driver.bound.passthrough", counted ? Verdict::fail : Verdict::warn, gpu.bdf, expected,
                       driver, source);
    }
    const bool display =
        driver == "nouveau" || driver == "nova_core" || driver == "nova-core" || driver == "nova";
    return finding(display ? "driver.bound.nouveau" : "driver.bound.foreign", Verdict::fail, gpu.bdf,
                   expected, driver, source);
}

Finding judge_gpu(const Snapshot& snapshot, const Device& gpu) {
    const Fact<std::string>& driver = gpu.pci.driver;
    const std::string expected(native_driver(gpu.vendor));
    if (guests_function(gpu)) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "",
                       "a virtual function that belongs to a guest", gpu.pci.has_physfn.source());
    }
    if (!driver.known()) {
        return finding("driver.bound.unread", Verdict::unknown, gpu.bdf, expected, driver.why(),
                       driver.source());
    }
    if (driven(gpu)) return finding(kId, Verdict::pass, gpu.bdf, expected, driver.value(), driver.source());
    if (split_by_gim(gpu)) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "",
                       "gim: the SR-IOV host driver serves its guests", driver.source());
    }
    if (driver.value().empty()) return unbound(snapshot, gpu, expected);
    return held_by_other(snapshot, gpu, expected);
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device& gpu : snapshot.gpus) findings.push_back(judge_gpu(snapshot, gpu));
}

}  // namespace

const Check kDriverBoundCheck{.id = kId,
                              .title = "Driver bound to each GPU",
                              .impact = Impact::passive,
                              .required_from = Profile::quick,
                              .applies = without_gpus,
                              .judge = judge};

}  // namespace gpucheck
