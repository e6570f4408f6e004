// Telemetry counts as read only when every driven GPU answered; a recorded machine answers for itself, and
// never twice from files that cannot change.
#include "agent/readings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/source_dir.h"

namespace gpucheck {
namespace {

using std::chrono::milliseconds;

Device gpu(const char* address, Vendor vendor) {
    Device device;
    device.bdf = *Bdf::parse(address);
    device.vendor = vendor;
    device.pci.driver = Fact<std::string>(vendor == Vendor::nvidia ? "nvidia" : "amdgpu", "test");
    return device;
}

Snapshot nvidia() {
    Snapshot snapshot;
    for (const char* address : {"0000:19:00.0", "0000:3b:00.0"}) {
        snapshot.gpus.push_back(gpu(address, Vendor::nvidia));
        snapshot.gpus.back().telemetry.first.nvidia.identity.handle = Fact<bool>(true, "NVML");
    }
    snapshot.host.vendor_troubles = Fact<std::vector<VendorTrouble>>({}, "NVML");
    return snapshot;
}

Snapshot amd() {
    Snapshot snapshot;
    snapshot.gpus.push_back(gpu("0000:83:00.0", Vendor::amd));
    return snapshot;
}

TEST(TelemetryWasRead, OnlyWhenEveryDrivenGpuAnswered) {
    Snapshot snapshot = nvidia();
    EXPECT_TRUE(telemetry_was_read(snapshot).is(true));
    snapshot.gpus[1].telemetry.first.nvidia.identity.handle = Missing{"nvml", "GPU_IS_LOST"};
    EXPECT_EQ(telemetry_was_read(snapshot).why(), "0000:3b:00.0: GPU_IS_LOST");
    snapshot.gpus[1].pci.driver = Fact<std::string>("vfio-pci", "test");  // a guest's now
    EXPECT_TRUE(telemetry_was_read(snapshot).is(true));
    snapshot.gpus[1].pci.driver = Missing{"driver", "ENOENT"};
    EXPECT_TRUE(telemetry_was_read(snapshot).is(true));
    snapshot.gpus[1].pci.driver = Missing{"driver", "EIO"};  // not known to be without one
    EXPECT_FALSE(telemetry_was_read(snapshot).known());
    snapshot.gpus.clear();
    EXPECT_FALSE(telemetry_was_read(snapshot).known());
}

TEST(TelemetryWasRead, NotByACallThatFailedHalfWay) {
    Snapshot snapshot = nvidia();
    const auto set = [&](const char* device) {
        snapshot.host.vendor_troubles = Fact<std::vector<VendorTrouble>>(
            {{"libnvidia-ml.so.1", "nvmlDeviceGetEccMode", device, "crashed", "SIGSEGV"}}, "x");
    };
    set("0000:3b:00.0");
    EXPECT_EQ(telemetry_was_read(snapshot).why(), "0000:3b:00.0: nvmlDeviceGetEccMode crashed: SIGSEGV");
    set("");
    EXPECT_EQ(telemetry_was_read(snapshot).why(), "0000:19:00.0: nvmlDeviceGetEccMode crashed: SIGSEGV");
    set("0000:ff:00.0");  // of another GPU, that PCI does not list
    EXPECT_TRUE(telemetry_was_read(snapshot).is(true));
}

TEST(TelemetryWasRead, FromMetricsOrSensorsOfAmd) {
    Snapshot snapshot = amd();
    AmdTelemetry& telemetry = snapshot.gpus[0].telemetry.first.amd;
    EXPECT_FALSE(telemetry_was_read(snapshot).known());
    telemetry.metrics.layout = Missing{"gpu_metrics", "EPERM"};
    EXPECT_EQ(telemetry_was_read(snapshot).why(), "0000:83:00.0: EPERM");
    telemetry.temperatures = Fact<std::vector<HwmonTemperature>>({}, "hwmon");  // a folder without a sensor
    EXPECT_FALSE(telemetry_was_read(snapshot).known());
    telemetry.power_uw = Fact<std::uint64_t>(1, "hwmon");
    EXPECT_TRUE(telemetry_was_read(snapshot).is(true));
    telemetry = {};
    telemetry.metrics.layout = Fact<std::string>("1.5", "gpu_metrics");
    EXPECT_TRUE(telemetry_was_read(snapshot).is(true));
}

TEST(TelemetryWasRead, WhereAVirtualFunctionHasNone) {
    Snapshot snapshot = amd();
    snapshot.gpus[0].telemetry.first.amd.metrics.layout = Missing{"gpu_metrics", "ENOENT"};
    EXPECT_FALSE(telemetry_was_read(snapshot).known());
    Board board;
    board.virtual_function = true;
    snapshot.gpus[0].board = Fact<Board>(board, "gpus.json");
    EXPECT_TRUE(telemetry_was_read(snapshot).is(true));
    snapshot.gpus[0].telemetry.first.amd.metrics.layout = Missing{"gpu_metrics", "EIO"};
    EXPECT_FALSE(telemetry_was_read(snapshot).known());
}

host::Sysroot recorded(const char* name) {
    auto root = host::Sysroot::recorded(std::string(GPUCHECK_SOURCE_DIR) + "/tests/machines/" + name);
    EXPECT_TRUE(std::holds_alternative<host::Sysroot>(root));
    return std::move(std::get<host::Sysroot>(root));
}

TEST(Readings, OfARecordedMachineWithoutAnswersAreNotCaptured) {
    const host::Sysroot root = recorded("h100-x2-idle-links");
    Snapshot snapshot = nvidia();
    ReadingPlan plan;
    plan.libraries.allowed = false;
    plan.start = std::chrono::steady_clock::now();
    read_first(root, plan, milliseconds(1000), snapshot);
    EXPECT_EQ(snapshot.gpus[0].telemetry.first.nvidia.identity.handle.why(), "not captured");
    EXPECT_EQ(snapshot.host.vendor_troubles.why(), "not captured");
    const Snapshot before = snapshot;
    read_last(root, plan, milliseconds(1000), snapshot);
    EXPECT_EQ(snapshot, before);
}

TEST(Readings, OfARecordedMachineComeFromItsAnswers) {
    const host::Sysroot root = recorded("h100-x2-idle-links");
    Snapshot snapshot = nvidia();
    ReadingPlan plan;
    plan.libraries = {true, "/nonexistent"};
    plan.answers = std::get<vendor::RecordedAnswers>(vendor::parse_vendor_json(
        R"({"nvml": {"gpus": {"0000:19:00.0": {"first": {"identity": {"handle": {"value": true, "source": "s"}}}}}}})",
        "vendor.json"));
    read_first(root, plan, milliseconds(1000), snapshot);
    EXPECT_TRUE(snapshot.gpus[0].telemetry.first.nvidia.identity.handle.is(true));
    EXPECT_EQ(telemetry_was_read(snapshot).why(), "0000:3b:00.0: not captured");
    const Snapshot before = snapshot;
    read_last(root, plan, milliseconds(1000), snapshot);
    EXPECT_EQ(snapshot, before);
}

TEST(Readings, OfADriverFolderWithoutTheLibrarySayThatItIsAbsent) {
    const host::Sysroot root = recorded("h100-x2-idle-links");
    Snapshot snapshot = nvidia();
    ReadingPlan plan;
    plan.libraries = {true, "/nonexistent"};
    plan.start = std::chrono::steady_clock::now();
    std::string waited;
    plan.waiting = [&](std::string_view what, milliseconds) { waited = what; };
    read_first(root, plan, milliseconds(20'000), snapshot);
    EXPECT_EQ(snapshot.gpus[0].telemetry.first.nvidia.identity.handle.why(), "ENOENT");
    EXPECT_TRUE(snapshot.host.vendor_troubles.known());
    EXPECT_EQ(waited, kVendorLibraries);
    EXPECT_TRUE(snapshot.gpus[0].telemetry.first.at_s.known());
    read_last(root, plan, milliseconds(20'000), snapshot);
    EXPECT_GE(*snapshot.gpus[0].telemetry.last.at_s, *snapshot.gpus[0].telemetry.first.at_s + 0.9);
}

// Who asks NVML without a driver has it load one.
TEST(Readings, NobodyAsksNvmlWithoutADriver) {
    const host::Sysroot root = recorded("h100-x2-idle-links");
    Snapshot snapshot = nvidia();
    for (Device& device : snapshot.gpus) device.pci.driver = Fact<std::string>("vfio-pci", "test");
    ReadingPlan plan;
    plan.libraries = {true, "/nonexistent"};
    bool waited = false;
    plan.waiting = [&](std::string_view, milliseconds) { waited = true; };
    read_first(root, plan, milliseconds(20'000), snapshot);
    EXPECT_EQ(snapshot.gpus[0].telemetry.first.nvidia.identity.handle.why(), "not looked at");
    EXPECT_FALSE(waited);
}

}  // namespace
}  // namespace gpucheck
