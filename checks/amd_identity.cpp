// Finds two GPUs with one identity: a board that was flashed with another's data, after which jobs are sent
// to the wrong one and a replaced GPU seems to be still there.
#include <algorithm>
#include <map>

#include "checks/all.h"
#include "checks/amd_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "amd.identity";

bool zero(const std::string& id) {
    return id.find_first_not_of("0x") == std::string::npos;
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const std::string expected = "a unique_id of its own for each GPU";
    std::map<std::string, Gpus> owners;
    std::string source;
    for (const Device* gpu : usable_amd(snapshot)) {
        // Functions of one physical GPU share the id, and so may the two dies of an MI250X.
        if (in_guest(snapshot, *gpu) || counts_reset_on_read(*gpu)) continue;
        const Fact<std::string>& id = gpu->amd.unique_id;
        if (!id.known()) {
            findings.push_back(amd_gap(kId, snapshot, *gpu, expected, id.missing(), false));
            continue;
        }
        source = id.source();
        if (zero(*id)) {
            findings.push_back(
                finding("amd.identity.zero", Verdict::warn, gpu->bdf, expected, *id, id.source()));
        } else {
            owners[*id].push_back(gpu);
        }
    }
    for (const auto& [id, gpus] : owners) {
        if (gpus.size() < 2) continue;
        findings.push_back(finding("amd.identity.shared", Verdict::warn, {}, expected,
                                   id + " on " + addresses(gpus), source));
    }
    if (!findings.empty()) return;
    findings.push_back(finding(kId, owners.empty() ? Verdict::not_applicable : Verdict::pass, {}, expected,
                               owners.empty() ? "functions of a guest, or dies, may share one"
                                              : count_of(owners.size(), "different id"),
                               source));
}

}  // namespace

const Check kAmdIdentityCheck{.id = kId,
                              .title = "Identity of AMD GPUs",
                              .impact = Impact::passive,
                              .required_from = Profile::acceptance,
                              .applies = without_usable_amd,
                              .judge = judge};

}  // namespace gpucheck
