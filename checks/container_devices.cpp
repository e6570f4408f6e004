// Finds containers that were given fewer GPUs than they see: /sys shows the host's eight, /dev holds one, and
// a count taken from either alone is wrong.
#include <algorithm>

#include "checks/all.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "container.devices";

NotApplicable applies(const Snapshot& snapshot) {
    if (snapshot.host.container.is("none")) return "not in a container";
    if (snapshot.gpus.empty()) return "no GPU found";
    return std::nullopt;
}

enum class Passed { yes, no, not_looked_at };

/// Whether the GPU's own compute node is in this container; that it opens is the matter of the node checks.
Passed passed(const Device& gpu) {
    Passed result = Passed::no;
    for (const DeviceNode& node : gpu.nodes) {
        if (node.kind != NodeKind::nvidia_gpu && node.kind != NodeKind::render) continue;
        if (node.stat.known()) return Passed::yes;
        if (!node.stat.absent()) result = Passed::not_looked_at;
    }
    return result;
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Host& host = snapshot.host;
    if (!host.container.known()) {
        findings.push_back(finding("container.unread", Verdict::unknown, {}, "container or not",
                                   host.container.why(), host.container.source()));
        return;
    }
    std::size_t given = 0;
    std::size_t unread = 0;
    for (const Device& gpu : snapshot.gpus) {
        const Passed state = passed(gpu);
        given += state == Passed::yes ? 1 : 0;
        unread += state == Passed::not_looked_at ? 1 : 0;
    }
    const std::size_t seen = snapshot.gpus.size();
    std::string observed = std::to_string(given) + " of the " + std::to_string(seen) +
                           " GPUs in /sys have a node in this " + *host.container + " container";
    if (host.process.user_namespace.is(true))
        observed += " (user namespace: uid 0 is not the machine's root)";

    const Fact<unsigned>& promised = snapshot.expected.gpu_count;
    const std::size_t wanted = promised.known() ? std::min<std::size_t>(*promised, seen) : seen;
    const std::string expected =
        std::to_string(wanted) + (promised.known() ? " (" + promised.source() + ")" : "");
    if (given >= wanted) {
        findings.push_back(finding(kId, Verdict::pass, {}, expected, observed, "device nodes"));
    } else if (given + unread >= wanted) {
        findings.push_back(finding("container.unread", Verdict::unknown, {}, expected,
                                   observed + "; " + std::to_string(unread) + " could not be looked at",
                                   "device nodes"));
    } else if (promised.known()) {
        findings.push_back(
            finding("container.devices.missing", Verdict::fail, {}, expected, observed, "device nodes"));
    } else {
        // A container may be meant to have one GPU of eight.
        findings.push_back(
            finding("container.devices.partial", Verdict::warn, {}, expected, observed, "device nodes"));
    }
}

}  // namespace

const Check kContainerDevicesCheck{.id = kId,
                                   .title = "GPUs passed to the container",
                                   .impact = Impact::passive,
                                   .required_from = Profile::acceptance,
                                   .applies = applies,
                                   .judge = judge};

}  // namespace gpucheck
