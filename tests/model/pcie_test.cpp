// PCIe speeds and paths: tables, never division; emulated ports do not count.
#include "checks/model/pcie.h"

#include <gtest/gtest.h>

namespace gpucheck {
namespace {

PciLink link(LinkSpeed speed, unsigned width) {
    return {{speed, "test"}, {LinkSpeed::gen5, "test"}, {width, "test"}, {16U, "test"}};
}

TEST(LinkSpeed, EverySpellingOfTheKernel) {
    EXPECT_EQ(link_speed_from("32.0 GT/s PCIe"), LinkSpeed::gen5);
    EXPECT_EQ(link_speed_from("2.5 GT/s"), LinkSpeed::gen1);
    EXPECT_EQ(link_speed_from("8 GT/s"), LinkSpeed::gen3);
    EXPECT_EQ(link_speed_from("Unknown"), LinkSpeed::unknown);
    EXPECT_EQ(link_speed_from("Unknown speed"), LinkSpeed::unknown);
    for (const char* text : {"", "32", "32.0 GT/s PCIe ", "32.0GT/s", "-1", "9 GT/s"})
        EXPECT_FALSE(link_speed_from(text)) << text;
}

TEST(LinkBandwidth, FollowsTheLineCode) {
    EXPECT_NEAR(*link_bandwidth_gb_s(LinkSpeed::gen5, 16), 63.015, 0.001);
    EXPECT_NEAR(*link_bandwidth_gb_s(LinkSpeed::gen4, 16), 31.508, 0.001);
    EXPECT_NEAR(*link_bandwidth_gb_s(LinkSpeed::gen1, 1), 0.25, 0.001);
    for (const unsigned width : {0U, 3U, 63U, 255U})
        EXPECT_FALSE(link_bandwidth_gb_s(LinkSpeed::gen5, width)) << width;
    EXPECT_FALSE(link_bandwidth_gb_s(LinkSpeed::unknown, 16));
}

TEST(PathBandwidth, IsTheSlowestRealHop) {
    PciFunction gpu;
    gpu.bdf = Bdf{0, 0x19, 0, 0};
    gpu.link = link(LinkSpeed::gen5, 16);
    PciPort port;
    port.bdf = Bdf{0, 0x17, 0, 0};
    port.vendor = Fact<std::uint16_t>(0x1000, "test");
    port.link = link(LinkSpeed::gen4, 8);
    gpu.path = {port};
    const auto path = path_bandwidth(gpu, false);
    ASSERT_TRUE(path);
    EXPECT_EQ(path->limited_by, port.bdf);
    EXPECT_NEAR(path->gb_s, 15.754, 0.001);
    EXPECT_TRUE(path->complete);
    gpu.path[0].vendor = Fact<std::uint16_t>(0x1b36, "test");  // QEMU's root port: its values mean nothing
    EXPECT_NEAR(path_bandwidth(gpu, false)->gb_s, 63.015, 0.001);
    EXPECT_FALSE(path_bandwidth(gpu, false)->complete);
    EXPECT_FALSE(path_bandwidth(PciFunction{}, false));
}

}  // namespace
}  // namespace gpucheck
