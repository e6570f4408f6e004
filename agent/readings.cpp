// The readings of a run; see readings.h.
#include "agent/readings.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "agent/vendor/telemetry.h"

namespace gpucheck {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

std::string_view driver_of(Vendor vendor) {
    return vendor == Vendor::nvidia ? "nvidia" : "amdgpu";
}

// A GPU of a VM (vfio-pci), or without a driver: its vendor's interface does not know it, and other checks
// judge that.
bool is_driven(const Device& gpu) {
    if (gpu.pci.has_physfn.is(true)) return false;  // belongs to a guest of this host
    const Fact<std::string>& driver = gpu.pci.driver;
    return driver.known() ? *driver == driver_of(gpu.vendor) : !driver.absent();
}

bool needs_nvml(const Snapshot& snapshot) {
    return std::any_of(snapshot.gpus.begin(), snapshot.gpus.end(),
                       [](const Device& gpu) { return gpu.vendor == Vendor::nvidia && is_driven(gpu); });
}

Fact<double> seconds_since(Clock::time_point start) {
    return {std::chrono::duration<double>(Clock::now() - start).count(), "monotonic clock"};
}

// Who asks NVML without a driver has it load one (it starts nvidia-modprobe): that is not for an observer to
// do.
void read_nvml(const ReadingPlan& plan, milliseconds deadline, Snapshot& snapshot, bool again) {
    vendor::TelemetryOptions options{plan.libraries, deadline};
    if (!needs_nvml(snapshot)) options.libraries = {false, ""};
    constexpr milliseconds kMargin{1000};  // for starting children and ending them
    if (plan.waiting && (options.libraries.allowed || !options.libraries.driver_dir.empty())) {
        plan.waiting(kVendorLibraries, deadline + kMargin);
    }
    options.libraries.allowed = options.libraries.allowed || !options.libraries.driver_dir.empty();
    vendor::read_nvml(options, snapshot, again);
}

// A GPU on which a call did not come back is not asked again: another process would hang on it.
bool has_trouble(const Snapshot& snapshot, const Device& gpu) {
    const auto& troubles = snapshot.host.vendor_troubles;
    return troubles.known() &&
           std::any_of(troubles->begin(), troubles->end(),
                       [&](const VendorTrouble& trouble) { return trouble.device == gpu.bdf.str(); });
}

void read_nvml_again(const ReadingPlan& plan, milliseconds deadline, Snapshot& snapshot) {
    Snapshot answering;
    answering.host.vendor_troubles = snapshot.host.vendor_troubles;
    for (const Device& gpu : snapshot.gpus) {
        if (gpu.vendor == Vendor::nvidia && !has_trouble(snapshot, gpu)) answering.gpus.push_back(gpu);
    }
    read_nvml(plan, deadline, answering, true);
    snapshot.host.vendor_troubles = std::move(answering.host.vendor_troubles);
    for (Device& read : answering.gpus) {
        const auto gpu = std::find_if(snapshot.gpus.begin(), snapshot.gpus.end(),
                                      [&](const Device& each) { return each.bdf == read.bdf; });
        gpu->telemetry.last.nvidia = std::move(read.telemetry.last.nvidia);
        gpu->telemetry.last.at_s = seconds_since(plan.start);
    }
}

Fact<bool> nvidia_was_read(const Snapshot& snapshot, const Device& gpu) {
    if (snapshot.host.vendor_troubles.known()) {
        for (const VendorTrouble& trouble : *snapshot.host.vendor_troubles) {
            if (!trouble.device.empty() && trouble.device != gpu.bdf.str()) continue;
            return Missing{trouble.library, trouble.call + " " + trouble.outcome + ": " + trouble.detail};
        }
    }
    return gpu.telemetry.first.nvidia.identity.handle;
}

// What the hypervisor keeps from a virtual function is no gap in looking: gpu_metrics and hwmon are absent
// there (amdgpu_pm.c hides them from guests that may not see them).
Fact<bool> amd_was_read(const Device& gpu) {
    const AmdTelemetry& amd = gpu.telemetry.first.amd;
    const AmdMetrics& metrics = amd.metrics;
    if (metrics.layout.known()) return Fact<bool>(true, metrics.layout.source());
    if (amd.temperatures.known() && !amd.temperatures->empty())
        return Fact<bool>(true, amd.temperatures.source());
    if (amd.power_uw.known()) return Fact<bool>(true, amd.power_uw.source());
    const bool virtual_function = gpu.board.known() && gpu.board->virtual_function;
    if (virtual_function && metrics.layout.absent()) return Fact<bool>(true, metrics.layout.source());
    return metrics.layout.missing();
}

}  // namespace

void read_libraries(const host::Sysroot& root, const ReadingPlan& plan, milliseconds deadline,
                    Snapshot& snapshot) {
    if (plan.answers) {
        vendor::apply(*plan.answers, snapshot);
    } else if (!root.is_live() && plan.libraries.driver_dir.empty()) {
        vendor::apply({}, snapshot);
    } else {
        read_nvml(plan, deadline, snapshot, false);
        for (Device& gpu : snapshot.gpus) gpu.telemetry.first.at_s = seconds_since(plan.start);
    }
}

void read_first(const host::Sysroot& root, const ReadingPlan& plan, milliseconds deadline,
                Snapshot& snapshot) {
    vendor::read_units(root, snapshot.host);
    vendor::read_amdgpu_telemetry(root, snapshot, false);
    read_libraries(root, plan, deadline, snapshot);
}

void read_last(const host::Sysroot& root, const ReadingPlan& plan, milliseconds deadline,
               Snapshot& snapshot) {
    // Files of a recorded machine do not change: read again they would prove that nothing happened.
    const bool libraries = !plan.answers && (root.is_live() || !plan.libraries.driver_dir.empty());
    if (!root.is_live() && !libraries) return;
    const Fact<double> now = seconds_since(plan.start);
    milliseconds rest{0};
    for (const Device& gpu : snapshot.gpus) {
        if (!gpu.telemetry.first.at_s.known()) continue;
        const auto passed = milliseconds(static_cast<long long>((*now - *gpu.telemetry.first.at_s) * 1000));
        rest = std::clamp(kBetweenReadings - passed, rest, kBetweenReadings);
    }
    if (plan.waiting) plan.waiting("the second reading", rest + kBetweenReadings);
    std::this_thread::sleep_for(rest);
    if (root.is_live()) {
        vendor::read_amdgpu_telemetry(root, snapshot, true);
        for (Device& gpu : snapshot.gpus) {
            if (gpu.vendor == Vendor::amd) gpu.telemetry.last.at_s = seconds_since(plan.start);
        }
    }
    if (libraries) read_nvml_again(plan, deadline, snapshot);
}

Fact<bool> telemetry_was_read(const Snapshot& snapshot) {
    std::string source;
    for (const Device& gpu : snapshot.gpus) {
        if (!is_driven(gpu)) continue;
        const Fact<bool> read =
            gpu.vendor == Vendor::nvidia ? nvidia_was_read(snapshot, gpu) : amd_was_read(gpu);
        if (!read.known()) return Missing{read.source(), gpu.bdf.str() + ": " + read.why()};
        if (!*read) return Missing{read.source(), gpu.bdf.str() + ": no handle"};
        if (source.empty()) source = read.source();
    }
    if (source.empty()) return Missing{"/sys/bus/pci/devices", "no GPU has its vendor's driver"};
    return Fact<bool>(true, std::move(source));
}

}  // namespace gpucheck
