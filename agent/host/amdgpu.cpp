// Reads amdgpu's sysfs files of one function; see amdgpu.h. Names and contents: Linux
// drivers/gpu/drm/amd/amdgpu/amdgpu_{device,gfx,ucode,vram_mgr}.c and Documentation/gpu/amdgpu.
#include "agent/host/amdgpu.h"

#include <string>
#include <string_view>

namespace gpucheck::host {
namespace {

constexpr std::size_t kMaxFirmware = 64;

// Secondary partitions, virtual functions and ASICs without the feature answer with a word that is no value
// (ROCm/amdsmi#100).
Fact<std::string> read_word(const Sysroot& root, const std::string& path) {
    Fact<std::string> line = root.read_line(path);
    if (!line.known()) return line;
    const std::string& text = line.value();
    if (text == "N/A" || text == "UNKNOWN" || text == "Unknown" || text == "unknown") {
        return Missing{line.source(), "the driver says '" + text + "'"};
    }
    return line;
}

Fact<std::string> read_unique_id(const Sysroot& root, const std::string& path) {
    Fact<std::string> id = read_word(root, path);
    if (!id.known()) return id;
    std::string text = id.value();
    if (text.starts_with("0x")) text.erase(0, 2);
    if (text.empty() || text.size() > 16 ||
        text.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
        return Missing{id.source(), "malformed: '" + id.value().substr(0, 40) + "'"};
    }
    // Zero is what hardware without an id gives; taken as an id it would make all GPUs one.
    if (text.find_first_not_of('0') == std::string::npos) return Missing{id.source(), "zero: no id"};
    return Fact<std::string>(std::move(text), id.source());
}

std::vector<NamedText> read_firmware(const Sysroot& root, const std::string& folder) {
    constexpr std::string_view kSuffix = "_fw_version";
    std::vector<NamedText> versions;
    const Fact<std::vector<std::string>> names = root.list(folder);
    if (!names.known()) return versions;
    for (const std::string& name : names.value()) {
        if (!name.ends_with(kSuffix) || name.size() == kSuffix.size()) continue;
        if (versions.size() == kMaxFirmware) break;
        const Fact<std::string> version = root.read_line(folder + "/" + name);
        if (version.known())
            versions.push_back({name.substr(0, name.size() - kSuffix.size()), version.value()});
    }
    return versions;
}

}  // namespace

void read_amdgpu(const Sysroot& root, Device& gpu) {
    const std::string link = "/sys/bus/pci/devices/" + gpu.bdf.str();
    const Fact<std::string> real = root.real_path(link);
    const std::string folder = (real.known() ? real.value() : link) + "/";
    AmdGpu& amd = gpu.amd;
    amd.compute_partition = read_word(root, folder + "current_compute_partition");
    amd.memory_partition = read_word(root, folder + "current_memory_partition");
    amd.available_compute_partition = read_word(root, folder + "available_compute_partition");
    amd.vram_total_bytes = root.read_u64(folder + "mem_info_vram_total");
    amd.vram_used_bytes = root.read_u64(folder + "mem_info_vram_used");
    amd.vram_visible_bytes = root.read_u64(folder + "mem_info_vis_vram_total");
    amd.unique_id = read_unique_id(root, folder + "unique_id");
    amd.product_name = read_word(root, folder + "product_name");
    amd.serial = read_word(root, folder + "serial_number");
    amd.vbios_version = read_word(root, folder + "vbios_version");
    amd.firmware = read_firmware(root, folder + "fw_version");
}

}  // namespace gpucheck::host
