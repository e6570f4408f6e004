// Finds instances that were sold with NVLink or xGMI between their GPUs and have none: every collective then
// goes over PCIe at a tenth of the speed, and each GPU alone looks healthy.
#include <string>

#include "checks/all.h"
#include "checks/nvidia_fabric.h"
#include "checks/promise.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "gpu.link";

enum class Seen : std::uint8_t { up, none, unread, left_out };

struct Look {
    Seen seen = Seen::unread;
    Missing missing;  ///< unread
    std::string source;
};

Look look_at_nvlink(const Snapshot& snapshot, const Device& gpu) {
    const auto& links = newer(gpu.telemetry.first.nvidia.nvlinks, gpu.telemetry.last.nvidia.nvlinks);
    if (!links.known()) return {Seen::unread, links.missing(), links.source()};
    const Missing* unread = nullptr;
    for (const NvLink& link : *links) {
        if (link.active.is(true)) return {Seen::up, {}, link.active.source()};
        if (!link.active.known() && !not_offered(link.active.missing())) unread = &link.active.missing();
    }
    if (unread != nullptr) return {Seen::unread, *unread, unread->source};
    if (fabric_unfinished(gpu) && fabric_may_come(snapshot.host))
        return {Seen::unread, {links.source(), "the fabric is not ready yet"}, links.source()};
    return {Seen::none, {}, links.source()};
}

Look look_at_xgmi(const Device& gpu) {
    const std::string source = "/sys/class/kfd/kfd/topology";
    const Missing* unread = nullptr;
    for (const KfdNode& node : gpu.amd.kfd_nodes) {
        if (!node.xgmi_links.known()) {
            unread = &node.xgmi_links.missing();
        } else if (*node.xgmi_links > 0) {
            return {Seen::up, {}, node.xgmi_links.source()};
        }
    }
    if (unread != nullptr) return {Seen::unread, *unread, unread->source};
    if (gpu.amd.kfd_nodes.empty()) return {Seen::unread, {source, "KFD does not list it"}, source};
    return {Seen::none, {}, source};
}

Look look_at(const Snapshot& snapshot, const Device& gpu, bool nvlink) {
    // NVLink is off in MIG; a GPU without its driver, or outside the container, is another check's.
    if (!driven(gpu) || left_outside(snapshot, gpu) || sliced(gpu)) return {Seen::left_out, {}, {}};
    return nvlink ? look_at_nvlink(snapshot, gpu) : look_at_xgmi(gpu);
}

NotApplicable applies(const Snapshot& snapshot) {
    const Fact<std::string>& link = snapshot.expected.gpu_link;
    if (!link.known()) return "nobody promised a link between the GPUs";
    if (*link != "nvlink" && *link != "xgmi") return "no link between the GPUs was promised";
    const Vendor vendor = *link == "nvlink" ? Vendor::nvidia : Vendor::amd;
    if (driven_gpus(snapshot, vendor).size() < 2) return "fewer than two GPUs that " + *link + " could join";
    return std::nullopt;
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Fact<std::string>& link = snapshot.expected.gpu_link;
    const bool nvlink = *link == "nvlink";
    const std::string expected = *link + " at every GPU (" + link.source() + ")";
    Gpus up, none, unread;
    Missing why;
    std::string source;
    for (const Device* gpu : driven_gpus(snapshot, nvlink ? Vendor::nvidia : Vendor::amd)) {
        const Look look = look_at(snapshot, *gpu, nvlink);
        if (look.seen == Seen::left_out) continue;
        if (!look.source.empty()) source = look.source;
        if (look.seen == Seen::unread) why = look.missing;
        (look.seen == Seen::up ? up : look.seen == Seen::none ? none : unread).push_back(gpu);
    }
    const std::string observed = "up at " + count_of(up.size(), "GPU");
    if (!none.empty()) {
        // What a hypervisor shows of xGMI to virtual functions depends on its host driver: no proof there.
        const bool proof = nvlink || snapshot.host.bare_metal();
        findings.push_back(finding("gpu.link.missing", proof ? verdict_of_broken(link) : Verdict::warn, {},
                                   expected, observed + ", none at " + addresses(none), source));
    } else if (!unread.empty()) {
        findings.push_back(finding("gpu.link.unread", Verdict::unknown, {}, expected,
                                   observed + ", not known at " + addresses(unread) + ": " + why.why,
                                   why.source));
    } else if (up.empty()) {
        findings.push_back(
            finding(kId, Verdict::not_applicable, {}, expected, "slices of GPUs have no links", source));
    } else {
        findings.push_back(finding(kId, Verdict::pass, {}, expected, observed, source));
    }
}

}  // namespace

const Check kGpuLinkCheck{.id = kId,
                          .title = "Promised link between the GPUs",
                          .impact = Impact::passive,
                          .required_from = Profile::boot,
                          .applies = applies,
                          .judge = judge};

}  // namespace gpucheck
