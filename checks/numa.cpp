// Finds GPUs without a NUMA node on a machine with several: copies then start on the far socket and lose up
// to half their speed.
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

void judge(const Snapshot& snapshot, Findings& findings) {
    const Host& host = snapshot.host;
    if (!host.hypervisor.known() || !host.numa_nodes.known()) {
        const bool hypervisor = !host.hypervisor.known();
        findings.push_back(finding("gpu.numa.unread", Verdict::unknown, {},
                                   "the number of NUMA nodes on bare metal",
                                   hypervisor ? host.hypervisor.why() : host.numa_nodes.why(),
                                   hypervisor ? host.hypervisor.source() : host.numa_nodes.source()));
        return;
    }
    for (const Device& gpu : snapshot.gpus) {
        const Fact<int>& node = gpu.pci.numa_node;
        const std::string expected = "one of " + std::to_string(*host.numa_nodes) + " nodes";
        if (!node.known() || *node < -1) {
            findings.push_back(finding("gpu.numa.unread", Verdict::unknown, gpu.bdf, expected,
                                       node.known() ? std::to_string(*node) : node.why(), node.source()));
            continue;
        }
        const bool unset = *node == -1;
        findings.push_back(
            finding(unset ? "gpu.numa.unset" : kId, unset ? Verdict::warn : Verdict::pass, gpu.bdf, expected,
                    unset ? "-1: the firmware names none" : "node " + std::to_string(*node), node.source()));
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
