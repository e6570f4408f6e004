// What a customer's machine answered comes back as it was, and a vendor.json that is none is refused in one
// sentence.
#include "agent/vendor/recorded.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gpucheck::vendor {
namespace {

namespace fs = std::filesystem;

Device device(const char* address, Vendor vendor) {
    Device gpu;
    gpu.bdf = *Bdf::parse(address);
    gpu.vendor = vendor;
    return gpu;
}

Snapshot machine() {
    Snapshot snapshot;
    snapshot.gpus = {device("0000:19:00.0", Vendor::nvidia), device("0000:3b:00.0", Vendor::nvidia),
                     device("0000:83:00.0", Vendor::amd)};
    return snapshot;
}

std::string refusal(std::string_view text) {
    const auto parsed = parse_vendor_json(text, "vendor.json");
    const auto* error = std::get_if<std::string>(&parsed);
    return error != nullptr ? *error : "accepted";
}

RecordedAnswers accepted(std::string_view text) {
    auto parsed = parse_vendor_json(text, "vendor.json");
    if (const auto* error = std::get_if<std::string>(&parsed)) ADD_FAILURE() << *error;
    return std::get_if<RecordedAnswers>(&parsed) != nullptr ? std::get<RecordedAnswers>(parsed)
                                                            : RecordedAnswers{};
}

TEST(VendorJson, IsJoinedByAddress) {
    Snapshot snapshot = machine();
    apply(accepted(R"({
        "nvml": {"system": {"gpu_count": {"value": 2, "source": "nvmlDeviceGetCount_v2"}},
                 "gpus": {"00000000:19:00.0": {"first": {"c2c_links": {"value": 4, "source": "FI 170"}},
                                               "last": {"c2c_links": {"value": 3, "source": "FI 170"}}},
                          "0000:ff:00.0": {"first": {}}},
                 "troubles": [{"library": "libnvidia-ml.so.1", "call": "nvmlInit_v2", "device": "",
                               "outcome": "hangs", "detail": "no answer within 800 ms"}]},
        "amd": {"gpus": {"0000:83:00.0": {"last": {"pcie_replays": {"missing": "EIO", "source": "x"}}}}}})"),
          snapshot);
    EXPECT_TRUE(snapshot.host.nvml.gpu_count.is(2U));
    EXPECT_EQ(snapshot.host.nvml.driver_version.why(), "not captured");
    EXPECT_TRUE(snapshot.gpus[0].telemetry.first.nvidia.c2c_links.is(4U));
    EXPECT_TRUE(snapshot.gpus[0].telemetry.last.nvidia.c2c_links.is(3U));
    EXPECT_EQ(snapshot.gpus[0].telemetry.first.nvidia.pcie.replays.why(), "not captured");
    EXPECT_EQ(snapshot.gpus[1].telemetry.first.nvidia.identity.handle.why(), "not captured");
    EXPECT_EQ(snapshot.gpus[2].telemetry.last.amd.pcie_replays.why(), "EIO");
    EXPECT_EQ(snapshot.gpus[2].telemetry.last.amd.power_uw.why(), "not captured");
    ASSERT_TRUE(snapshot.host.vendor_troubles.known());
    EXPECT_EQ(snapshot.host.vendor_troubles->at(0).call, "nvmlInit_v2");
}

TEST(VendorJson, ComesBackAsItWasWritten) {
    Snapshot written = machine();
    written.host.nvml.driver_version = Fact<std::string>("570.133.20", "nvmlSystemGetDriverVersion");
    written.host.vendor_troubles =
        Fact<std::vector<VendorTrouble>>({{"l", "c", "d", "crashed", "SIGSEGV"}}, "children");
    written.gpus[0].telemetry.first.nvidia.power.limit_mw = Fact<std::uint64_t>(700'000, "nvml");
    written.gpus[0].telemetry.last.nvidia.power.limit_mw = Missing{"nvml", "GPU_IS_LOST"};
    written.gpus[2].telemetry.last.amd.power_uw = Fact<std::uint64_t>(750'000'000, "hwmon");
    written.gpus[0].telemetry.first.at_s = Fact<double>(0.5, "clock");
    written.gpus[2].telemetry.last.at_s = Fact<double>(58.25, "clock");
    Snapshot read = machine();
    apply(accepted(vendor_json(written)), read);
    EXPECT_EQ(read.host.nvml.driver_version, written.host.nvml.driver_version);
    EXPECT_EQ(*read.host.vendor_troubles, *written.host.vendor_troubles);
    EXPECT_EQ(read.gpus[0].telemetry.first.nvidia.power, written.gpus[0].telemetry.first.nvidia.power);
    EXPECT_EQ(read.gpus[0].telemetry.last.nvidia.power, written.gpus[0].telemetry.last.nvidia.power);
    EXPECT_EQ(read.gpus[2].telemetry.last.amd, written.gpus[2].telemetry.last.amd);
    EXPECT_TRUE(read.gpus[0].telemetry.first.at_s.is(0.5));
    EXPECT_TRUE(read.gpus[2].telemetry.last.at_s.is(58.25));
    EXPECT_EQ(read.gpus[1].telemetry.last.at_s.why(), "not captured");
    Snapshot nothing = machine();
    apply({}, nothing);
    EXPECT_EQ(nothing.host.vendor_troubles.why(), "not captured");
    EXPECT_EQ(vendor_json(nothing), "");    // what was not captured is not kept as an answer
    EXPECT_EQ(vendor_json(machine()), "");  // nobody answered: there is nothing to keep
}

TEST(VendorJson, ThatIsNoneIsRefusedInOneSentence) {
    EXPECT_NE(refusal("{").find("vendor.json: "), std::string::npos);
    EXPECT_NE(refusal(std::string("\0\1\2", 3)), "accepted");
    EXPECT_EQ(refusal("[]"), "vendor.json: expected an object");
    EXPECT_EQ(refusal(R"({"nvml": 3})"), "vendor.json: nvml: expected an object");
    EXPECT_EQ(refusal(R"({"nvml": {"gpus": []}})"),
              "vendor.json: nvml.gpus: expected an object of PCI addresses");
    EXPECT_EQ(refusal(R"({"nvml": {"gpus": {"gpu0": {}}}})"),
              "vendor.json: nvml.gpus: \"gpu0\" is no PCI address");
    EXPECT_EQ(refusal(R"({"nvml": {"gpus": {"0000:19:00.0": 1}}})"),
              "vendor.json: nvml.gpus.0000:19:00.0: expected an object");
    EXPECT_NE(
        refusal(
            R"({"nvml": {"gpus": {"0000:19:00.0": {"first": {"c2c_links": {"value": -1, "source": ""}}}}}})")
            .find("c2c_links"),
        std::string::npos);
    EXPECT_NE(refusal(R"({"nvml": {"system": {"gpu_count": 8}}})").find("gpu_count"), std::string::npos);
    EXPECT_NE(refusal(R"({"nvml": {"troubles": [{}]}})").find("troubles"), std::string::npos);
    EXPECT_NE(refusal(R"({"amd": {"gpus": {"0000:83:00.0": {"first": {}}}}})").find("sysroot/"),
              std::string::npos);
    for (const char* seconds : {"-1", "\"1\"", "1e300", "null"}) {
        EXPECT_NE(
            refusal(std::string(R"({"nvml": {"gpus": {"0000:19:00.0": {"first_at_s": )") + seconds + "}}}}")
                .find("no number"),
            std::string::npos)
            << seconds;
    }
    EXPECT_EQ(refusal(R"({"amd": []})"), "vendor.json: amd: expected an object");
    EXPECT_EQ(refusal(R"({"unknown": [1]})"), "accepted");
}

TEST(VendorJson, IsReadFromTheFolder) {
    const fs::path folder = fs::path(::testing::TempDir()) / "gpucheck-vendor-json";
    fs::create_directories(folder);
    const auto read = [&] { return read_vendor_json(folder); };
    fs::remove(folder / "vendor.json");
    auto absent = read();
    ASSERT_TRUE(std::holds_alternative<std::optional<RecordedAnswers>>(absent));
    EXPECT_FALSE(std::get<std::optional<RecordedAnswers>>(absent).has_value());
    std::ofstream(folder / "vendor.json") << "{}";
    auto empty = read();
    ASSERT_TRUE(std::holds_alternative<std::optional<RecordedAnswers>>(empty));
    EXPECT_TRUE(std::get<std::optional<RecordedAnswers>>(empty).has_value());
    {
        std::ofstream huge(folder / "vendor.json");
        const std::string block(1 << 20, ' ');
        for (int i = 0; i < 100; ++i) huge << block;
    }
    auto refused = read();
    ASSERT_TRUE(std::holds_alternative<std::string>(refused));
    EXPECT_NE(std::get<std::string>(refused).find("larger than 16 MiB"), std::string::npos);
    fs::remove_all(folder);
}

}  // namespace
}  // namespace gpucheck::vendor
