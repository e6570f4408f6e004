// Finds masks that hide GPUs from programs: every tool then says "no GPU" or uses half of a machine whose
// hardware is fine.
#include <algorithm>
#include <charconv>
#include <cstdint>

#include "checks/all.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "env.visible";

NotApplicable applies(const Snapshot& snapshot) {
    return snapshot.gpus.empty() ? NotApplicable("no GPU found") : std::nullopt;
}

const NamedText* variable(const Snapshot& snapshot, std::string_view name) {
    for (const NamedText& entry : snapshot.host.process.env) {
        if (entry.name == name) return &entry;
    }
    return nullptr;
}

/// What one list leaves of `before` devices.
struct Mask {
    std::size_t left = 0;
    bool beyond = false;  ///< an index that the list in front of it does not leave
    bool slices = false;  ///< names MIG instances: counts say nothing about GPUs then
};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

/// Both vendors read the list up to its first invalid entry; "-1" and "NoDevFiles" are such entries, used to
/// hide everything.
Mask read_mask(std::string_view list, std::size_t before) {
    Mask mask;
    std::vector<std::uint64_t> seen;
    while (!list.empty() && mask.left < before) {
        const std::size_t comma = std::min(list.find(','), list.size());
        const std::string_view entry = trimmed(list.substr(0, comma));
        list.remove_prefix(std::min(comma + 1, list.size()));
        if (entry.starts_with("GPU-") || entry.starts_with("MIG-")) {
            mask.slices = mask.slices || entry.starts_with("MIG-");
            ++mask.left;
            continue;
        }
        std::uint64_t index = 0;
        const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
        if (entry.empty() || error == std::errc::invalid_argument || end != entry.data() + entry.size())
            break;
        if (error != std::errc{} || index >= before) {
            mask.beyond = true;
            break;
        }
        if (std::find(seen.begin(), seen.end(), index) != seen.end()) continue;
        seen.push_back(index);
        ++mask.left;
    }
    return mask;
}

std::string text_of_variable(const NamedText& entry) {
    return entry.name + "=" + (entry.text.empty() ? "\"\"" : entry.text);
}

/// The verdict on what is left in the end.
Finding judge_left(const Snapshot& snapshot, const Mask& mask, std::size_t total,
                   const std::string& observed) {
    if (mask.left == 0) {
        return finding("env.visible.none", Verdict::fail, {}, std::to_string(total) + " GPUs",
                       observed + " hides every GPU", "environment");
    }
    const Fact<unsigned>& promised = snapshot.expected.gpu_count;
    const std::size_t wanted = promised.known() ? std::min<std::size_t>(*promised, total) : total;
    if (!mask.slices && mask.left < wanted) {
        return finding("env.visible.some", Verdict::warn, {}, std::to_string(wanted) + " GPUs",
                       observed + " leaves " + std::to_string(mask.left), "environment");
    }
    return finding(kId, Verdict::pass, {}, std::to_string(wanted) + " GPUs", observed + " hides none",
                   "environment");
}

Finding nothing_set(Vendor vendor) {
    return finding(kId, Verdict::pass, {}, "no mask", "no " + std::string(name_of(vendor)) + " mask set",
                   "environment");
}

Finding judge_nvidia(const Snapshot& snapshot, std::size_t total) {
    const NamedText* list = variable(snapshot, "CUDA_VISIBLE_DEVICES");
    if (list == nullptr) return nothing_set(Vendor::nvidia);
    return judge_left(snapshot, read_mask(list->text, total), total, text_of_variable(*list));
}

/// ROCr's mask comes first; HIP counts within what it leaves and takes CUDA_VISIBLE_DEVICES where its own
/// name is not set.
Finding judge_amd(const Snapshot& snapshot, std::size_t total) {
    const NamedText* outer = variable(snapshot, "ROCR_VISIBLE_DEVICES");
    const NamedText* inner = variable(snapshot, "HIP_VISIBLE_DEVICES");
    if (inner == nullptr) inner = variable(snapshot, "CUDA_VISIBLE_DEVICES");
    if (outer == nullptr && inner == nullptr) return nothing_set(Vendor::amd);

    // An empty list hides nothing in some HIP versions and everything in others (ROCm/hip#3001).
    const NamedText* empty = outer != nullptr && outer->text.empty()   ? outer
                             : inner != nullptr && inner->text.empty() ? inner
                                                                       : nullptr;
    if (empty != nullptr) {
        return finding("env.visible.none", Verdict::warn, {}, std::to_string(total) + " GPUs",
                       text_of_variable(*empty) + " hides every GPU in some versions", "environment");
    }
    Mask mask{total, false, false};
    std::string observed;
    if (outer != nullptr) {
        mask = read_mask(outer->text, total);
        observed = text_of_variable(*outer);
    }
    if (inner != nullptr && mask.left > 0) {
        const std::size_t offered = mask.left;
        mask = read_mask(inner->text, offered);
        observed += (observed.empty() ? "" : ", ") + text_of_variable(*inner);
        if (outer != nullptr && mask.beyond) {
            return finding("env.visible.masked", Verdict::fail, {},
                           "indices below " + std::to_string(offered),
                           observed + ": the second counts within the first", "environment");
        }
    }
    return judge_left(snapshot, mask, total, observed);
}

/// ROCclr's list is for OpenCL programs, though ROCm's manual names HIP ones too (ROCm/clr, rocdevice.cpp,
/// Device::init); an empty one is none. Nothing that a training job would notice: never more than a warning.
void judge_opencl(const Snapshot& snapshot, std::size_t total, Findings& findings) {
    const NamedText* list = variable(snapshot, "GPU_DEVICE_ORDINAL");
    if (list == nullptr || list->text.empty()) return;
    const Mask mask = read_mask(list->text, total);
    if (mask.left >= total) return;
    findings.push_back(
        finding("env.visible.some", Verdict::warn, {}, std::to_string(total) + " GPUs",
                text_of_variable(*list) + " leaves " + std::to_string(mask.left) + " to OpenCL programs",
                "environment"));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    std::size_t nvidia = 0;
    std::size_t amd = 0;
    for (const Device& gpu : snapshot.gpus) {
        // A partitioned GPU is several devices to HIP.
        if (gpu.vendor == Vendor::amd) amd += std::max<std::size_t>(gpu.amd.kfd_nodes.size(), 1);
        if (gpu.vendor == Vendor::nvidia) ++nvidia;
    }
    if (nvidia > 0) findings.push_back(judge_nvidia(snapshot, nvidia));
    if (amd == 0) return;
    findings.push_back(judge_amd(snapshot, amd));
    judge_opencl(snapshot, amd, findings);
}

}  // namespace

const Check kVisibleDevicesCheck{.id = kId,
                                 .title = "GPUs hidden by environment variables",
                                 .impact = Impact::passive,
                                 .required_from = Profile::quick,
                                 .applies = applies,
                                 .judge = judge};

}  // namespace gpucheck
