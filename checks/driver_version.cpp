// Finds drivers older than a board or an order needs: such a GPU computes slowly, lacks features, or fails
// under load.
#include "checks/all.h"
#include "checks/gpus.h"
#include "checks/model/version.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "driver.version";

// The running module's version. For amdgpu only DKMS builds have one; in-tree it is absent, which is an
// answer.
Fact<std::string> running_version(const Host& host, Vendor vendor) {
    const Module* module = host.module(native_driver(vendor));
    if (vendor == Vendor::nvidia && host.nvidia.version.known()) return host.nvidia.version;
    if (module != nullptr && (module->version.known() || vendor == Vendor::amd)) return module->version;
    // A container may hide /proc/driver/nvidia and still reach NVML.
    if (vendor == Vendor::nvidia && host.nvml.driver_version.known()) return host.nvml.driver_version;
    if (module != nullptr) return module->version;
    return vendor == Vendor::nvidia ? host.nvidia.version : Fact<std::string>();
}

// A finding against one minimum; `code` is for a version below it.
Finding against(const Fact<std::string>& version, const Fact<std::string>& floor, std::string_view code,
                const std::string& whose) {
    const std::string expected = floor.value() + " or newer (" + whose + ")";
    const auto order = compare_versions(version.value(), floor.value());
    if (!order) {
        return finding("driver.version.unread", Verdict::unknown, {}, expected,
                       "not comparable: " + version.value(), version.source());
    }
    return finding(*order < 0 ? code : kId, *order < 0 ? Verdict::fail : Verdict::pass, {}, expected,
                   version.value(), version.source());
}

void judge_in_tree(const Snapshot& snapshot, const Fact<std::string>& version, Findings& findings) {
    const Fact<std::string>& promised = snapshot.expected.driver_version;
    const std::string observed = "the kernel's own amdgpu, which has no version of its own";
    if (promised.known()) {
        findings.push_back(finding("driver.version.unversioned", Verdict::unknown, {},
                                   promised.value() + " or newer (" + promised.source() + ")", observed,
                                   version.source()));
        return;
    }
    findings.push_back(finding(kId, Verdict::not_applicable, {}, "", observed, version.source()));
}

// One finding for each different floor among the boards.
void judge_boards(const Gpus& gpus, const Fact<std::string>& version, Findings& findings) {
    std::vector<std::string> done;
    for (const Device* gpu : gpus) {
        if (!gpu->board.known() || !gpu->board->driver_min.known()) continue;
        bool seen = false;
        for (const std::string& key : done) seen = seen || key == gpu->board->key;
        if (seen) continue;
        done.push_back(gpu->board->key);
        findings.push_back(against(version, gpu->board->driver_min, "driver.version.old", gpu->board->name));
    }
}

void judge_vendor(const Snapshot& snapshot, Vendor vendor, const Gpus& gpus, Findings& findings) {
    const Fact<std::string> version = running_version(snapshot.host, vendor);
    const std::string name(native_driver(vendor));
    if (!version.known()) {
        if (vendor == Vendor::amd && version.absent()) return judge_in_tree(snapshot, version, findings);
        findings.push_back(finding("driver.version.unread", Verdict::unknown, {}, "the version of " + name,
                                   version.why(), version.source()));
        return;
    }
    const Module* module = snapshot.host.module(name);
    if (module != nullptr && module->version.known() && !module->version.is(version.value())) {
        findings.push_back(finding("driver.version.contradictory", Verdict::unknown, {}, "one version",
                                   version.value() + " and " + module->version.value(),
                                   version.source() + ", " + module->version.source()));
        return;
    }
    const std::size_t before = findings.size();
    judge_boards(gpus, version, findings);
    const Fact<std::string>& promised = snapshot.expected.driver_version;
    if (promised.known()) {
        findings.push_back(against(version, promised, "driver.version.below_expected", promised.source()));
    }
    if (findings.size() == before) {
        findings.push_back(
            finding(kId, Verdict::not_applicable, {}, "",
                    name + " " + version.value() + "; no minimum is known or promised for these boards",
                    version.source()));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Vendor vendor : {Vendor::nvidia, Vendor::amd}) {
        const Gpus gpus = driven_gpus(snapshot, vendor);
        if (!gpus.empty()) judge_vendor(snapshot, vendor, gpus, findings);
    }
}

}  // namespace

const Check kDriverVersionCheck{.id = kId,
                                .title = "Driver version",
                                .impact = Impact::passive,
                                .required_from = Profile::boot,
                                .applies = without_any_driven,
                                .judge = judge};

}  // namespace gpucheck
