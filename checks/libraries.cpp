// Finds vendor libraries that cannot work with the loaded driver: after an unattended upgrade every new
// process gets "Driver/library version mismatch" while old jobs run on, until the first restart.
#include <algorithm>
#include <array>

#include "checks/all.h"
#include "checks/model/version.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "library.match";
constexpr std::string_view kCuda = "libcuda.so";
constexpr std::array<std::string_view, 2> kNvidiaLibraries{kCuda, "libnvidia-ml.so"};

NotApplicable applies(const Snapshot& snapshot) {
    return snapshot.gpus.empty() ? NotApplicable("no GPU found") : std::nullopt;
}

bool is_for(const Library& library, std::string_view base) {
    // "libcuda.so" and "libcuda.so.1", but not "libcudart.so.12".
    return library.soname.starts_with(base) &&
           (library.soname.size() == base.size() || library.soname[base.size()] == '.');
}

/// The one that the judged process loads: the list is in search order.
const Library* first_of(const Snapshot& snapshot, std::string_view base) {
    for (const Library& library : snapshot.host.libraries) {
        if (is_for(library, base)) return &library;
    }
    return nullptr;
}

/// /proc/driver/nvidia/version, else /sys/module/nvidia/version.
Fact<std::string> module_version(const Host& host) {
    if (host.nvidia.version.known()) return host.nvidia.version;
    const Module* module = host.module("nvidia");
    if (module != nullptr && module->loaded.is(true)) return module->version;
    return host.nvidia.version;
}

bool same_version(const std::string& library, const std::string& module) {
    return version_is_prefix(library, module) || version_is_prefix(module, library);
}

Finding judge_version(const Library& library, const Fact<std::string>& module) {
    const Fact<std::string>& version = library.version;
    if (!module.known() || !version.known()) {
        const Fact<std::string>& missing = module.known() ? version : module;
        return finding("library.unread", Verdict::unknown, library.path,
                       "the versions of library and kernel module", missing.why(), missing.source());
    }
    if (same_version(*version, *module)) {
        return finding(kId, Verdict::pass, library.path, *module + " (kernel module)", *version,
                       version.source());
    }
    if (library.compat) {
        // Forward compatibility carries a newer libcuda over an older module, never the reverse (error 803).
        const auto order = compare_versions(*version, *module);
        const bool newer = order.has_value() && *order > 0;
        return finding("library.compat", newer ? Verdict::warn : Verdict::fail, library.path,
                       "newer than the kernel module " + *module, *version, version.source());
    }
    return finding("driver.library.mismatch", Verdict::fail, library.path, *module + " (kernel module)",
                   *version, version.source());
}

Finding judge_library(const Library& library, const Fact<std::string>& module) {
    if (library.size_bytes.is(0U)) {
        return finding("library.empty", Verdict::fail, library.path, "a library", "0 bytes",
                       library.size_bytes.source());
    }
    if (library.stub) {
        return finding("library.stub", Verdict::fail, library.path, "the driver's own library",
                       "a link-time stub, found by " + library.found_by, library.path);
    }
    return judge_version(library, module);
}

void judge_nvidia(const Snapshot& snapshot, Findings& findings) {
    const Fact<std::string> module = module_version(snapshot.host);
    const bool bound = std::any_of(snapshot.gpus.begin(), snapshot.gpus.end(),
                                   [](const Device& gpu) { return gpu.pci.driver.is("nvidia"); });
    std::string absent;
    for (std::string_view base : kNvidiaLibraries) {
        if (const Library* library = first_of(snapshot, base)) {
            if (!bound && !module.known() && !library->stub && !library->size_bytes.is(0U)) {
                findings.push_back(finding(kId, Verdict::not_applicable, library->path,
                                           "a loaded NVIDIA module", "no GPU is bound to nvidia",
                                           module.source()));
                continue;
            }
            findings.push_back(judge_library(*library, module));
        } else {
            absent += (absent.empty() ? "" : ", ") + std::string(base) + ".1";
        }
    }
    if (absent.empty()) return;
    if (!bound) {
        findings.push_back(
            finding(kId, Verdict::not_applicable, {}, absent, "no GPU is bound to nvidia", module.source()));
        return;
    }
    findings.push_back(finding("library.absent", Verdict::warn, {}, absent, "not in the library search path",
                               "ld.so search path"));
}

/// ROCm tolerates different releases of user space and kernel driver, so only files that cannot load are
/// faults.
void judge_amd(const Snapshot& snapshot, Findings& findings) {
    std::size_t seen = 0;
    for (const Library& library : snapshot.host.libraries) {
        if (!library.soname.starts_with("libamdhip64") && !library.soname.starts_with("libhsa-runtime64"))
            continue;
        ++seen;
        if (library.size_bytes.is(0U)) findings.push_back(judge_library(library, Missing{}));
    }
    const Fact<std::string>& rocm = snapshot.host.rocm_version;
    findings.push_back(finding(
        kId, seen > 0 ? Verdict::pass : Verdict::not_applicable, {}, "ROCm libraries that can load",
        seen > 0 ? std::to_string(seen) + " found, ROCm " + (rocm.known() ? *rocm : "of unknown version")
                 : "no ROCm library installed; the driver needs none",
        rocm.source()));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const auto has = [&](Vendor vendor) {
        return std::any_of(snapshot.gpus.begin(), snapshot.gpus.end(),
                           [vendor](const Device& gpu) { return gpu.vendor == vendor; });
    };
    if (has(Vendor::nvidia)) judge_nvidia(snapshot, findings);
    if (has(Vendor::amd)) judge_amd(snapshot, findings);
}

}  // namespace

const Check kLibraryCheck{.id = kId,
                          .title = "Vendor libraries against the kernel module",
                          .impact = Impact::passive,
                          .required_from = Profile::boot,
                          .applies = applies,
                          .judge = judge};

}  // namespace gpucheck
