// Finds the acceptance run in which nobody said how many GPUs there should be: seven of eight then look
// complete.
#include "checks/all.h"
#include "checks/gpus.h"

namespace gpucheck {
namespace {

void judge(const Snapshot& snapshot, Findings& findings) {
    const Fact<unsigned>& expected = snapshot.expected.gpu_count;
    const std::string wanted = "--expect gpu_count=N, or --provider and --instance-type";
    if (expected.known()) {
        findings.push_back(finding("gpu.expected", Verdict::pass, {}, wanted,
                                   count_of(expected.value(), "GPU") + " expected", expected.source()));
        return;
    }
    const std::string seen =
        count_of(own_gpus(snapshot).size(), "GPU") + " present; expected number: " + expected.why();
    findings.push_back(
        finding("gpu.count.unasserted", Verdict::unknown, {}, wanted, seen, expected.source()));
}

}  // namespace

const Check kGpuExpectedCheck{.id = "gpu.expected",
                              .title = "Expected number of GPUs",
                              .impact = Impact::passive,
                              .required_from = Profile::acceptance,
                              .applies = nullptr,
                              .judge = judge};

}  // namespace gpucheck
