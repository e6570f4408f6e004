// Finds kernels whose own amdgpu was written before the board existed: the GPU stays without a driver, or
// runs half supported.
#include <algorithm>
#include <array>

#include "checks/all.h"
#include "checks/gpus.h"
#include "checks/model/version.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "kernel.version";

// Red Hat and SUSE carry newer drivers in old kernel numbers (RHEL 9.6 calls its kernel 5.14), so the number
// proves nothing.
bool backports_drivers(const Host& host) {
    static constexpr std::array<std::string_view, 9> kVendors{"rhel", "centos", "rocky", "almalinux", "ol",
                                                              "sles", "sled",   "suse",  "sle_hpc"};
    if (host.kernel_release.known()) {
        const std::string& release = host.kernel_release.value();
        const std::size_t el = release.find(".el");
        if (el != std::string::npos && el + 3 < release.size() && release[el + 3] >= '0' &&
            release[el + 3] <= '9')
            return true;
    }
    return host.os_id.known() &&
           std::find(kVendors.begin(), kVendors.end(), host.os_id.value()) != kVendors.end();
}

bool dkms_build(const Host& host, Vendor vendor) {
    return std::any_of(host.dkms.begin(), host.dkms.end(), [&](const DkmsTree& tree) {
        return dkms_tree_of(tree, vendor) && tree.state.is("installed");
    });
}

// A board that the running kernel serves in spite of its number: bound, and listed by KFD.
bool works(const Device& gpu) {
    return driven(gpu) && !gpu.amd.kfd_nodes.empty();
}

bool needs_kernel(const Device& gpu) {
    return gpu.board.known() && gpu.board->kernel_min.known() && !lent_to_guest(gpu) && !split_by_gim(gpu);
}

Finding judge_gpu(const Snapshot& snapshot, const Device& gpu) {
    const Host& host = snapshot.host;
    const Fact<std::string>& release = host.kernel_release;
    const Module* module = host.module(native_driver(gpu.vendor));
    const std::string floor = gpu.board->kernel_min.value();
    const std::string expected = floor + " or newer, or a driver from DKMS (" + gpu.board->name + ")";
    const auto say = [&](std::string_view code, Verdict verdict, std::string observed,
                         const std::string& source) {
        return finding(code, verdict, gpu.bdf, expected, std::move(observed), source);
    };
    if (module != nullptr && module->version.known()) {
        return say(kId, Verdict::pass, "DKMS driver " + module->version.value(), module->version.source());
    }
    if (dkms_build(host, gpu.vendor))
        return say(kId, Verdict::pass, "a driver from DKMS is installed", "/var/lib/dkms");
    if (!release.known())
        return say("kernel.version.unread", Verdict::unknown, release.why(), release.source());
    const auto order = compare_versions(release.value(), floor);
    if (!order)
        return say("kernel.version.unread", Verdict::unknown, "not comparable: " + release.value(),
                   release.source());
    if (*order >= 0) return say(kId, Verdict::pass, release.value(), release.source());
    if (module == nullptr || !module->version.absent()) {
        return say("kernel.version.unread", Verdict::unknown,
                   release.value() + "; whether the driver comes from DKMS is not known",
                   module == nullptr ? "/sys/module/amdgpu/version" : module->version.source());
    }
    if (backports_drivers(host)) {
        if (works(gpu))
            return say(kId, Verdict::pass, release.value() + " with a newer driver ported to it",
                       release.source());
        return say("kernel.version.backported", Verdict::unknown, release.value(), release.source());
    }
    return say("kernel.version.old", works(gpu) ? Verdict::warn : Verdict::fail,
               release.value() + (works(gpu) ? "; the GPU is driven all the same" : ""), release.source());
}

void judge_promise(const Snapshot& snapshot, Findings& findings) {
    const Fact<std::string>& promised = snapshot.expected.kernel_version;
    const Fact<std::string>& release = snapshot.host.kernel_release;
    const std::string expected = promised.value() + " or newer (" + promised.source() + ")";
    const auto order = release.known() ? compare_versions(release.value(), promised.value()) : std::nullopt;
    if (!order) {
        findings.push_back(finding("kernel.version.unread", Verdict::unknown, {}, expected,
                                   release.known() ? "not comparable: " + release.value() : release.why(),
                                   release.source()));
        return;
    }
    findings.push_back(finding(*order < 0 ? "kernel.version.below_expected" : kId,
                               *order < 0 ? Verdict::fail : Verdict::pass, {}, expected, release.value(),
                               release.source()));
}

NotApplicable applies(const Snapshot& snapshot) {
    if (snapshot.expected.kernel_version.known()) return std::nullopt;
    if (NotApplicable none = without_gpus(snapshot)) return none;
    for (const Device* gpu : own_gpus(snapshot)) {
        if (needs_kernel(*gpu)) return std::nullopt;
    }
    return "no board here has a minimum kernel";
}

void judge(const Snapshot& snapshot, Findings& findings) {
    if (snapshot.expected.kernel_version.known()) judge_promise(snapshot, findings);
    for (const Device* gpu : own_gpus(snapshot)) {
        if (needs_kernel(*gpu)) findings.push_back(judge_gpu(snapshot, *gpu));
    }
}

}  // namespace

const Check kKernelVersionCheck{.id = kId,
                                .title = "Kernel version",
                                .impact = Impact::passive,
                                .required_from = Profile::boot,
                                .applies = applies,
                                .judge = judge};

}  // namespace gpucheck
