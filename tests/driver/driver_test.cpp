// The two vendors' drivers behind one interface, through the fake libraries.
#include <gtest/gtest.h>
#include <unistd.h>

#include "kernels/driver/driver.h"
#include "tests/fake/compute_scenario.h"

namespace gpucheck::gpu {
namespace {

struct Silent final : child::Reporter {
    void step(std::string_view call) override { last = call; }
    void line(std::string_view) override {}
    std::string last;
};

/// The fakes read their scenario once a process: all cases share it.
class DriverTest : public testing::TestWithParam<Vendor> {
  protected:
    static void SetUpTestSuite() {
        static test::ComputeScenario scenario;
        scenario.gpu("0000:19:00.0", "sm_90", 3, 4U << 20).gpu("0000:29:00.0", "sm_90");
        scenario.gpu("0000:83:00.0", "gfx942", 3, 4U << 20).gpu("0000:93:00.0", "gfx942").write();
    }
    bool amd() const { return GetParam() == Vendor::amd; }
    std::string first() const { return amd() ? "0000:83:00.0" : "0000:19:00.0"; }
    std::string second() const { return amd() ? "0000:93:00.0" : "0000:29:00.0"; }
    std::unique_ptr<Driver> driver() {
        vendor::LibrarySource source;
        source.driver_dir = GPUCHECK_FAKE_DRIVER;
        auto opened = open_driver(GetParam(), source, reporter_);
        if (auto* missing = std::get_if<Missing>(&opened)) {
            ADD_FAILURE() << missing->source << ": " << missing->why;
            return nullptr;
        }
        return std::move(std::get<0>(opened));
    }
    static std::unique_ptr<Gpu> open(Driver& driver, const std::string& address) {
        auto opened = driver.open(*Bdf::parse(address));
        if (auto* missing = std::get_if<Missing>(&opened)) {
            ADD_FAILURE() << missing->source << ": " << missing->why;
            return nullptr;
        }
        return std::move(std::get<0>(opened));
    }
    Silent reporter_;
};

TEST_P(DriverTest, PropertiesAreTheGpus) {
    const auto driver = this->driver();
    ASSERT_NE(driver, nullptr);
    const auto gpu = open(*driver, first());
    ASSERT_NE(gpu, nullptr);
    EXPECT_EQ(gpu->properties().architecture, amd() ? "gfx942" : "sm_90");
    EXPECT_EQ(gpu->properties().units, 3U);
    EXPECT_EQ(gpu->properties().total_bytes, 4U << 20);
    EXPECT_EQ(gpu->properties().clock_mhz, 1000U);
}

TEST_P(DriverTest, UnlistedGpuIsAbsent) {
    const auto driver = this->driver();
    ASSERT_NE(driver, nullptr);
    const auto opened = driver->open(*Bdf::parse("0000:01:00.0"));
    ASSERT_TRUE(std::holds_alternative<Missing>(opened));
    EXPECT_EQ(std::get<Missing>(opened).why, "ENOENT");
}

TEST_P(DriverTest, MemoryGoesThereAndBack) {
    const auto driver = this->driver();
    ASSERT_NE(driver, nullptr);
    const auto gpu = open(*driver, first());
    Stream stream;
    DevicePointer memory = 0;
    void* host = nullptr;
    ASSERT_EQ(gpu->create(stream), std::nullopt);
    ASSERT_EQ(gpu->allocate(64, memory), std::nullopt);
    ASSERT_EQ(gpu->allocate_pinned(64, host), std::nullopt);
    ASSERT_EQ(gpu->fill_words(memory, 0xCAFE, 16, stream), std::nullopt);
    const auto at = reinterpret_cast<std::uint64_t>(host);
    ASSERT_EQ(gpu->copy(Direction::to_host, at, memory, 64, stream), std::nullopt);
    ASSERT_EQ(gpu->synchronize(stream), std::nullopt);
    for (int i = 0; i < 16; ++i) EXPECT_EQ(static_cast<std::uint32_t*>(host)[i], 0xCAFEU);
    static_cast<std::uint32_t*>(host)[3] = 7;
    ASSERT_EQ(gpu->copy(Direction::to_device, memory, at, 64, stream), std::nullopt);
    ASSERT_EQ(gpu->copy(Direction::on_device, memory + 16, memory + 12, 4, stream), std::nullopt);
    ASSERT_EQ(gpu->copy(Direction::to_host, at, memory, 64, stream), std::nullopt);
    EXPECT_EQ(static_cast<std::uint32_t*>(host)[4], 7U);
    EXPECT_EQ(gpu->release(memory), std::nullopt);
    EXPECT_EQ(gpu->release_pinned(host), std::nullopt);
}

TEST_P(DriverTest, FailuresKeepTheVendorsNames) {
    const auto driver = this->driver();
    ASSERT_NE(driver, nullptr);
    const auto gpu = open(*driver, first());
    DevicePointer memory = 0;
    const Done full = gpu->allocate(std::uint64_t{1} << 40, memory);
    ASSERT_TRUE(full.has_value());
    EXPECT_TRUE(full->out_of_memory);
    EXPECT_EQ(full->error, amd() ? "hipErrorOutOfMemory" : "CUDA_ERROR_OUT_OF_MEMORY");
    EXPECT_EQ(full->call, amd() ? "hipMalloc" : "cuMemAlloc");
    EXPECT_EQ(reporter_.last, full->call);  // announced before it was made
    Module module;
    Kernel kernel;
    ASSERT_EQ(gpu->load("image", module), std::nullopt);
    const Done absent = gpu->find(module, "no_such_kernel", kernel);
    ASSERT_TRUE(absent.has_value());
    EXPECT_EQ(absent->error, amd() ? "hipErrorNotFound" : "CUDA_ERROR_NOT_FOUND");
    EXPECT_FALSE(absent->out_of_memory);
}

TEST_P(DriverTest, PeersAreReachedByAddress) {
    const auto driver = this->driver();
    ASSERT_NE(driver, nullptr);
    const auto one = open(*driver, first()), two = open(*driver, second());
    bool direct = false;
    EXPECT_EQ(one->reach_peer(*two, direct), std::nullopt);
    EXPECT_TRUE(direct);
    DevicePointer from = 0, to = 0;
    Stream stream;
    ASSERT_EQ(one->create(stream), std::nullopt);
    ASSERT_EQ(one->allocate(64, from), std::nullopt);
    ASSERT_EQ(two->allocate(64, to), std::nullopt);
    ASSERT_EQ(one->fill_words(from, 0xBEEF, 16, stream), std::nullopt);
    EXPECT_EQ(one->copy_to_peer(*two, to, from, 64, stream), std::nullopt);
    std::uint32_t word = 0;
    EXPECT_EQ(two->copy(Direction::to_host, reinterpret_cast<std::uint64_t>(&word), to, 4, stream),
              std::nullopt);
    EXPECT_EQ(word, 0xBEEFU);
    EXPECT_EQ(one->release(from), std::nullopt);
    EXPECT_EQ(two->release(to), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(BothVendors, DriverTest, testing::Values(Vendor::nvidia, Vendor::amd),
                         [](const auto& which) { return std::string(name_of(which.param)); });

TEST(DriverEnvironment, NothingHidesAGpu) {
    for (const char* name :
         {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"})
        ::setenv(name, "7", 1);
    neutralise_environment();
    for (const char* name :
         {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"})
        EXPECT_EQ(std::getenv(name), nullptr) << name;
    EXPECT_STREQ(std::getenv("CUDA_DEVICE_ORDER"), "PCI_BUS_ID");
}

TEST(DriverLibrary, WhatIsAbsentIsSaid) {
    Silent reporter;
    vendor::LibrarySource source;
    source.driver_dir = "/nonexistent";
    for (const Vendor vendor : {Vendor::nvidia, Vendor::amd}) {
        const auto opened = open_driver(vendor, source, reporter);
        ASSERT_TRUE(std::holds_alternative<Missing>(opened));
        EXPECT_EQ(std::get<Missing>(opened).why, "ENOENT");
    }
}

}  // namespace
}  // namespace gpucheck::gpu
