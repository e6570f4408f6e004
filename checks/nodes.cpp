// Finds device nodes that the judged process cannot open: the GPUs are fine and every program says "no GPU
// found". Each errno has another cause and another cure, which the vendors' tools do not tell apart.
#include <algorithm>

#include "checks/all.h"
#include "checks/gpus.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nodes.access";

/// Codes of the errors that mean something else on each kind of node.
struct NodeCodes {
    std::string_view missing, denied, cgroup, mismatch;
};
constexpr NodeCodes kKfd{"kfd.node.missing", "kfd.node.denied", "kfd.node.cgroup", "kfd.node.mismatch"};
constexpr NodeCodes kRender{"render.node.missing", "render.node.denied", "render.node.cgroup",
                            "render.node.mismatch"};
constexpr NodeCodes kNvidia{"nvidia.node.missing", "nvidia.node.denied", "nvidia.node.cgroup",
                            "nvidia.node.mismatch"};

bool is_nvidia(NodeKind kind) {
    return kind == NodeKind::nvidia_gpu || kind == NodeKind::nvidia_ctl || kind == NodeKind::nvidia_uvm;
}

const NodeCodes& codes_of(NodeKind kind) {
    if (kind == NodeKind::kfd) return kKfd;
    return is_nvidia(kind) ? kNvidia : kRender;
}

std::string octal(unsigned mode) {
    std::string text;
    for (int shift = 9; shift >= 0; shift -= 3) text += static_cast<char>('0' + ((mode >> shift) & 7U));
    return text;
}

std::string gid_text(const Host& host, unsigned gid) {
    for (const GroupEntry& group : host.groups) {
        if (group.gid == gid) return std::to_string(gid) + " (" + group.name + ")";
    }
    return std::to_string(gid) + " (no name here)";
}

// "mode 0660, uid 0, gid 109 (render); the process has uid 1000, gids 1000 44": numbers, because only they
// count in containers.
std::string ownership(const Host& host, const DeviceNode& node) {
    std::string text;
    if (node.stat.known()) {
        const NodeStat& stat = node.stat.value();
        text = "; mode " + octal(stat.mode) + ", uid " + std::to_string(stat.uid) + ", gid " +
               gid_text(host, stat.gid);
    }
    if (!host.process.uid.known()) return text;
    text += "; the process has uid " + std::to_string(host.process.uid.value());
    if (host.process.user_namespace.is(true)) text += " in a user namespace";
    if (!host.process.gids.known()) return text;
    text += ", gids";
    for (const unsigned gid : host.process.gids.value()) text += " " + std::to_string(gid);
    return text;
}

// A /dev of the NVIDIA driver is filled on demand by the setuid nvidia-modprobe, unless the driver is told to
// leave it alone; a container has to be given its nodes (NVIDIA/nvidia-docker#526).
bool made_on_demand(const Host& host) {
    if (host.in_container()) return false;
    return std::none_of(host.nvidia.params.begin(), host.nvidia.params.end(), [](const NamedText& param) {
        return param.name == "ModifyDeviceFiles" && param.text == "0";
    });
}

Finding judge_missing(const Host& host, const DeviceNode& node, const std::string& source) {
    const bool later = is_nvidia(node.kind) && made_on_demand(host);
    Finding missing = finding(codes_of(node.kind).missing, later ? Verdict::warn : Verdict::fail, node.path,
                              "open(O_RDWR) ok", later ? "ENOENT: not made yet" : "ENOENT", source);
    if (host.in_container()) missing.message = "The container was started without " + node.path;
    return missing;
}

// What stands at the path may be something else than the driver's node: docker makes a folder where the
// source of a volume is missing, and a copied /dev keeps numbers of another boot.
std::optional<Finding> judge_identity(const DeviceNode& node) {
    if (!node.stat.known()) return std::nullopt;
    const NodeStat& stat = node.stat.value();
    if (stat.type != "char") {
        return finding("node.type.wrong", Verdict::fail, node.path, "a character device", "a " + stat.type,
                       node.stat.source());
    }
    const bool major = node.expected_major.known() && node.expected_major.value() != stat.major;
    const bool minor = node.expected_minor.known() && node.expected_minor.value() != stat.minor;
    if (!major && !minor) return std::nullopt;
    const auto number = [](const Fact<unsigned>& fact) {
        return fact.known() ? std::to_string(fact.value()) : std::string("?");
    };
    return finding("node.number.wrong", Verdict::fail, node.path,
                   number(node.expected_major) + ":" + number(node.expected_minor),
                   std::to_string(stat.major) + ":" + std::to_string(stat.minor), node.stat.source());
}

Finding judge_errno(const Host& host, const DeviceNode& node) {
    const std::string& error = node.open_rw.value();
    const NodeCodes& codes = codes_of(node.kind);
    const auto say = [&](std::string_view code, Verdict verdict) {
        return finding(code, verdict, node.path, "open(O_RDWR) ok", error + ownership(host, node),
                       node.open_rw.source());
    };
    if (error == "EACCES") return say(codes.denied, Verdict::fail);
    if (error == "EPERM") return say(codes.cgroup, Verdict::fail);
    if (error == "EINVAL") return say(codes.mismatch, Verdict::fail);
    if (error == "ENXIO" || error == "ENODEV") return say("node.open.gone", Verdict::fail);
    if (error == "EIO") return say("node.open.io", Verdict::fail);
    if (error == "EBUSY" || error == "EAGAIN") return say("node.open.busy", Verdict::unknown);
    return say("node.open.error",
               Verdict::unknown);  // EMFILE, ENOMEM and others that say nothing about the node
}

Finding judge_unopened(const DeviceNode& node) {
    const std::string why = node.open_rw.known() ? node.stat.why() : node.open_rw.why();
    const bool hangs =
        why.find("did not return") != std::string::npos;  // what the probe and the supervisor write
    return finding(hangs ? "node.open.hangs" : "node.unread", Verdict::unknown, node.path, "open(O_RDWR) ok",
                   why, node.open_rw.source());
}

Finding judge_node(const Host& host, const DeviceNode& node) {
    const bool absent = node.stat.absent() && (!node.open_rw.known() || node.open_rw.is("ENOENT"));
    if (absent) return judge_missing(host, node, node.stat.source());
    if (std::optional<Finding> wrong = judge_identity(node)) return std::move(*wrong);
    if (!node.open_rw.known()) return judge_unopened(node);
    if (!node.open_rw.is("ok")) {
        if (node.open_rw.is("ENOENT") && !node.stat.known())
            return judge_missing(host, node, node.open_rw.source());
        return judge_errno(host, node);
    }
    if (!node.stat.known()) return judge_unopened(node);
    return finding(kId, Verdict::pass, node.path, "open(O_RDWR) ok", "ok, mode " + octal(node.stat->mode),
                   node.open_rw.source());
}

// Monitoring tools open card*, computing does not (ROCm/amdsmi#184).
Finding judge_card(const Host& host, const DeviceNode& node) {
    if (node.open_rw.is("EACCES") || node.open_rw.is("EPERM")) {
        return finding("card.node.denied", Verdict::warn, node.path, "open(O_RDWR) ok",
                       node.open_rw.value() + ownership(host, node), node.open_rw.source());
    }
    const bool ok = node.open_rw.is("ok");
    return finding(
        kId, ok ? Verdict::pass : Verdict::not_applicable, node.path, "open(O_RDWR) ok",
        ok ? "ok"
           : (node.open_rw.known() ? node.open_rw.value() : node.open_rw.why()) + "; not needed to compute",
        node.open_rw.source());
}

void judge_shared(const Host& host, NodeKind kind, const char* path, Findings& findings) {
    bool seen = false;
    for (const DeviceNode& node : host.nodes) {
        if (node.kind != kind) continue;
        seen = true;
        findings.push_back(judge_node(host, node));
    }
    if (!seen) {
        findings.push_back(
            finding("node.unread", Verdict::unknown, path, "open(O_RDWR) ok", "not looked at", path));
    }
}

// A container gets its nodes one by one: what was not passed is a fault only when the promised number is not
// reached.
void judge_unpassed(const Snapshot& snapshot, const Gpus& outside, Vendor vendor, Findings& findings) {
    if (outside.empty()) return;
    Gpus missing;
    for (const Device* gpu : outside) {
        if (left_outside(snapshot, *gpu)) {
            findings.push_back(finding(kId, Verdict::not_applicable, gpu->bdf, "",
                                       "not passed into this container", "/dev"));
        } else {
            missing.push_back(gpu);
        }
    }
    if (missing.empty()) return;
    const Fact<unsigned>& promised = snapshot.expected.gpu_count;
    Finding none = finding(
        vendor == Vendor::amd ? kRender.missing : kNvidia.missing, Verdict::fail, {},
        promised.known() ? "nodes of " + count_of(promised.value(), "GPU") : "nodes of at least one GPU",
        "no node in this container for " + addresses(missing), "/dev");
    none.message = "The container was started without nodes of GPUs";
    findings.push_back(std::move(none));
}

// True when the GPU's own node stands in this container, or this is no container.
bool judge_gpu(const Snapshot& snapshot, const Device& gpu, Findings& findings) {
    const NodeKind wanted = gpu.vendor == Vendor::amd ? NodeKind::render : NodeKind::nvidia_gpu;
    const Host& host = snapshot.host;
    const auto is_own = [&](const DeviceNode& node) { return node.kind == wanted; };
    const auto own = std::count_if(gpu.nodes.begin(), gpu.nodes.end(), is_own);
    const bool any_there = std::any_of(gpu.nodes.begin(), gpu.nodes.end(), [&](const DeviceNode& node) {
        return is_own(node) && !node.stat.absent();
    });
    if (own == 0) {
        findings.push_back(finding("node.unread", Verdict::unknown, gpu.bdf, "its node open",
                                   "which node it has is not known",
                                   gpu.vendor == Vendor::amd ? "/dev/dri" : "/proc/driver/nvidia/gpus"));
        return true;
    }
    if (host.in_container() && !any_there) return false;
    for (const DeviceNode& node : gpu.nodes) {
        if (node.kind == NodeKind::card && gpu.vendor == Vendor::amd)
            findings.push_back(judge_card(host, node));
        if (!is_own(node)) continue;
        if (host.in_container() && node.stat.absent()) {  // another partition of a GPU that was passed
            findings.push_back(finding(kId, Verdict::not_applicable, node.path, "",
                                       "not passed into this container", "/dev"));
        } else {
            findings.push_back(judge_node(host, node));
        }
    }
    return true;
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Host& host = snapshot.host;
    for (const Vendor vendor : {Vendor::nvidia, Vendor::amd}) {
        const Gpus gpus = driven_gpus(snapshot, vendor);
        if (gpus.empty()) continue;
        if (vendor == Vendor::nvidia) {
            judge_shared(host, NodeKind::nvidia_ctl, "/dev/nvidiactl", findings);
            judge_shared(host, NodeKind::nvidia_uvm, "/dev/nvidia-uvm", findings);
        } else if (!host.kfd.nodes_total
                        .absent()) {  // without KFD in the kernel there is no node: kfd.topology says so
            judge_shared(host, NodeKind::kfd, "/dev/kfd", findings);
        }
        Gpus outside;
        for (const Device* gpu : gpus) {
            if (!judge_gpu(snapshot, *gpu, findings)) outside.push_back(gpu);
        }
        judge_unpassed(snapshot, outside, vendor, findings);
    }
    for (const Device* gpu : own_gpus(snapshot)) {
        if (driven(*gpu)) continue;
        findings.push_back(finding(kId, Verdict::not_applicable, gpu->bdf, "",
                                   "not bound to its driver: no nodes yet", gpu->pci.driver.source()));
    }
}

}  // namespace

const Check kNodesCheck{.id = kId,
                        .title = "Device nodes",
                        .impact = Impact::passive,
                        .required_from = Profile::quick,
                        .applies = without_any_driven,
                        .judge = judge};

}  // namespace gpucheck
