// Finds GPUs without a NUMA node on a machine with several: copies then start on the far socket and lose up
// to half their speed.
#include <string>
#include <utility>

#include "checks/all.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "gpu.numa";

NotApplicable applies(const Snapshot& snapshot) {
    if (snapshot.gpus.empty()) return "no GPU found";
    // -1 is what hypervisors give (NVIDIA/nccl#1674): nothing to judge in a guest.
    if (snapshot.host.virtual_machine()) return "a virtual machine's NUMA nodes are the hypervisor's choice";
    if (snapshot.host.numa_nodes.known() && *snapshot.host.numa_nodes <= 1) return "one NUMA node";
    return std::nullopt;
}

Finding unread(Subject subject, const std::string& why, const std::string& source) {
    return finding("gpu.numa.unread", Verdict::unknown, std::move(subject), "the NUMA node of each GPU", why,
                   source);
}

Finding judge_gpu(const Device& gpu, unsigned nodes) {
    const Fact<int>& node = gpu.pci.numa_node;
    if (!node.known()) return unread(gpu.bdf, node.why(), node.source());
    if (*node < -1) return unread(gpu.bdf, std::to_string(*node) + " is no node", node.source());
    const std::string expected = "one of " + std::to_string(nodes) + " nodes";
    if (*node == -1) {
        return finding("gpu.numa.unset", Verdict::warn, gpu.bdf, expected, "-1: the firmware names none",
                       node.source());
    }
    return finding(kId, Verdict::pass, gpu.bdf, expected, "node " + std::to_string(*node), node.source());
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Host& host = snapshot.host;
    if (!host.hypervisor.known()) {
        findings.push_back(
            unread({}, "bare metal or not: " + host.hypervisor.why(), host.hypervisor.source()));
    } else if (!host.numa_nodes.known()) {
        findings.push_back(unread({}, "number of nodes: " + host.numa_nodes.why(), host.numa_nodes.source()));
    } else {
        for (const Device& gpu : snapshot.gpus) findings.push_back(judge_gpu(gpu, *host.numa_nodes));
    }
}

}  // namespace

const Check kNumaCheck{.id = kId,
                       .title = "NUMA node of each GPU",
                       .impact = Impact::passive,
                       .required_from = Profile::acceptance,
                       .applies = applies,
                       .judge = judge};

}  // namespace gpucheck
