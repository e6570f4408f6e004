// Finds driver builds that never finished: the GPUs then have no driver now, or lose it at the next reboot.
#include <algorithm>

#include "checks/all.h"
#include "checks/gpus.h"
#include "checks/model/version.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "driver.dkms";

std::vector<const DkmsTree*> trees_of(const Host& host, Vendor vendor) {
    std::vector<const DkmsTree*> trees;
    for (const DkmsTree& tree : host.dkms) {
        if (dkms_tree_of(tree, vendor)) trees.push_back(&tree);
    }
    return trees;
}

bool has_gpu(const Snapshot& snapshot, Vendor vendor) {
    const Gpus own = own_gpus(snapshot);
    return std::any_of(own.begin(), own.end(), [&](const Device* gpu) { return gpu->vendor == vendor; });
}

// A driver from elsewhere (in-tree amdgpu, a prebuilt nvidia package) runs these GPUs, so a bad tree costs
// nothing today. An in-tree amdgpu that is known to be too old for a board does not count.
bool runs_without_dkms(const Snapshot& snapshot, Vendor vendor) {
    const Gpus running = driven_gpus(snapshot, vendor);
    if (running.empty()) return false;
    const Fact<std::string>& kernel = snapshot.host.kernel_release;
    return std::none_of(running.begin(), running.end(), [&](const Device* gpu) {
        if (vendor != Vendor::amd || !gpu->board.known() || !gpu->board->kernel_min.known() ||
            !kernel.known())
            return false;
        const auto order = compare_versions(kernel.value(), gpu->board->kernel_min.value());
        return order && *order < 0;
    });
}

std::string folder(const DkmsTree& tree) {
    return "/var/lib/dkms/" + tree.module + "/" + tree.version;
}

Finding judge_tree(const Snapshot& snapshot, Vendor vendor, const DkmsTree& tree, bool other_installed) {
    const Fact<std::string>& release = snapshot.host.kernel_release;
    const std::string expected =
        "installed for kernel " + (release.known() ? release.value() : std::string("(release unknown)"));
    const auto say = [&](std::string_view code, Verdict verdict, std::string observed) {
        return finding(code, verdict, folder(tree), expected, std::move(observed), tree.state.source());
    };
    if (!tree.state.known()) return say("driver.dkms.unread", Verdict::unknown, tree.state.why());
    const std::string& state = tree.state.value();
    if (state == "installed") return say(kId, Verdict::pass, state);
    if (state == "building") return say("driver.dkms.building", Verdict::unknown, state);
    const bool harmless = other_installed || runs_without_dkms(snapshot, vendor);
    const Verdict verdict = harmless ? Verdict::warn : Verdict::fail;
    if (state == "broken") return say("driver.dkms.broken", verdict, "no source (dkms.conf is missing)");
    if (state == "added" || state == "built") {
        if (other_installed) return say(kId, Verdict::pass, state + "; another version is installed");
        return say("driver.dkms.not_installed", verdict, state + " only");
    }
    return say("driver.dkms.unread", Verdict::unknown, "a state that is not known: " + state);
}

NotApplicable applies(const Snapshot& snapshot) {
    if (NotApplicable none = without_gpus(snapshot)) return none;
    if (snapshot.host.in_container()) return "a container's DKMS folder is not its host's";
    for (const Vendor vendor : {Vendor::nvidia, Vendor::amd}) {
        if (has_gpu(snapshot, vendor) && !trees_of(snapshot.host, vendor).empty()) return std::nullopt;
    }
    return "no DKMS tree of these GPUs' driver";
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Vendor vendor : {Vendor::nvidia, Vendor::amd}) {
        if (!has_gpu(snapshot, vendor)) continue;
        const std::vector<const DkmsTree*> trees = trees_of(snapshot.host, vendor);
        const bool installed = std::any_of(trees.begin(), trees.end(),
                                           [](const DkmsTree* tree) { return tree->state.is("installed"); });
        for (const DkmsTree* tree : trees) findings.push_back(judge_tree(snapshot, vendor, *tree, installed));
    }
}

}  // namespace

const Check kDkmsCheck{.id = kId,
                       .title = "Driver build (DKMS)",
                       .impact = Impact::passive,
                       .required_from = Profile::acceptance,
                       .applies = applies,
                       .judge = judge};

}  // namespace gpucheck
