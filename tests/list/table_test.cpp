// The telemetry table: "?" is not "-", "-" is not 0, and a total that went back is no rate.
#include <gtest/gtest.h>

#include "agent/list_telemetry.h"
#include "agent/list_values.h"

namespace gpucheck {
namespace {

using listing::Earlier;
using listing::telemetry_table;
using listing::Totals;
using listing::totals_of;

template <class T>
Fact<T> known(T value) {
    return Fact<T>(std::move(value), "test");
}

Device amd_gpu() {
    Device gpu;
    gpu.bdf = *Bdf::parse("0000:19:00.0");
    gpu.vendor = Vendor::amd;
    AmdTelemetry& amd = gpu.telemetry.first.amd;
    HwmonTemperature junction;
    junction.label = "junction";
    junction.celsius = known(56);
    amd.temperatures = known(std::vector<HwmonTemperature>{junction});
    amd.power_uw = known(std::uint64_t{131600000});
    amd.power_cap_uw = known(std::uint64_t{750000000});
    amd.metrics.gfxclk_mhz = known(std::vector<unsigned>{132, 2100, 132});
    amd.metrics.energy_uj = known(std::uint64_t{1000000});
    amd.metrics.residency.accumulation_counter = known(std::uint64_t{1000});
    amd.metrics.residency.ppt = known(std::uint64_t{400});
    RasBlock umc;
    umc.name = "umc";
    umc.uncorrectable = known(std::uint64_t{0});
    umc.correctable = known(std::uint64_t{4});
    amd.ras = known(std::vector<RasBlock>{umc});
    return gpu;
}

Snapshot with(std::vector<Device> gpus) {
    Snapshot snapshot;
    snapshot.gpus = std::move(gpus);
    return snapshot;
}

TEST(TelemetryTable, ValuesWithUnitsInTheHeader) {
    const std::string table = telemetry_table(with({amd_gpu()}), 200);
    for (const char* word : {"TEMP C", "POWER W", "132/750", "SM MHZ", "2100", "ECC UE/CE", "0/4"})
        EXPECT_NE(table.find(word), std::string::npos) << word << "\n" << table;
    EXPECT_EQ(table.find("PSTATE"), std::string::npos) << "nobody has one\n" << table;
    EXPECT_EQ(table.find("MEM C"), std::string::npos) << table;
}

TEST(TelemetryTable, OneUnknownAmongKnownIsAQuestionMark) {
    Device other = amd_gpu();
    other.bdf = *Bdf::parse("0000:29:00.0");
    other.telemetry.first.amd.power_uw = Missing{"f", "EIO"};
    other.telemetry.first.amd.metrics.socket_power_w = Missing{"f", "EIO"};
    other.telemetry.first.amd.temperatures = Missing{"f", "ENOENT"};
    other.telemetry.first.amd.metrics.hotspot_c = Missing{"f", "ENOENT"};
    EXPECT_EQ(listing::power_cell(other), "?/750");
    EXPECT_EQ(listing::temperature_cell(other), "-");
    EXPECT_NE(telemetry_table(with({amd_gpu(), other}), 200).find("?/750"), std::string::npos);
}

TEST(TelemetryTable, NothingReadIsNoTable) {
    Device gpu;
    gpu.bdf = *Bdf::parse("0000:19:00.0");
    EXPECT_EQ(telemetry_table(with({gpu}), 200), "");
    EXPECT_EQ(telemetry_table(with({}), 200), "");
}

TEST(TelemetryTable, ABlockThatCouldNotBeReadIsNoZero) {
    Device gpu = amd_gpu();
    RasBlock denied;
    denied.name = "gfx";
    denied.uncorrectable = denied.correctable = denied.deferred =
        Missing{"f", "Query currently inaccessible"};
    std::vector<RasBlock> blocks = *gpu.telemetry.first.amd.ras;
    blocks.push_back(denied);
    gpu.telemetry.first.amd.ras = known(blocks);
    EXPECT_EQ(listing::ecc_cell(gpu), "?/4+");
}

TEST(TelemetryTable, NvidiaReasonsInWords) {
    Device gpu;
    gpu.vendor = Vendor::nvidia;
    NvidiaTelemetry& nv = gpu.telemetry.first.nvidia;
    nv.clocks.event_reasons = known(std::uint64_t{0});
    EXPECT_EQ(listing::throttle_cell(gpu), "none");
    nv.clocks.event_reasons = known(std::uint64_t{0x44});
    EXPECT_EQ(listing::throttle_cell(gpu), "power-cap,hw-thermal");
    nv.clocks.event_reasons = known(std::uint64_t{1} << 50);
    EXPECT_EQ(listing::throttle_cell(gpu), "other") << "a bit of a later driver";
    nv.ecc.current = known(false);
    EXPECT_EQ(listing::ecc_cell(gpu), "off");
    nv.repair.rows_correctable = known(std::uint64_t{1});
    nv.repair.rows_uncorrectable = known(std::uint64_t{2});
    nv.repair.row_remap_failure = known(true);
    EXPECT_EQ(listing::repair_cell(gpu), "3 rows,failed");
    nv.nvlinks = Missing{"NVML", "NOT_SUPPORTED"};
    EXPECT_EQ(listing::links_cell(gpu), "-");
}

TEST(TelemetryTable, RatesBetweenTwoLooks) {
    Device later = amd_gpu();
    AmdTelemetry& amd = later.telemetry.first.amd;
    amd.metrics.energy_uj = known(std::uint64_t{601000000});  // 600 J in 2 s
    amd.metrics.residency.accumulation_counter = known(std::uint64_t{1200});
    amd.metrics.residency.ppt = known(std::uint64_t{450});
    std::vector<RasBlock> blocks = *amd.ras;
    blocks[0].correctable = known(std::uint64_t{9});
    amd.ras = known(blocks);
    const Totals before = totals_of(amd_gpu());
    const std::string table = telemetry_table(with({later}), 200, {&before, 1, 2.0});
    for (const char* word : {"MEAN W", "300", "+0/+5", "25%/?"})
        EXPECT_NE(table.find(word), std::string::npos) << word << "\n" << table;
}

TEST(TelemetryTable, ATotalThatWentBackIsNoRate) {
    Device later = amd_gpu();
    later.telemetry.first.amd.metrics.energy_uj = known(std::uint64_t{5});
    const Totals before = totals_of(amd_gpu());
    const std::string table = telemetry_table(with({later}), 200, {&before, 1, 2.0});
    EXPECT_EQ(table.find("MEAN W"), std::string::npos) << table;
}

TEST(TelemetryTable, FitsItsWidth) {
    const std::string table = telemetry_table(with({amd_gpu()}), 60);
    std::size_t at = 0;
    while (at < table.size()) {
        const std::size_t end = table.find('\n', at);
        EXPECT_LE(end - at, 80U);
        at = end + 1;
    }
}

}  // namespace
}  // namespace gpucheck
