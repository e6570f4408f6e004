// Keeps a verdict honest when no kernel ran: a GPU that looks right may still be slow, or compute wrong
// results.
#include "checks/all.h"
#include "checks/burn_facts.h"
#include "checks/gpus.h"

namespace gpucheck {
namespace {

void judge(const Snapshot& snapshot, Findings& findings) {
    const Fact<bool>& ran = snapshot.measurements.experiments;
    const std::string expected = "memory, matrix and link experiments run on every GPU";
    if (ran.is(true)) {
        findings.push_back(finding("experiments", Verdict::pass, {}, expected, "run", ran.source()));
        return;
    }
    // What did not run on one of several GPUs is said by the check "burn", GPU by GPU.
    if (const std::size_t tested = tested_gpus(snapshot).size(); tested > 0) {
        findings.push_back(finding("experiments", Verdict::pass, {}, expected,
                                   "run on " + std::to_string(tested) + " of " +
                                       count_of(snapshot.gpus.size(), "GPU") + "; see burn",
                                   ran.source()));
        return;
    }
    findings.push_back(finding("experiments.not_run", Verdict::unknown, {}, expected,
                               ran.known() ? "not run" : ran.why(), ran.source()));
}

}  // namespace

const Check kExperimentsCheck{.id = "experiments",
                              .title = "Experiments under load",
                              .impact = Impact::passive,
                              .required_from = Profile::boot,
                              .applies = without_gpus,
                              .judge = judge};

}  // namespace gpucheck
