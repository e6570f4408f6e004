// Finds GPUs that somebody pays for and did not get: missing from the bus, dead on it, without a driver, or
// unknown to their driver. Three counts are compared one by one, because each can be short by a GPU while the
// others look complete.
#include <algorithm>

#include "checks/all.h"
#include "checks/gpus.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "gpu.count";
constexpr std::uint16_t kAllOnes = 0xffff;  // what a read of a device that left the bus returns

// A function whose identity could not be read may be a GPU, unless what could be read says otherwise.
bool may_be_gpu(const PciFunction& function) {
    if (function.vendor.known() && !function.vendor.is(kAllOnes) && !function.vendor.is(0x10de) &&
        !function.vendor.is(0x1002)) {
        return false;
    }
    if (!function.class_code.known() || function.class_code.is(0xffffffU) ||
        function.class_code.is(0xffffffffU)) {
        return true;
    }
    const std::uint32_t base = function.class_code.value() >> 16;
    return base == 0x03 || base == 0x12;
}

struct Bus {
    Gpus found;
    std::vector<const PciFunction*> dead, unread;
};

Bus look_at(const Snapshot& snapshot) {
    Bus bus{own_gpus(snapshot), {}, {}};
    for (const PciFunction& function : snapshot.host.unreadable_functions) {
        if (!may_be_gpu(function)) continue;
        (function.vendor.is(kAllOnes) ? bus.dead : bus.unread).push_back(&function);
    }
    return bus;
}

std::string promise(const Snapshot& snapshot) {
    const Fact<unsigned>& expected = snapshot.expected.gpu_count;
    if (!expected.known()) return "a number of GPUs that nobody stated";
    return count_of(expected.value(), "GPU") + " (" + expected.source() + ")";
}

std::string looked_at(const Snapshot& snapshot, const Bus& bus) {
    std::string text = count_of(snapshot.host.pci_functions.value(), "PCI function") + ", ";
    if (bus.found.empty()) return text + "none a GPU of NVIDIA or AMD";
    return text + count_of(bus.found.size(), "GPU") + ": " + addresses(bus.found);
}

std::string names_of(const std::vector<const PciFunction*>& functions) {
    std::string text;
    for (const PciFunction* function : functions) {
        text += (text.empty() ? "" : ", ") + function->bdf.str();
        if (!function->vendor.known()) text += " (" + function->vendor.why() + ")";
    }
    return text;
}

void judge_dead(const Snapshot& snapshot, const Bus& bus, Findings& findings) {
    // With every promised GPU in sight, what died is something else, or more than was promised.
    const Fact<unsigned>& expected = snapshot.expected.gpu_count;
    const bool complete = expected.known() && bus.found.size() >= expected.value();
    for (const PciFunction* function : bus.dead) {
        findings.push_back(finding("gpu.bus.dead", complete ? Verdict::warn : Verdict::fail, function->bdf,
                                   "a device that answers", "reads of all ones (vendor ffff)",
                                   function->vendor.source()));
    }
}

void judge_bus(const Snapshot& snapshot, const Bus& bus, Findings& findings) {
    const Host& host = snapshot.host;
    const Fact<unsigned>& expected = snapshot.expected.gpu_count;
    const std::size_t found = bus.found.size();
    const auto say = [&](std::string_view code, Verdict verdict, const std::string& more = "") {
        findings.push_back(finding(code, verdict, {}, promise(snapshot), looked_at(snapshot, bus) + more,
                                   host.pci_functions.source()));
    };
    const std::string unread = bus.unread.empty() ? "" : "; could not be read: " + names_of(bus.unread);
    if (!expected.known()) {
        if (!bus.unread.empty()) return say("gpu.bus.unread", Verdict::unknown, unread);
        return found == 0 ? say("gpu.none.found", Verdict::unknown) : say(kId, Verdict::pass);
    }
    if (found < expected.value()) {
        if (found + bus.unread.size() >= expected.value())
            return say("gpu.bus.unread", Verdict::unknown, unread);
        return say("gpu.count.missing", Verdict::fail, unread);
    }
    // A container sees all GPUs of its host in /sys, whatever it was given.
    if (found > expected.value() && !host.in_container()) return say("gpu.count.extra", Verdict::warn);
    say(kId, Verdict::pass);
}

bool any_building(const Snapshot& snapshot, const Gpus& gpus) {
    return std::any_of(gpus.begin(), gpus.end(),
                       [&](const Device* gpu) { return driver_is_building(snapshot, gpu->vendor); });
}

void judge_bound(const Snapshot& snapshot, const Bus& bus, Findings& findings) {
    Gpus bound, unread, lent, idle;
    for (const Device* gpu : bus.found) {
        Gpus& kind = !gpu->pci.driver.known()             ? unread
                     : driven(*gpu) || split_by_gim(*gpu) ? bound
                     : lent_to_guest(*gpu)                ? lent
                                                          : idle;
        kind.push_back(gpu);
    }
    const Fact<unsigned>& expected = snapshot.expected.gpu_count;
    const std::size_t wanted = expected.known() ? std::min<std::size_t>(expected.value(), bus.found.size())
                                                : bus.found.size() - lent.size();
    std::string observed = count_of(bound.size(), "GPU") + " bound";
    if (!idle.empty()) observed += "; not: " + addresses(idle);
    if (!lent.empty()) observed += "; lent to virtual machines: " + addresses(lent);
    if (!unread.empty()) observed += "; could not be read: " + addresses(unread);
    std::string_view code = kId;
    Verdict verdict = Verdict::pass;
    if (bound.size() < wanted && any_building(snapshot, idle)) {
        code = "driver.dkms.building", verdict = Verdict::unknown;
    } else if (bound.size() < wanted) {
        const bool perhaps = bound.size() + unread.size() >= wanted;
        code = perhaps ? "gpu.count.unread" : "gpu.count.unbound";
        verdict = perhaps ? Verdict::unknown : Verdict::fail;
    }
    findings.push_back(finding(code, verdict, {}, count_of(wanted, "GPU") + " bound to amdgpu or nvidia",
                               observed, "/sys/bus/pci/devices/*/driver"));
}

// Whether the driver's own list names the GPU; nullopt when the list could not be read.
std::optional<bool> listed(const Host& host, const Device& gpu) {
    if (gpu.vendor == Vendor::amd) {
        if (!gpu.amd.kfd_nodes.empty()) return true;
        if (host.kfd.nodes_total.absent()) return false;
        if (!host.kfd.nodes_total.known() || !host.kfd.unreadable.empty()) return std::nullopt;
        // A node that matches no address may be this GPU's.
        if (!host.kfd.orphans.empty()) return std::nullopt;
        return false;
    }
    if (host.nvidia.proc_gpus.absent()) return false;
    if (!host.nvidia.proc_gpus.known()) return std::nullopt;
    const auto& names = host.nvidia.proc_gpus.value();
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return Bdf::parse(name) == gpu.bdf; });
}

void judge_listed(const Snapshot& snapshot, const Bus& bus, Findings& findings) {
    Gpus asked, unlisted, unread;
    for (const Device* gpu : bus.found) {
        // The NVIDIA container toolkit shows only the passed GPUs in /proc/driver/nvidia/gpus.
        if (!driven(*gpu) || !computes(*gpu) || left_outside(snapshot, *gpu)) continue;
        asked.push_back(gpu);
        const std::optional<bool> is_listed = listed(snapshot.host, *gpu);
        if (!is_listed) unread.push_back(gpu);
        if (is_listed == false) unlisted.push_back(gpu);
    }
    if (asked.empty()) return;
    std::string observed = count_of(asked.size() - unlisted.size() - unread.size(), "GPU") + " listed";
    if (!unlisted.empty()) observed += "; not: " + addresses(unlisted);
    if (!unread.empty()) observed += "; could not be read: " + addresses(unread);
    const bool short_list = !unlisted.empty();
    findings.push_back(finding(short_list       ? "gpu.count.unlisted"
                               : unread.empty() ? kId
                                                : "gpu.count.unread",
                               short_list       ? Verdict::fail
                               : unread.empty() ? Verdict::pass
                                                : Verdict::unknown,
                               {}, "each bound GPU in its driver's own list", observed,
                               "/proc/driver/nvidia/gpus, /sys/class/kfd/kfd/topology"));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Fact<unsigned>& functions = snapshot.host.pci_functions;
    if (!functions.known()) {
        findings.push_back(finding("gpu.count.unread", Verdict::unknown, {}, promise(snapshot),
                                   functions.why(), functions.source()));
        return;
    }
    const Bus bus = look_at(snapshot);
    judge_dead(snapshot, bus, findings);
    judge_bus(snapshot, bus, findings);
    if (bus.found.empty()) return;
    judge_bound(snapshot, bus, findings);
    judge_listed(snapshot, bus, findings);
}

}  // namespace

const Check kGpuCountCheck{.id = kId,
                           .title = "Number of GPUs",
                           .impact = Impact::passive,
                           .required_from = Profile::quick,
                           .applies = nullptr,
                           .judge = judge};

}  // namespace gpucheck
