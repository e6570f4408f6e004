// Finds AMD GPUs that are driven and yet cannot compute: KFD left them out, took them for another chip, or split
// the machine's GPUs into islands.
#include <algorithm>
#include <map>

#include "checks/all.h"
#include "checks/gpus.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "kfd.topology";
constexpr const char* kSource = "/sys/class/kfd/kfd/topology";
// Linux include/uapi/linux/kfd_sysfs.h: HSA_CAP_MEM_EDCSUPPORTED and HSA_CAP_SRAM_EDCSUPPORTED.
constexpr std::uint64_t kMemoryEcc = 0x00100000;
constexpr std::uint64_t kSramEcc = 0x04000000;

// gfx_target_version is decimal MMmmss, and the stepping of the name is hexadecimal: 90010 is gfx90a, 90402
// gfx942.
std::string gfx_name(std::uint64_t version) {
    if (version == 0 || version > 999999) return "gfx(" + std::to_string(version) + ")";
    constexpr std::string_view kHex = "0123456789abcdef";
    const std::uint64_t minor = version / 100 % 100, stepping = version % 100;
    if (minor > 15 || stepping > 15) return "gfx(" + std::to_string(version) + ")";
    return "gfx" + std::to_string(version / 10000) + kHex[minor] + kHex[stepping];
}

// An orphan node of the same chip: the GPU may have a node that only could not be matched with its address.
bool perhaps_orphaned(const Host& host, const Device& gpu) {
    return std::any_of(host.kfd.orphans.begin(), host.kfd.orphans.end(), [&](const KfdNode& node) {
        return !node.device_id.known() || !gpu.pci.device.known() ||
               node.device_id.is(gpu.pci.device.value());
    });
}

Finding judge_absent(const Snapshot& snapshot, const Device& gpu) {
    const Host& host = snapshot.host;
    const std::string expected = "a KFD node for " + board_name(gpu);
    if (!host.kfd.unreadable.empty() || perhaps_orphaned(host, gpu)) {
        return finding("kfd.unread", Verdict::unknown, gpu.bdf, expected,
                       host.kfd.unreadable.empty()
                           ? "no node with this address, but one that matches no address"
                           : "not among the nodes that could be read",
                       kSource);
    }
    Finding absent = finding("kfd.gpu.absent", computes(gpu) ? Verdict::fail : Verdict::warn, gpu.bdf,
                             expected, "bound to amdgpu, no KFD node", kSource);
    if (host.virtual_machine())
        absent.scope = Scope::host;  // PCIe atomics are the hypervisor's to route (ROCm/ROCm#1214)
    return absent;
}

void judge_chip(const Device& gpu, Findings& findings) {
    if (!gpu.board.known() || gpu.board->arch.empty()) return;
    for (const KfdNode& node : gpu.amd.kfd_nodes) {
        if (!node.gfx_target_version.known()) continue;
        const std::string name = gfx_name(node.gfx_target_version.value());
        if (name == gpu.board->arch) continue;
        findings.push_back(
            finding("kfd.gfx.wrong", Verdict::fail, gpu.bdf, gpu.board->arch + " (" + gpu.board->name + ")",
                    name + " (gfx_target_version " + std::to_string(node.gfx_target_version.value()) + ")",
                    node.gfx_target_version.source()));
        return;
    }
}

// Eight OAM boards on bare metal share one xGMI hive; bridged PCIe cards come in several hives, and a guest
// sees what it is given.
void judge_hive(const Snapshot& snapshot, const Gpus& gpus, Findings& findings) {
    std::map<std::uint64_t, Gpus> hives;
    std::size_t oam = 0;
    for (const Device* gpu : gpus) {
        if (!gpu->board.known() || gpu->board->form != FormFactor::oam || gpu->board->virtual_function)
            continue;
        if (gpu->amd.kfd_nodes.empty() || !gpu->amd.kfd_nodes.front().hive_id.known()) return;
        hives[gpu->amd.kfd_nodes.front().hive_id.value()].push_back(gpu);
        ++oam;
    }
    if (!snapshot.host.bare_metal() || oam < 2) return;
    const bool whole = hives.size() == 1 && hives.begin()->first != 0;
    std::string observed;
    for (const auto& [id, members] : hives) {
        observed += (observed.empty() ? "" : "; ") +
                    (id == 0 ? std::string("none") : "hive " + std::to_string(id)) + ": " +
                    addresses(members);
    }
    findings.push_back(finding(whole ? kId : "kfd.hive.split", whole ? Verdict::pass : Verdict::warn, {},
                               "all " + count_of(oam, "OAM GPU") + " in one xGMI hive", observed, kSource));
}

// What the nodes of a GPU said; what they did not say is not claimed.
std::string described(const AmdGpu& gpu) {
    const KfdNode& first = gpu.kfd_nodes.front();
    std::string text = count_of(gpu.kfd_nodes.size(), "node");
    text += first.gfx_target_version.known() ? ", " + gfx_name(first.gfx_target_version.value())
                                             : ", chip not stated";
    if (first.capability.known()) {
        const bool on =
            (first.capability.value() & kMemoryEcc) != 0 && (first.capability.value() & kSramEcc) != 0;
        text += on ? ", ECC on" : ", ECC not on";
    } else {
        text += ", ECC not stated";
    }
    return text;
}

void judge_host(const Host& host, Findings& findings) {
    if (!host.kfd.orphans.empty()) {
        std::string nodes;
        for (const KfdNode& node : host.kfd.orphans)
            nodes += (nodes.empty() ? "" : ", ") + std::to_string(node.node);
        findings.push_back(finding("kfd.orphan", Verdict::warn, {}, "a PCI function for each KFD GPU node",
                                   "none for node " + nodes, kSource));
    }
    if (host.kfd.unreadable.empty() || host.in_container())
        return;  // a device cgroup hides the nodes of other containers
    std::string nodes;
    for (const std::string& node : host.kfd.unreadable) nodes += (nodes.empty() ? "" : ", ") + node;
    findings.push_back(finding("kfd.unread", Verdict::unknown, {}, "readable KFD nodes",
                               "could not be read: " + nodes, kSource));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Host& host = snapshot.host;
    const Fact<unsigned>& total = host.kfd.nodes_total;
    const Gpus gpus = driven_gpus(snapshot, Vendor::amd);
    if (!total.known()) {
        const bool really = total.absent() && !host.in_container();
        findings.push_back(finding(really ? "kfd.absent" : "kfd.unread",
                                   really ? Verdict::fail : Verdict::unknown, {},
                                   "a KFD topology, as amdgpu drives " + count_of(gpus.size(), "GPU"),
                                   really ? "none in this kernel" : total.why(), total.source()));
        return;
    }
    judge_host(host, findings);
    for (const Device* gpu : gpus) {
        if (gpu->amd.kfd_nodes.empty()) {
            findings.push_back(left_outside(snapshot, *gpu)
                                   ? finding(kId, Verdict::not_applicable, gpu->bdf, "",
                                             "not passed into this container", kSource)
                                   : judge_absent(snapshot, *gpu));
            continue;
        }
        const std::size_t before = findings.size();
        judge_chip(*gpu, findings);
        if (findings.size() == before) {
            findings.push_back(finding(kId, Verdict::pass, gpu->bdf, "a KFD node for " + board_name(*gpu),
                                       described(gpu->amd), kSource));
        }
    }
    judge_hive(snapshot, gpus, findings);
}

}  // namespace

const Check kKfdCheck{.id = kId,
                      .title = "KFD topology",
                      .impact = Impact::passive,
                      .required_from = Profile::boot,
                      .applies = without_driven_amd,
                      .judge = judge};

}  // namespace gpucheck
