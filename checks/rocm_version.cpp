// Finds a ROCm installation that does not fit the GPUs or the kernel driver: programs then see "no device",
// or fail in ways that look like a broken GPU.
#include <array>
#include <optional>

#include "checks/all.h"
#include "checks/amd_facts.h"
#include "checks/model/version.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "driver.rocm";

struct Release {
    std::string_view rocm;    ///< user space
    std::string_view driver;  ///< module version of the amdgpu packages that came with it
};
// ROCm release notes and package names: amdgpu-dkms 6.3.6, 6.7.0, 6.8.5, 6.10.5, 6.12.12; then the driver has
// numbers of its own, 30.10 (6.14.14), 30.20 (6.16.6) and 30.30 (6.16.13).
constexpr std::array<Release, 8> kReleases{{{"6.0", "6.3"},
                                            {"6.1", "6.7"},
                                            {"6.2", "6.8"},
                                            {"6.3", "6.10"},
                                            {"6.4", "6.12"},
                                            {"7.0", "6.14"},
                                            {"7.1", "6.16"},
                                            {"7.2", "6.16.13"}}};
// AMD's support matrix tests two releases either way; driver 30.30 (ROCm 7.2) is said to work with 6.3 too.
constexpr int kTested = 4;

/// Place in the list of the newest release that is not newer; nullopt before the first one.
std::optional<int> place_of(std::string_view version, std::string_view Release::*member) {
    std::optional<int> place;
    for (std::size_t i = 0; i < kReleases.size(); ++i) {
        const std::optional<int> order = compare_versions(version, kReleases[i].*member);
        if (order && *order >= 0) place = static_cast<int>(i);
    }
    return place;
}

/// First ROCm that has code for a target (ROCm release notes).
std::string_view first_rocm(const Device& gpu) {
    if (!gpu.board.known()) return {};
    if (gpu.board->arch == "gfx950") return "7.0";
    if (gpu.board->arch == "gfx942") return "6.0";
    return {};
}

NotApplicable applies(const Snapshot& snapshot) {
    if (NotApplicable none = without_usable_amd(snapshot)) return none;
    if (snapshot.host.rocm_version.absent())
        return "no ROCm is installed under /opt/rocm: containers and Python wheels bring their own";
    return std::nullopt;
}

void judge_boards(const Snapshot& snapshot, const std::string& rocm, const std::string& source,
                  Findings& findings) {
    for (const Device* gpu : usable_amd(snapshot)) {
        const std::string_view floor = first_rocm(*gpu);
        const auto order = floor.empty() ? std::nullopt : compare_versions(rocm, floor);
        if (!order || *order >= 0) continue;
        findings.push_back(finding("driver.rocm.old", Verdict::warn, {},
                                   "ROCm " + std::string(floor) + " or newer for " + gpu->board->name, rocm,
                                   source));
        return;
    }
}

void judge_distance(const Snapshot& snapshot, const std::string& rocm, const std::string& source,
                    Findings& findings) {
    const Module* module = snapshot.host.module("amdgpu");
    if (module == nullptr || !module->version.known()) return;  // in-tree: it has no version
    const std::optional<int> user = place_of(rocm, &Release::rocm);
    const std::optional<int> kernel = place_of(*module->version, &Release::driver);
    if (!user || !kernel) return;
    // What is newer than the list counts as its last entry: the distance is then the least there can be.
    const int distance = *user - *kernel;
    if (distance <= kTested && distance >= -kTested) return;
    findings.push_back(
        finding("driver.rocm.distant", Verdict::warn, {},
                "ROCm within " + std::to_string(kTested) + " releases of amdgpu " + *module->version,
                "ROCm " + rocm + (distance > 0 ? ", far newer" : ", far older"), source));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Fact<std::string>& rocm = snapshot.host.rocm_version;
    const std::string expected = "a ROCm that fits the GPUs and amdgpu";
    if (!rocm.known()) {
        findings.push_back(unread_fact({}, expected, rocm.missing()));
        return;
    }
    if (!compare_versions(*rocm, "1")) {
        findings.push_back(unread_fact({}, expected, Missing{rocm.source(), "no version: " + *rocm}));
        return;
    }
    judge_boards(snapshot, *rocm, rocm.source(), findings);
    judge_distance(snapshot, *rocm, rocm.source(), findings);
    if (findings.empty()) findings.push_back(finding(kId, Verdict::pass, {}, expected, *rocm, rocm.source()));
}

}  // namespace

const Check kRocmVersionCheck{.id = kId,
                              .title = "ROCm version",
                              .impact = Impact::passive,
                              .required_from = Profile::acceptance,
                              .applies = applies,
                              .judge = judge};

}  // namespace gpucheck
