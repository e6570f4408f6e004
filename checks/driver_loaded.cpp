// Finds out why a driver is not loaded: the cause decides whether one command, a package or a reboot gives
// the GPUs back.
#include <algorithm>

#include "checks/all.h"
#include "checks/gpus.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "driver.loaded";

Gpus gpus_to_drive(const Snapshot& snapshot, Vendor vendor) {
    Gpus result;
    for (const Device* gpu : own_gpus(snapshot)) {
        if (gpu->vendor == vendor && !lent_to_guest(*gpu) && !split_by_gim(*gpu)) result.push_back(gpu);
    }
    return result;
}

bool dkms_installed(const Snapshot& snapshot, Vendor vendor) {
    const auto& trees = snapshot.host.dkms;
    return std::any_of(trees.begin(), trees.end(), [&](const DkmsTree& tree) {
        return dkms_tree_of(tree, vendor) && tree.state.is("installed");
    });
}

bool built_outside_the_kernel(const Snapshot& snapshot, Vendor vendor, const Module& module) {
    if (dkms_installed(snapshot, vendor)) return true;
    return module.file.known() && (module.file->find("/updates/") != std::string::npos ||
                                   module.file->find("/extra/") != std::string::npos);
}

// The module is not loaded and holds no GPU: name the likeliest cause, the most certain one first.
Finding explain(const Snapshot& snapshot, Vendor vendor, const Module& module) {
    const Host& host = snapshot.host;
    const std::string name(native_driver(vendor));
    const std::string expected = name + " loaded";
    const auto say = [&](std::string_view code, Verdict verdict, std::string observed,
                         const std::string& source) {
        return finding(code, verdict, {}, expected, std::move(observed), source);
    };
    if (driver_is_building(snapshot, vendor)) {
        return say("driver.dkms.building", Verdict::unknown, "not loaded; DKMS is building it",
                   "/var/lib/dkms");
    }
    const Module* nouveau = vendor == Vendor::nvidia ? host.module("nouveau") : nullptr;
    if (nouveau != nullptr && nouveau->loaded.is(true)) {
        return say("driver.loaded.nouveau", Verdict::fail, "nouveau loaded instead",
                   nouveau->loaded.source());
    }
    // A container has its own /lib/modules and /var/lib/dkms, usually empty: they say nothing about the
    // host's kernel.
    if (module.file.is("") && !host.in_container()) {
        return say("driver.loaded.no_file", Verdict::fail,
                   "no " + name + " module for kernel " +
                       (host.kernel_release.known() ? host.kernel_release.value() : "(release unknown)"),
                   module.file.source());
    }
    if (module.blacklisted_by.known() && !module.blacklisted_by->empty()) {
        return say("driver.loaded.blacklisted", Verdict::fail,
                   "not loaded; blacklisted by " + module.blacklisted_by.value(),
                   module.blacklisted_by.source());
    }
    if (host.secure_boot.is(true) && built_outside_the_kernel(snapshot, vendor, module)) {
        return say("driver.secure_boot.refused", Verdict::fail,
                   "not loaded, Secure Boot is on and the module was built on this machine",
                   host.secure_boot.source());
    }
    Finding missing = say("driver.loaded.missing", Verdict::fail, "not loaded", module.loaded.source());
    if (host.in_container()) missing.message = "The container's host has not loaded " + name;
    return missing;
}

Finding judge_vendor(const Snapshot& snapshot, Vendor vendor, const Gpus& gpus) {
    const std::string name(native_driver(vendor));
    const Module* module = snapshot.host.module(name);
    const auto bound = std::find_if(gpus.begin(), gpus.end(), [](const Device* gpu) { return driven(*gpu); });
    if (bound != gpus.end() && (module == nullptr || !module->loaded.is(true))) {
        return finding(kId, Verdict::pass, {}, name + " loaded",
                       "bound to " + (*bound)->bdf.str() + ": part of the kernel",
                       (*bound)->pci.driver.source());
    }
    if (module == nullptr || !module->loaded.known()) {
        return finding("driver.loaded.unread", Verdict::unknown, {}, name + " loaded",
                       module == nullptr ? "not looked at" : module->loaded.why(),
                       module == nullptr ? "/sys/module/" + name : module->loaded.source());
    }
    if (!module->loaded.value()) return explain(snapshot, vendor, *module);
    std::string observed = "loaded";
    if (module->version.known()) observed += ", version " + module->version.value();
    if (module->blacklisted_by.known() && !module->blacklisted_by->empty()) {
        // AMD's own guide blacklists amdgpu on MI300X and loads it later (ROCm/ROCm PR#4426).
        observed += ", although blacklisted by " + module->blacklisted_by.value();
    }
    return finding(kId, Verdict::pass, {}, name + " loaded", observed, module->loaded.source());
}

NotApplicable applies(const Snapshot& snapshot) {
    if (NotApplicable none = without_gpus(snapshot)) return none;
    if (gpus_to_drive(snapshot, Vendor::amd).empty() && gpus_to_drive(snapshot, Vendor::nvidia).empty()) {
        return "every GPU is held for virtual machines";
    }
    return std::nullopt;
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Vendor vendor : {Vendor::nvidia, Vendor::amd}) {
        const Gpus gpus = gpus_to_drive(snapshot, vendor);
        if (!gpus.empty()) findings.push_back(judge_vendor(snapshot, vendor, gpus));
    }
}

}  // namespace

const Check kDriverLoadedCheck{.id = kId,
                               .title = "Driver loaded",
                               .impact = Impact::passive,
                               .required_from = Profile::quick,
                               .applies = applies,
                               .judge = judge};

}  // namespace gpucheck
