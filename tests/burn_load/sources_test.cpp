// Where moments come from: amdgpu's files of a recorded machine, the fake NVML, and a sampler that ends on
// time.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <fstream>
#include <mutex>

#include "agent/burn_in_sampler.h"
#include "agent/burn_in_sources.h"
#include "tests/host/temp_machine.h"

namespace gpucheck {
namespace {

const Bdf kAmd{0, 0x05, 0, 0}, kNvidia{0, 0x19, 0, 0};
const std::string kFolder = "/sys/bus/pci/devices/0000:05:00.0/";

void write_gpu(host::TempMachine& machine) {
    const std::string hwmon = kFolder + "hwmon/hwmon7/";
    machine.file(kFolder + "current_link_speed", "32.0 GT/s PCIe\n")
        .file(kFolder + "current_link_width", "16\n")
        .file(kFolder + "gpu_busy_percent", "98\n")
        .file(kFolder + "ras/umc_err_count", "ue: 1\nce: 20\nde: 2\n")
        .file(kFolder + "ras/gfx_err_count", "ue: 0\nce: 3\n")
        .file(hwmon + "name", "amdgpu\n")
        .file(hwmon + "power1_input", "612000000\n")
        .file(hwmon + "power1_cap", "750000000\n")
        .file(hwmon + "temp2_label", "junction\n")
        .file(hwmon + "temp2_input", "71000\n")
        .file(hwmon + "temp3_label", "mem\n")
        .file(hwmon + "temp3_input", "64000\n");
}

TEST(AmdgpuSource, ReadsByLabelAndAddsUpErrors) {
    host::TempMachine machine;
    write_gpu(machine);
    const host::Sysroot root = machine.open();
    const auto source = amdgpu_source(&root, kAmd, [&] { return machine.open(); });
    LoadSample sample;
    source->sample(sample, true);
    EXPECT_TRUE(sample.power_w.is(612.0));
    EXPECT_TRUE(sample.power_limit_w.is(750.0));
    EXPECT_TRUE(sample.temperature_c.is(71.0));
    EXPECT_TRUE(sample.memory_temperature_c.is(64.0));
    EXPECT_TRUE(sample.link_generation.is(5U));
    EXPECT_TRUE(sample.link_width.is(16U));
    EXPECT_TRUE(sample.busy.is(true));
    EXPECT_TRUE(sample.ecc_corrected.is(23U));
    EXPECT_TRUE(sample.ecc_uncorrected.is(3U));
    EXPECT_TRUE(sample.residency.accumulation_counter.absent()) << "no gpu_metrics here";
}

TEST(AmdgpuSource, MissingAndHostileFilesAreReasons) {
    host::TempMachine machine;
    write_gpu(machine);
    machine.file(kFolder + "current_link_speed", "Unknown\n")
        .file(kFolder + "gpu_busy_percent", "4294967295\n")
        .file(kFolder + "gpu_metrics", std::string(40000, '\xff'))
        .file(kFolder + "hwmon/hwmon7/temp2_input", "-99999999\n");
    const host::Sysroot root = machine.open();
    const auto source = amdgpu_source(&root, kAmd, [&] { return machine.open(); });
    LoadSample sample;
    source->sample(sample, true);
    EXPECT_TRUE(sample.ecc_corrected.is(23U));
    EXPECT_FALSE(sample.link_generation.known());
    EXPECT_FALSE(sample.busy.known());
    EXPECT_FALSE(sample.temperature_c.known());
    EXPECT_FALSE(sample.residency.accumulation_counter.known());
    machine.file(kFolder + "ras/gfx_err_count", "ue: 0\nce: 4\n");
    source->sample(sample, true);
    EXPECT_TRUE(sample.ecc_corrected.is(24U)) << "counts are read anew each time";
    // A block that answers "Query currently inaccessible" takes its counts with it: not fewer errors, no
    // count.
    machine.file(kFolder + "ras/umc_err_count", "Query currently inaccessible\n");
    LoadSample later;
    source->sample(later, true);
    EXPECT_FALSE(later.ecc_corrected.known());
}

TEST(AmdgpuSource, CountsThatReadingResetsAreLeftAlone) {
    host::TempMachine machine;
    write_gpu(machine);
    const host::Sysroot root = machine.open();
    LoadSample sample;
    amdgpu_source(&root, kAmd, {})->sample(sample, true);
    EXPECT_EQ(sample.ecc_corrected.why(), "not reported: reading may set the counts to zero");
    LoadSample nothing;
    amdgpu_source(nullptr, kAmd, {})->sample(nothing, true);
    EXPECT_EQ(nothing.power_w.why(), "not reported: this machine's files are not this GPU's");
    LoadHistory history;
    history.add(nothing);
    EXPECT_EQ(history.summary(1).throttled_share.why(), nothing.power_w.why());
    EXPECT_EQ(history.summary(1).ecc_corrected.why(), nothing.power_w.why());
}

TEST(NvmlSource, WithoutALibraryEachFactSaysWhy) {
    LoadSample sample;
    nvml_source({true, "/nonexistent"}, kNvidia, nullptr)->sample(sample, true);
    EXPECT_FALSE(sample.power_w.known());
    EXPECT_FALSE(sample.power_w.why().empty());
    EXPECT_EQ(sample.busy.why(), sample.power_w.why());
    EXPECT_EQ(sample.throttle_mask.why(), sample.power_w.why());
}

// The library reads its scenario once, so that one process can play one.
TEST(NvmlSource, AsksWhatTheFakeDriverAnswers) {
    const std::string file = ::testing::TempDir() + "burn_load_scenario.json";
    std::ofstream(file) << R"({"gpus": [{"board": "h100-sxm", "at": "0000:19:00.0", "values": {
        "nvmlDeviceGetPowerUsage": 640000, "nvmlDeviceGetEnforcedPowerLimit": 650000,
        "nvmlDeviceGetCurrentClocksEventReasons": 68, "nvmlDeviceGetUtilizationRates": [97, 40],
        "nvmlDeviceGetTotalEccErrors/0/0": {"queue": [100, 105]}, "nvmlDeviceGetTotalEccErrors/1/0": 0,
        "nvmlDeviceGetCurrPcieLinkGeneration": 5, "nvmlDeviceGetCurrPcieLinkWidth": 16,
        "nvmlDeviceGetPerformanceState": {"queue": [0, 8]}, "FI 82": {"uint": 77},
        "nvmlDeviceGetTemperature/0": {"error": "NOT_SUPPORTED"}}}]})";
    ::setenv("GPUCHECK_FAKE_SCENARIO", file.c_str(), 1);
    const auto source = nvml_source({true, GPUCHECK_FAKE_DRIVER}, kNvidia, nullptr);
    LoadSample sample;
    sample.copying = true;
    source->sample(sample, true);
    EXPECT_TRUE(sample.power_w.is(640.0)) << sample.power_w.why();
    EXPECT_TRUE(sample.power_limit_w.is(650.0)) << sample.power_limit_w.why();
    EXPECT_TRUE(sample.memory_temperature_c.is(77.0)) << sample.memory_temperature_c.why();
    EXPECT_TRUE(sample.throttle_mask.is(68U));
    EXPECT_TRUE(sample.busy.is(true));
    EXPECT_TRUE(sample.ecc_corrected.is(100U)) << sample.ecc_corrected.why();
    EXPECT_TRUE(sample.ecc_uncorrected.is(0U));
    EXPECT_TRUE(sample.link_generation.is(5U));
    EXPECT_TRUE(sample.link_width.is(16U));
    EXPECT_TRUE(sample.copying);
    // At rest in P8 a link says nothing, whatever is queued.
    LoadSample resting;
    resting.copying = true;
    source->sample(resting, true);
    EXPECT_FALSE(resting.copying);
    EXPECT_TRUE(resting.ecc_corrected.is(105U));

    // The whole sampler: at least a few samples in half a second, and it is over at once.
    std::mutex mutex;
    LoadSamples last;
    const auto start = std::chrono::steady_clock::now();
    {
        SamplerTarget target;
        target.bdf = kNvidia;
        target.libraries = {true, GPUCHECK_FAKE_DRIVER};
        target.files = false;
        Sampler sampler(target, [&](const LoadSamples& load) {
            const std::lock_guard lock(mutex);
            last = load;
        });
        sampler.enter("matrix");
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
    const std::lock_guard lock(mutex);
    ASSERT_TRUE(last.samples.known());
    EXPECT_GE(*last.samples, 2U);
    EXPECT_TRUE(last.copy_samples.is(0U)) << "nothing was copied";
    EXPECT_TRUE(last.power_w.known());
}

}  // namespace
}  // namespace gpucheck
