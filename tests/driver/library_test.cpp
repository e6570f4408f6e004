// Libraries that are older or broken: a function that is absent costs what needs it and is named.
#include <gtest/gtest.h>
#include <unistd.h>

#include "kernels/driver/driver.h"
#include "tests/fake/compute_scenario.h"
#include "tests/fake/hide.h"

namespace gpucheck::gpu {
namespace {

namespace fs = std::filesystem;

struct Silent final : child::Reporter {
    void step(std::string_view) override {}
    void line(std::string_view) override {}
};

struct Names {
    Vendor vendor;
    const char *file, *architecture, *required, *optional, *optional_call;
};
constexpr Names kVendors[] = {
    {Vendor::nvidia, "libcuda.so.1", "sm_90", "cuMemAlloc_v2", "cuMemcpyPeerAsync", "cuMemcpyPeerAsync"},
    {Vendor::amd, "libamdhip64.so.7", "gfx942", "hipMalloc", "hipMemcpyPeerAsync", "hipMemcpyPeerAsync"}};

class Absent : public testing::TestWithParam<Names> {
  protected:
    Absent() {
        std::string name = (fs::temp_directory_path() / "gpucheck-absent-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) std::abort();
        folder_ = name;
        fs::copy_file(fs::path(GPUCHECK_FAKE_DRIVER) / GetParam().file, folder_ / GetParam().file);
        scenario_.gpu("0000:19:00.0", GetParam().architecture).gpu("0000:29:00.0", GetParam().architecture);
        scenario_.write();
    }
    ~Absent() override { fs::remove_all(folder_); }

    std::variant<std::unique_ptr<Driver>, Missing> open_without(const std::vector<std::string>& symbols) {
        test::hide_symbols(folder_ / GetParam().file, symbols);
        vendor::LibrarySource source;
        source.driver_dir = folder_;
        return open_driver(GetParam().vendor, source, reporter_);
    }

    Silent reporter_;
    test::ComputeScenario scenario_;
    fs::path folder_;
};

TEST_P(Absent, RequiredFunctionMakesTheLibraryUnfit) {
    const auto opened = open_without({GetParam().required});
    ASSERT_TRUE(std::holds_alternative<Missing>(opened));
    EXPECT_EQ(std::get<Missing>(opened).why, std::string("lacks ") + GetParam().required);
}

TEST_P(Absent, OptionalFunctionCostsWhatNeedsIt) {
    const auto opened = open_without({GetParam().optional});
    ASSERT_TRUE(std::holds_alternative<std::unique_ptr<Driver>>(opened));
    auto one = std::get<0>(opened)->open(*Bdf::parse("0000:19:00.0"));
    auto two = std::get<0>(opened)->open(*Bdf::parse("0000:29:00.0"));
    ASSERT_TRUE(std::holds_alternative<std::unique_ptr<Gpu>>(one) &&
                std::holds_alternative<std::unique_ptr<Gpu>>(two));
    Gpu& gpu = *std::get<0>(one);
    DevicePointer memory = 0;
    EXPECT_EQ(gpu.allocate(64, memory), std::nullopt);
    const Done done = gpu.copy_to_peer(*std::get<0>(two), memory, memory, 64, Stream{});
    ASSERT_TRUE(done.has_value());
    EXPECT_EQ(done->call, GetParam().optional_call);
    EXPECT_EQ(done->error, "not in this library");
}

INSTANTIATE_TEST_SUITE_P(BothVendors, Absent, testing::ValuesIn(kVendors),
                         [](const auto& which) { return std::string(name_of(which.param.vendor)); });

}  // namespace
}  // namespace gpucheck::gpu
