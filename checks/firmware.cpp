// Finds the one GPU of a node that runs another firmware than its neighbours: a repair that was not finished,
// and a job whose slowest member is slower for no visible reason.
#include <algorithm>
#include <map>

#include "checks/all.h"
#include "checks/gpus.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "driver.firmware";

using Values = std::map<std::string, Gpus>;  // value -> who has it
struct Item {
    Values values;
    Gpus without;  // the file is not there on these
};

// NVIDIA prints "??.??.??.??.??" for the VBIOS of a GPU that no program has opened yet, and "N/A" without GSP
// firmware.
bool says_nothing(const std::string& value) {
    return value.empty() || value == "N/A" || value.find('?') != std::string::npos;
}

void collect(Item& item, const Fact<std::string>& value, const Device* gpu) {
    if (value.known() && !says_nothing(value.value())) {
        item.values[value.value()].push_back(gpu);
    } else {
        item.without.push_back(gpu);
    }
}

// What the driver's file says, else what NVML says: a file is empty until some program has opened the GPU.
const Fact<std::string>& file_or_nvml(const Fact<std::string>& file, const Fact<std::string>& nvml) {
    return file.known() && !says_nothing(file.value()) ? file : nvml;
}

std::map<std::string, Item> firmware_of(const Gpus& gpus) {
    std::map<std::string, Item> items;
    for (const Device* gpu : gpus) {
        const NvIdentity& nvml = gpu->telemetry.first.nvidia.identity;
        if (gpu->vendor == Vendor::nvidia) {
            collect(items["GSP firmware"], file_or_nvml(gpu->nvidia.gsp_firmware, nvml.gsp_firmware), gpu);
            collect(items["InfoROM image"], nvml.inforom_image, gpu);
        }
        for (const NamedText& entry : gpu->amd.firmware) items[entry.name].values[entry.text].push_back(gpu);
    }
    return items;
}

Item vbios_of(const Gpus& gpus) {
    Item item;
    for (const Device* gpu : gpus) {
        const NvIdentity& nvml = gpu->telemetry.first.nvidia.identity;
        collect(item,
                gpu->vendor == Vendor::nvidia ? file_or_nvml(gpu->nvidia.vbios_version, nvml.vbios_version)
                                              : gpu->amd.vbios_version,
                gpu);
    }
    return item;
}

// "177 on 7 GPUs, 175 on 0000:83:00.0": the commonest first, the others with their addresses.
std::string spread(const Item& item) {
    std::vector<std::pair<std::string, Gpus>> sorted(item.values.begin(), item.values.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
    std::string text;
    for (const auto& [value, gpus] : sorted) {
        const bool majority = text.empty() && gpus.size() > 1;
        text += (text.empty() ? "" : ", ") + value + " on " +
                (majority ? count_of(gpus.size(), "GPU") : addresses(gpus));
    }
    return text;
}

void judge_firmware(const std::string& board, const Gpus& gpus, Findings& findings) {
    const std::string source =
        "/sys/class/drm/card*/device/fw_version, /proc/driver/nvidia/gpus/*/information, NVML";
    std::string differing;
    std::size_t compared = 0;
    for (const auto& [name, item] : firmware_of(gpus)) {
        std::size_t seen = 0;
        for (const auto& [value, having] : item.values) seen += having.size();
        if (seen > 1) ++compared;
        if (item.values.size() > 1) differing += (differing.empty() ? "" : "; ") + name + " " + spread(item);
    }
    const std::string expected = "one version on all " + count_of(gpus.size(), board);
    if (!differing.empty()) {
        findings.push_back(finding("firmware.differs", Verdict::warn, {}, expected, differing, source));
    } else if (compared == 0) {
        findings.push_back(finding(kId, Verdict::not_applicable, {}, expected,
                                   "the driver shows no firmware versions", source));
    } else {
        findings.push_back(finding(kId, Verdict::pass, {}, expected,
                                   count_of(compared, "firmware part") + " equal", source));
    }
}

void judge_vbios(const std::string& board, const Gpus& gpus, Findings& findings) {
    const std::string source = "vbios_version, /proc/driver/nvidia/gpus/*/information";
    const std::string expected = "one VBIOS on all " + count_of(gpus.size(), board);
    const Item item = vbios_of(gpus);
    if (item.values.size() > 1) {
        findings.push_back(
            finding("firmware.vbios.differs", Verdict::warn, {}, expected, spread(item), source));
    } else if (item.values.empty()) {
        findings.push_back(
            finding(kId, Verdict::not_applicable, {}, expected, "the driver shows no VBIOS version", source));
    } else if (!item.without.empty()) {
        findings.push_back(finding("firmware.unread", Verdict::unknown, {}, expected,
                                   item.values.begin()->first + "; not known of " + addresses(item.without),
                                   source));
    } else {
        findings.push_back(finding(kId, Verdict::pass, {}, expected, item.values.begin()->first, source));
    }
}

// GPUs of one board, physical and virtual functions apart: their firmware is not the same by nature.
std::map<std::string, Gpus> by_board(const Snapshot& snapshot) {
    std::map<std::string, Gpus> groups;
    for (const Device* gpu : own_gpus(snapshot)) {
        if (!driven(*gpu) || left_outside(snapshot, *gpu)) continue;
        groups[board_name(*gpu) + (gpu->board.known() && gpu->board->virtual_function ? " VF" : "")]
            .push_back(gpu);
    }
    return groups;
}

NotApplicable applies(const Snapshot& snapshot) {
    if (NotApplicable none = without_any_driven(snapshot)) return none;
    for (const auto& [board, gpus] : by_board(snapshot)) {
        if (gpus.size() > 1) return std::nullopt;
    }
    return "no two GPUs of one board to compare";
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const auto& [board, gpus] : by_board(snapshot)) {
        if (gpus.size() < 2) continue;
        judge_firmware(board, gpus, findings);
        judge_vbios(board, gpus, findings);
    }
}

}  // namespace

const Check kFirmwareCheck{.id = kId,
                           .title = "Firmware versions",
                           .impact = Impact::passive,
                           .required_from = Profile::acceptance,
                           .applies = applies,
                           .judge = judge};

}  // namespace gpucheck
