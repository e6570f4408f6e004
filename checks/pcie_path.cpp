// Finds the slow hop above a GPU: a card at full width behind a switch port at x4 looks perfect from its own
// registers.
#include <algorithm>

#include "checks/all.h"
#include "checks/model/wiring.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "pcie.path";

NotApplicable applies(const Snapshot& snapshot) {
    if (snapshot.gpus.empty()) return "no GPU found";
    // A guest sees ports that its hypervisor made up (cloud-hypervisor#4375): no verdict on them.
    if (snapshot.host.virtual_machine())
        return "the ports above a GPU in a virtual machine are the hypervisor's";
    return std::nullopt;
}

/// Lanes that every hop must have: the GPU's own, or fewer where somebody promised fewer. The GPU's own
/// shortage is the matter of pcie.width.
unsigned lanes_needed(const Snapshot& snapshot, const Device& gpu) {
    const unsigned own = *gpu.pci.link.current_width;
    const Fact<unsigned>& promised = snapshot.expected.pcie_width;
    return promised.known() && is_link_width(*promised) ? std::min(own, *promised) : own;
}

struct Reach {
    LinkSpeed speed = LinkSpeed::unknown;
    unsigned lanes = 0;
    bool promised = false;
};

/// What the slot should carry: a promise, the board's row, or what the GPU itself offers.
Reach wanted_reach(const Snapshot& snapshot, const Device& gpu) {
    Reach reach;
    if (gpu.pci.link.max_speed.known()) reach.speed = *gpu.pci.link.max_speed;
    if (gpu.pci.link.max_width.known()) reach.lanes = *gpu.pci.link.max_width;
    if (const auto speed = wanted_speed(snapshot, gpu)) {
        reach.speed = speed->speed;
        reach.promised = speed->promised;
    }
    if (const auto width = wanted_width(snapshot, gpu)) {
        reach.lanes = width->lanes;
        reach.promised = reach.promised || width->promised;
    }
    return reach;
}

struct Limit {
    const PciPort* port = nullptr;
    double gb_s = 0;
};

/// The slowest of what the ports could do at most (LnkCap); ports that do not say are left out. The nearest
/// port shares its link with the GPU, so neither speed nor lanes beyond the GPU's help; behind a switch only
/// the rate counts.
Limit slowest_slot(const Device& gpu, const Reach& wanted) {
    Limit slowest;
    for (const PciPort& port : gpu.pci.path) {
        if (port.emulated() || !port.link.max_speed.known() || !port.link.max_width.known()) continue;
        LinkSpeed speed = *port.link.max_speed;
        unsigned lanes = *port.link.max_width;
        if (&port == &gpu.pci.path.front()) {
            speed = std::min(speed, wanted.speed);
            lanes = std::min(lanes, wanted.lanes);
        }
        const auto rate = link_bandwidth_gb_s(speed, lanes);
        if (rate && (slowest.port == nullptr || *rate < slowest.gb_s)) slowest = {&port, *rate};
    }
    return slowest;
}

Finding narrow_hop(const Device& gpu, const PciPort& port, unsigned needed) {
    const unsigned width = *port.link.current_width;
    std::string observed = "x" + std::to_string(width) + " at " + port.bdf.str();
    // Idle links slow down but keep their width, so the loss is stated at the speed that both ends can reach.
    const std::optional<PathBandwidth> best = path_bandwidth(gpu.pci, true);
    const LinkSpeed speed = best ? best->speed : LinkSpeed::unknown;
    const auto now = link_bandwidth_gb_s(speed, width);
    const auto full = link_bandwidth_gb_s(speed, needed);
    if (now && full)
        observed +=
            ": " + rate_text(*now) + " of " + rate_text(*full) + ", " + rate_text(*full - *now) + " lost";
    return finding("pcie.path.narrow", Verdict::fail, gpu.bdf, "x" + std::to_string(needed) + " on every hop",
                   observed, port.link.current_width.source());
}

/// A slot that can never carry what the GPU should get; nullopt when every slot can.
std::optional<Finding> slow_slot(const Snapshot& snapshot, const Device& gpu) {
    const Reach wanted = wanted_reach(snapshot, gpu);
    const auto wanted_rate = link_bandwidth_gb_s(wanted.speed, wanted.lanes);
    const Limit slot = slowest_slot(gpu, wanted);
    if (!wanted_rate || slot.port == nullptr || slot.gb_s >= *wanted_rate) return std::nullopt;
    const PciLink& link = slot.port->link;
    const bool by_design =
        !wanted.promised && narrow_by_design(gpu, *link.max_width) && *link.max_speed >= wanted.speed;
    if (by_design) return std::nullopt;
    return finding("pcie.path.slot_slow", wanted.promised ? Verdict::fail : Verdict::warn, gpu.bdf,
                   link_text(wanted.speed, wanted.lanes) + " (" + rate_text(*wanted_rate) + ")",
                   slot.port->bdf.str() + " can do " + link_text(*link.max_speed, *link.max_width) +
                       " at most (" + rate_text(slot.gb_s) + ")",
                   link.max_speed.source());
}

Finding judge_ports(const Snapshot& snapshot, const Device& gpu) {
    const unsigned needed = lanes_needed(snapshot, gpu);
    const PciPort* narrow = nullptr;
    const PciPort* unread = nullptr;
    std::size_t judged = 0;
    for (const PciPort& port : gpu.pci.path) {
        if (port.emulated() || is_virtual_link(port.link)) continue;
        const Fact<unsigned>& width = port.link.current_width;
        if (reads_all_ones(port.link, port.vendor)) {
            return finding("pcie.link.dead", Verdict::fail, gpu.bdf, "a port that answers",
                           port.bdf.str() + ": reads of all ones", width.source());
        }
        if (!width.known() || !is_link_width(*width)) {
            if (unread == nullptr) unread = &port;
            continue;
        }
        ++judged;
        if (*width >= needed || (!snapshot.expected.pcie_width.known() && narrow_by_design(gpu, *width)))
            continue;
        const bool as_built = port.link.max_width.is(*width);  // the slot has no more lanes: slow_slot speaks
        if (as_built) continue;
        if (narrow == nullptr || *width < *narrow->link.current_width) narrow = &port;
    }
    if (narrow != nullptr) return narrow_hop(gpu, *narrow, needed);
    if (auto slot = slow_slot(snapshot, gpu)) return std::move(*slot);
    if (unread != nullptr) {
        const Fact<unsigned>& width = unread->link.current_width;
        return finding(
            "pcie.path.unread", Verdict::unknown, gpu.bdf, "the width of every port above the GPU",
            unread->bdf.str() + ": " + (width.known() ? "x" + std::to_string(*width) : width.why()),
            width.source());
    }
    if (judged == 0) {
        return finding("pcie.path.unread", Verdict::unknown, gpu.bdf, "ports above the GPU",
                       "none was listed", gpu.pci.link.current_width.source());
    }
    const std::optional<PathBandwidth> now = path_bandwidth(gpu.pci, false);
    return finding(kId, Verdict::pass, gpu.bdf, "x" + std::to_string(needed) + " on every hop",
                   now ? link_text(now->speed, now->width) + " at the slowest of " + std::to_string(judged) +
                             " ports, now"
                       : std::to_string(judged) + " ports",
                   gpu.pci.path.front().link.current_width.source());
}

Finding judge_gpu(const Snapshot& snapshot, const Device& gpu) {
    const Fact<unsigned>& width = gpu.pci.link.current_width;
    if (on_superchip(gpu) || is_virtual_link(gpu.pci.link)) {
        return finding(kId, Verdict::not_applicable, gpu.bdf, "a PCIe link to the host",
                       "a coherent or virtual port", width.source());
    }
    if (!snapshot.host.hypervisor.known()) {
        return finding("pcie.path.unread", Verdict::unknown, gpu.bdf, "bare metal or virtual machine",
                       snapshot.host.hypervisor.why(), snapshot.host.hypervisor.source());
    }
    if (asleep(gpu.pci) || !width.known() || !is_link_width(*width)) {
        return finding("pcie.path.unread", Verdict::unknown, gpu.bdf, "the GPU's own width",
                       asleep(gpu.pci) ? "runtime suspended"
                       : width.known() ? "x" + std::to_string(*width)
                                       : width.why(),
                       width.source());
    }
    return judge_ports(snapshot, gpu);
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device& gpu : snapshot.gpus) findings.push_back(judge_gpu(snapshot, gpu));
}

}  // namespace

const Check kPciePathCheck{.id = kId,
                           .title = "PCIe path up to the root port",
                           .impact = Impact::passive,
                           .required_from = Profile::quick,
                           .applies = applies,
                           .judge = judge};

}  // namespace gpucheck
