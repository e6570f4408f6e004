// Reads amdgpu's telemetry files of every AMD GPU; see telemetry.h. Linux drivers/gpu/drm/amd: amdgpu_ras.c,
// amdgpu_xgmi.c, amdgpu_gfx.c, pm/amdgpu_pm.c. pcie_bw is never read: it counts for a second and blocks as
// long. RAS counts come last: what hangs before them does not cost counts that reading resets.
#include <limits>
#include <string>
#include <utility>

#include "agent/vendor/amdgpu_hwmon.h"
#include "agent/vendor/amdgpu_text.h"
#include "agent/vendor/gpu_metrics.h"
#include "agent/vendor/telemetry.h"

namespace gpucheck::vendor {
namespace {

constexpr std::size_t kMaxRasBlocks = 64;
constexpr std::uint64_t kMemEdc = 0x00100000, kSramEdc = 0x04000000;  // kfd_sysfs.h, HSA_CAP_*

Fact<unsigned> number_up_to(const host::Sysroot& root, const std::string& path, std::uint64_t most) {
    const Fact<std::uint64_t> number = root.read_u64(path);
    if (!number.known()) return number.missing();
    if (*number > most) return Missing{number.source(), "malformed: " + std::to_string(*number)};
    return Fact<unsigned>(static_cast<unsigned>(*number), number.source());
}

Fact<std::uint64_t> counter(const host::Sysroot& root, const std::string& path) {
    Fact<std::uint64_t> number = root.read_u64(path);
    if (number.is(std::numeric_limits<std::uint64_t>::max()))
        return Missing{number.source(), "not available"};
    return number;
}

// On only when every partition says so; off when one says so.
Fact<bool> capability(const AmdGpu& amd, std::uint64_t bit) {
    if (amd.kfd_nodes.empty()) return Missing{"/sys/class/kfd/kfd/topology/nodes", "no KFD node of this GPU"};
    bool on = true;
    for (const KfdNode& node : amd.kfd_nodes) {
        if (!node.capability.known()) return node.capability.missing();
        on = on && (*node.capability & bit) != 0;
    }
    return Fact<bool>(on, amd.kfd_nodes.front().capability.source());
}

AmdMetrics read_metrics(const host::Sysroot& root, const std::string& path) {
    const Fact<std::string> bytes = root.read(path, kMaxGpuMetrics);
    if (bytes.known()) return parse_gpu_metrics(*bytes, bytes.source());
    AmdMetrics metrics;
    make_missing(metrics, bytes.missing());
    return metrics;
}

// A negative parameter leaves the number to the driver, which takes it from the size of the EEPROM and of the
// memory (amdgpu_ras.c, amdgpu_ras_validate_threshold).
Fact<std::uint64_t> read_threshold(const host::Sysroot& root) {
    const Fact<int> parameter = root.read_int("/sys/module/amdgpu/parameters/bad_page_threshold");
    if (!parameter.known()) return parameter.missing();
    if (*parameter < 0) {
        return Missing{parameter.source(),
                       "left to the driver: bad_page_threshold=" + std::to_string(*parameter)};
    }
    return Fact<std::uint64_t>(static_cast<std::uint64_t>(*parameter), parameter.source());
}

Fact<std::vector<RasBlock>> read_ras(const host::Sysroot& root, const std::string& folder) {
    constexpr std::string_view kSuffix = "_err_count";
    const Fact<std::vector<std::string>> files = root.list(folder);
    if (!files.known()) return files.missing();
    std::vector<RasBlock> blocks;
    for (const std::string& file : *files) {
        if (!file.ends_with(kSuffix) || file.size() == kSuffix.size()) continue;
        if (blocks.size() == kMaxRasBlocks)
            return Missing{folder, "more than " + std::to_string(kMaxRasBlocks) + " blocks"};
        blocks.push_back(
            parse_err_count(file.substr(0, file.size() - kSuffix.size()), root.read(folder + "/" + file)));
    }
    if (blocks.empty()) return Missing{folder, "ENOENT"};
    return Fact<std::vector<RasBlock>>(std::move(blocks), folder);
}

void read_clocks(const host::Sysroot& root, const std::string& folder, AmdTelemetry& telemetry) {
    DpmClocks shader = parse_dpm(root.read(folder + "pp_dpm_sclk"));
    DpmClocks memory = parse_dpm(root.read(folder + "pp_dpm_mclk"));
    telemetry.sclk_mhz = std::move(shader.now_mhz);
    telemetry.sclk_max_mhz = std::move(shader.highest_mhz);
    telemetry.mclk_mhz = std::move(memory.now_mhz);
    telemetry.mclk_max_mhz = std::move(memory.highest_mhz);
    telemetry.performance_level = root.read_line(folder + "power_dpm_force_performance_level");
    telemetry.gpu_busy_percent = number_up_to(root, folder + "gpu_busy_percent", 100);
    telemetry.memory_busy_percent = number_up_to(root, folder + "mem_busy_percent", 100);
}

void read_links(const host::Sysroot& root, const std::string& folder, AmdTelemetry& telemetry) {
    telemetry.pcie_replays = counter(root, folder + "pcie_replay_count");
    telemetry.xgmi_error = number_up_to(root, folder + "xgmi_error", 0xffffffff);
    telemetry.xgmi_physical_id = root.read_u64(folder + "xgmi_physical_id");
    telemetry.xgmi_hive_id = root.read_line(folder + "xgmi_hive_info/xgmi_hive_id");
}

AmdTelemetry read_one(const host::Sysroot& root, const Device& gpu, bool again) {
    // The same resolved folder as agent/host/amdgpu.cpp: one resolution instead of one a file.
    const std::string link = "/sys/bus/pci/devices/" + gpu.bdf.str();
    const Fact<std::string> real = root.real_path(link);
    const std::string folder = (real.known() ? *real : link) + "/";
    AmdTelemetry telemetry;
    telemetry.board_power_state = root.read_line(folder + "power/runtime_status");
    telemetry.ecc_memory = capability(gpu.amd, kMemEdc);
    telemetry.ecc_sram = capability(gpu.amd, kSramEdc);
    telemetry.metrics = read_metrics(root, folder + "gpu_metrics");
    read_hwmon(root, folder, telemetry);
    read_clocks(root, folder, telemetry);
    read_links(root, folder, telemetry);
    telemetry.available_memory_partition = root.read_line(folder + "available_memory_partition");
    telemetry.bad_page_threshold = read_threshold(root);
    telemetry.ras_features = root.read_line(folder + "ras/features");
    telemetry.bad_pages = parse_bad_pages(root.read(folder + "ras/gpu_vram_bad_pages", host::kLargeFile));
    telemetry.ras = again ? Fact<std::vector<RasBlock>>(Missing{folder + "ras", "read once a run"})
                          : read_ras(root, folder + "ras");
    return telemetry;
}

}  // namespace

void read_amdgpu_telemetry(const host::Sysroot& root, Snapshot& snapshot, bool again) {
    for (Device& gpu : snapshot.gpus) {
        if (gpu.vendor != Vendor::amd) continue;
        AmdTelemetry& telemetry = again ? gpu.telemetry.last.amd : gpu.telemetry.first.amd;
        const Fact<std::string>& driver = gpu.pci.driver;
        if (driver.absent() || (driver.known() && *driver != "amdgpu")) {
            make_missing(telemetry, Missing{driver.source(), "not bound to amdgpu"});
        } else {
            telemetry = read_one(root, gpu, again);
        }
    }
}

}  // namespace gpucheck::vendor
