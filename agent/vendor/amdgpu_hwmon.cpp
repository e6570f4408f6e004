// hwmon of amdgpu; see amdgpu_hwmon.h. Linux drivers/gpu/drm/amd/pm/amdgpu_pm.c: millidegrees and microwatts;
// MI300 has no edge sensor and power1_input alone, MI200 has power1_average alone.
#include "agent/vendor/amdgpu_hwmon.h"

#include <utility>
#include <vector>

namespace gpucheck::vendor {
namespace {

constexpr int kMostSensors = 16;
constexpr int kMostDegrees = 250, kLeastDegrees = -100;

Fact<int> degrees(const host::Sysroot& root, const std::string& path) {
    const Fact<int> milli = root.read_int(path);
    if (!milli.known()) return milli;
    const int celsius = *milli / 1000;
    if (celsius < kLeastDegrees || celsius > kMostDegrees)
        return Missing{milli.source(), "malformed: " + std::to_string(*milli)};
    return Fact<int>(celsius, milli.source());
}

Fact<std::vector<HwmonTemperature>> temperatures(const host::Sysroot& root, const std::string& folder,
                                                 const std::vector<std::string>& files) {
    std::vector<HwmonTemperature> found;
    for (const std::string& file : files) {
        if (!file.starts_with("temp") || !file.ends_with("_label") || found.size() == kMostSensors) continue;
        const Fact<std::string> label = root.read_line(folder + file);
        if (!label.known()) return label.missing();
        const std::string stem = folder + file.substr(0, file.size() - std::string_view("_label").size());
        found.push_back({*label, degrees(root, stem + "_input"), degrees(root, stem + "_crit"),
                         degrees(root, stem + "_emergency")});
    }
    if (found.empty()) return Missing{folder, "ENOENT"};
    return Fact<std::vector<HwmonTemperature>>(std::move(found), folder);
}

Fact<std::uint64_t> microwatts(const host::Sysroot& root, const std::string& path) {
    constexpr std::uint64_t kMost = 20'000'000'000;  // a rack's
    Fact<std::uint64_t> power = root.read_u64(path);
    if (power.known() && *power > kMost)
        return Missing{power.source(), "malformed: " + std::to_string(*power)};
    return power;
}

// The folder of the sensor chip, with a slash; hwmon numbers are given in order of loading.
Fact<std::string> chip_folder(const host::Sysroot& root, const std::string& device) {
    const std::string hwmon = device + "hwmon";
    const Fact<std::vector<std::string>> chips = root.list(hwmon);
    if (!chips.known()) return chips.missing();
    for (const std::string& chip : *chips) {
        if (!chip.starts_with("hwmon")) continue;
        const std::string folder = hwmon + "/" + chip + "/";
        const Fact<std::string> name = root.read_line(folder + "name");
        if (!name.known()) return name.missing();
        if (*name == "amdgpu") return Fact<std::string>(folder, hwmon);
    }
    return Missing{hwmon, "ENOENT"};
}

}  // namespace

void read_hwmon(const host::Sysroot& root, const std::string& device, AmdTelemetry& telemetry) {
    const Fact<std::string> folder = chip_folder(root, device);
    const Fact<std::vector<std::string>> files =
        folder.known() ? root.list(*folder) : Fact<std::vector<std::string>>(folder.missing());
    if (!files.known()) {
        telemetry.temperatures = files.missing();
        for (Fact<std::uint64_t>* fact :
             {&telemetry.power_uw, &telemetry.power_cap_uw, &telemetry.power_cap_default_uw,
              &telemetry.power_cap_max_uw, &telemetry.power_cap_min_uw})
            *fact = files.missing();
        return;
    }
    telemetry.temperatures = temperatures(root, *folder, *files);
    telemetry.power_uw = microwatts(root, *folder + "power1_input");
    if (telemetry.power_uw.absent()) telemetry.power_uw = microwatts(root, *folder + "power1_average");
    telemetry.power_cap_uw = microwatts(root, *folder + "power1_cap");
    telemetry.power_cap_default_uw = microwatts(root, *folder + "power1_cap_default");
    telemetry.power_cap_max_uw = microwatts(root, *folder + "power1_cap_max");
    telemetry.power_cap_min_uw = microwatts(root, *folder + "power1_cap_min");
}

}  // namespace gpucheck::vendor
