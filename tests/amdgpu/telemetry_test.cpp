// amdgpu's telemetry from a sysfs tree: what a board, a virtual function or a foreign driver shows.
#include "agent/vendor/telemetry.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/amdgpu/samples.h"

namespace gpucheck {
namespace {

const std::string kGpu = "/sys/devices/pci0000:15/0000:19:00.0";

Snapshot one_gpu(const std::string& driver = "amdgpu") {
    Snapshot snapshot;
    Device gpu;
    gpu.bdf = *Bdf::parse("0000:19:00.0");
    gpu.vendor = Vendor::amd;
    gpu.pci.driver = Fact<std::string>(driver, "driver");
    KfdNode node;
    node.capability = Fact<std::uint64_t>(746037888, "capability");  // MI300X with ECC
    gpu.amd.kfd_nodes.push_back(node);
    snapshot.gpus.push_back(gpu);
    return snapshot;
}

void healthy(const test::Folder& folder) {
    folder.link("/sys/bus/pci/devices/0000:19:00.0", "../../../devices/pci0000:15/0000:19:00.0");
    folder.write(kGpu + "/gpu_metrics", test::sample("1.7"));
    const std::string hwmon = kGpu + "/hwmon/hwmon7";
    folder.write(hwmon + "/name", "amdgpu\n");
    // The number of a sensor is not its meaning.
    for (const auto& [file, text] : std::map<std::string, std::string>{{"temp3_label", "junction"},
                                                                       {"temp3_input", "56000"},
                                                                       {"temp3_crit", "100000"},
                                                                       {"temp2_label", "mem"},
                                                                       {"temp2_input", "-3000"},
                                                                       {"power1_input", "132000000"},
                                                                       {"power1_cap", "750000000"},
                                                                       {"power1_cap_min", "0"}})
        folder.write(hwmon + "/" + file, text + "\n");
    folder.write(kGpu + "/ras/umc_err_count", "ue: 0\nce: 4\nde: 0\n");
    folder.write(kGpu + "/ras/gfx_err_count", "Query currently inaccessible\n");
    folder.write(kGpu + "/ras/gpu_vram_bad_pages", "");
    folder.write(kGpu + "/pp_dpm_sclk", "S: 132Mhz *\n0: 500Mhz\n1: 2100Mhz\n");
    folder.write(kGpu + "/gpu_busy_percent", "3\n");
    folder.write(kGpu + "/xgmi_error", "0\n");
    folder.write("/sys/module/amdgpu/parameters/bad_page_threshold", "-1\n");
}

TEST(AmdTelemetryOf, AHealthyGpu) {
    const test::Folder folder("amd-healthy");
    healthy(folder);
    Snapshot snapshot = one_gpu();
    vendor::read_amdgpu_telemetry(folder.open(), snapshot, false);
    const AmdTelemetry& amd = snapshot.gpus[0].telemetry.first.amd;
    EXPECT_TRUE(amd.metrics.hotspot_c.is(41)) << amd.metrics.hotspot_c.why();
    EXPECT_TRUE(amd.ecc_memory.is(true));
    EXPECT_TRUE(amd.ecc_sram.is(true));
    ASSERT_TRUE(amd.temperatures.known());
    ASSERT_EQ(amd.temperatures->size(), 2U);
    EXPECT_EQ(amd.temperatures->at(0).label, "mem");
    EXPECT_TRUE(amd.temperatures->at(0).celsius.is(-3));
    EXPECT_EQ(amd.temperatures->at(1).label, "junction");
    EXPECT_TRUE(amd.temperatures->at(1).celsius.is(56));
    EXPECT_TRUE(amd.temperatures->at(1).critical_c.is(100));
    EXPECT_TRUE(amd.temperatures->at(1).emergency_c.absent());
    EXPECT_TRUE(amd.power_uw.is(std::uint64_t{132000000}));
    EXPECT_TRUE(amd.power_cap_uw.is(std::uint64_t{750000000}));
    EXPECT_TRUE(amd.power_cap_default_uw.absent());
    EXPECT_TRUE(amd.sclk_max_mhz.is(2100U));
    EXPECT_TRUE(amd.gpu_busy_percent.is(3U));
    EXPECT_EQ(amd.bad_page_threshold.why(), "left to the driver: bad_page_threshold=-1");
    ASSERT_TRUE(amd.ras.known());
    ASSERT_EQ(amd.ras->size(), 2U);
    EXPECT_EQ(amd.ras->at(0).uncorrectable.why(), "Query currently inaccessible");
    EXPECT_TRUE(amd.ras->at(1).correctable.is(std::uint64_t{4}));
    EXPECT_FALSE(snapshot.gpus[0].telemetry.last.amd.power_uw.known());
}

TEST(AmdTelemetryOf, EachCountIsReadOnceAndPcieBwNever) {
    const test::Folder folder("amd-once");
    healthy(folder);
    folder.write(kGpu + "/pcie_bw", "0 0 256\n");
    host::Sysroot root = folder.open();
    std::map<std::string, int> reads;
    root.on_access([&](const host::Access& access) {
        if (access.kind == host::AccessKind::read) ++reads[access.path];
    });
    Snapshot snapshot = one_gpu();
    vendor::read_amdgpu_telemetry(root, snapshot, false);
    vendor::read_amdgpu_telemetry(root, snapshot, true);
    EXPECT_EQ(reads[kGpu + "/ras/umc_err_count"], 1);
    EXPECT_EQ(reads[kGpu + "/ras/gfx_err_count"], 1);
    EXPECT_EQ(reads[kGpu + "/gpu_metrics"], 2);
    for (const auto& [path, count] : reads) EXPECT_EQ(path.find("pcie_bw"), std::string::npos) << count;
    const AmdTelemetry& last = snapshot.gpus[0].telemetry.last.amd;
    EXPECT_EQ(last.ras.why(), "read once a run");
    EXPECT_TRUE(last.metrics.hotspot_c.is(41));
    EXPECT_TRUE(snapshot.gpus[0].telemetry.first.amd.ras.known())
        << "the second reading leaves the first alone";
}

TEST(AmdTelemetryOf, ACountThatReadingResetsKeepsItsFirstAnswer) {
    const test::Folder folder("amd-reset");
    healthy(folder);
    const host::Sysroot root = folder.open();
    const std::string path = kGpu + "/ras/umc_err_count";
    EXPECT_TRUE(root.read(path).is(std::string("ue: 0\nce: 4\nde: 0\n")));
    folder.write(path, "ue: 0\nce: 0\nde: 0\n");  // what MI200 does
    EXPECT_TRUE(root.read(path).is(std::string("ue: 0\nce: 4\nde: 0\n")));
    folder.write(kGpu + "/gpu_busy_percent", "9\n");
    EXPECT_TRUE(root.read_u64(kGpu + "/gpu_busy_percent").is(std::uint64_t{9})) << "all else is read anew";
}

TEST(AmdTelemetryOf, Mi200HasAverageAndAnEdgeSensor) {
    const test::Folder folder("amd-mi200");
    folder.write(kGpu + "/gpu_metrics", test::sample("1.3"));
    folder.link("/sys/bus/pci/devices/0000:19:00.0", "../../../devices/pci0000:15/0000:19:00.0");
    // Another chip comes first.
    folder.write(kGpu + "/hwmon/hwmon1/name", "nic\n");
    folder.write(kGpu + "/hwmon/hwmon2/name", "amdgpu\n");
    folder.write(kGpu + "/hwmon/hwmon2/temp1_label", "edge\n");
    folder.write(kGpu + "/hwmon/hwmon2/temp1_input", "38000\n");
    folder.write(kGpu + "/hwmon/hwmon2/power1_average", "41000000\n");
    Snapshot snapshot = one_gpu();
    vendor::read_amdgpu_telemetry(folder.open(), snapshot, false);
    const AmdTelemetry& amd = snapshot.gpus[0].telemetry.first.amd;
    EXPECT_TRUE(amd.power_uw.is(std::uint64_t{41000000}));
    ASSERT_TRUE(amd.temperatures.known());
    EXPECT_EQ(amd.temperatures->at(0).label, "edge");
    EXPECT_TRUE(amd.metrics.edge_c.is(44));
}

TEST(AmdTelemetryOf, AVirtualFunctionKeepsItsReasons) {
    const test::Folder folder("amd-vf");
    folder.link("/sys/bus/pci/devices/0000:19:00.0", "../../../devices/pci0000:15/0000:19:00.0");
    folder.write(kGpu + "/vendor", "0x1002\n");
    Snapshot snapshot = one_gpu();
    vendor::read_amdgpu_telemetry(folder.open(), snapshot, false);
    const AmdTelemetry& amd = snapshot.gpus[0].telemetry.first.amd;
    EXPECT_TRUE(amd.ras.absent());
    EXPECT_TRUE(amd.bad_pages.absent());
    EXPECT_TRUE(amd.metrics.hotspot_c.absent());
    EXPECT_TRUE(amd.temperatures.absent());
    EXPECT_TRUE(amd.power_cap_uw.absent());
    EXPECT_TRUE(amd.ecc_memory.is(true)) << "KFD tells a virtual function, too";
}

TEST(AmdTelemetryOf, AnotherDriversGpuIsNotLookedAt) {
    for (const std::string driver : {"vfio-pci", "gim", ""}) {
        const test::Folder folder("amd-foreign");
        healthy(folder);
        Snapshot snapshot = one_gpu(driver);
        vendor::read_amdgpu_telemetry(folder.open(), snapshot, false);
        const AmdTelemetry& amd = snapshot.gpus[0].telemetry.first.amd;
        EXPECT_EQ(amd.metrics.hotspot_c.why(), "not bound to amdgpu") << driver;
        EXPECT_EQ(amd.ras.why(), "not bound to amdgpu");
        EXPECT_EQ(amd.ecc_memory.why(), "not bound to amdgpu");
    }
}

TEST(AmdTelemetryOf, EccIsOnOnlyWhenEveryPartitionSaysSo) {
    const test::Folder folder("amd-ecc");
    healthy(folder);
    Snapshot snapshot = one_gpu();
    KfdNode without = snapshot.gpus[0].amd.kfd_nodes[0];
    without.capability = Fact<std::uint64_t>(746037888 & ~0x100000U, "capability");
    snapshot.gpus[0].amd.kfd_nodes.push_back(without);
    vendor::read_amdgpu_telemetry(folder.open(), snapshot, false);
    EXPECT_TRUE(snapshot.gpus[0].telemetry.first.amd.ecc_memory.is(false));
    EXPECT_TRUE(snapshot.gpus[0].telemetry.first.amd.ecc_sram.is(true));
    snapshot.gpus[0].amd.kfd_nodes.clear();
    vendor::read_amdgpu_telemetry(folder.open(), snapshot, false);
    EXPECT_EQ(snapshot.gpus[0].telemetry.first.amd.ecc_memory.why(), "no KFD node of this GPU");
}

}  // namespace
}  // namespace gpucheck
