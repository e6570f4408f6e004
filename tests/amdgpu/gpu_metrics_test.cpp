// A field of gpu_metrics that is read at a neighbour's offset blames or acquits the wrong GPU.
#include "agent/vendor/gpu_metrics.h"

#include <gtest/gtest.h>

#include "tests/amdgpu/samples.h"

namespace gpucheck {
namespace {

using test::sample;
using vendor::parse_gpu_metrics;

AmdMetrics parsed(const std::string& layout) {
    const std::string bytes = sample(layout);
    EXPECT_FALSE(bytes.empty()) << layout;
    return parse_gpu_metrics(bytes, "gpu_metrics");
}

class Layouts : public testing::TestWithParam<const char*> {
  protected:
    std::string layout() const { return GetParam(); }
    char content() const { return GetParam()[2]; }
};

TEST_P(Layouts, SensorsAndPower) {
    const AmdMetrics m = parsed(layout());
    EXPECT_TRUE(m.layout.is(layout().substr(0, 3))) << m.layout.why();
    EXPECT_TRUE(m.hotspot_c.is(41));
    EXPECT_TRUE(m.memory_c.is(42));
    EXPECT_TRUE(m.vr_soc_c.is(43));
    EXPECT_TRUE(m.socket_power_w.is(255U)) << "a true 255 in 16 bits is a value";
    EXPECT_TRUE(m.gfx_activity_percent.is(51U));
    EXPECT_TRUE(m.memory_activity_percent.is(52U));
    EXPECT_TRUE(m.energy_uj.is(std::uint64_t{3000000})) << "65536 steps are a joule";
    EXPECT_TRUE(m.firmware_timestamp_ns.is(std::uint64_t{50010}));
    EXPECT_EQ(m.edge_c.known(), content() == '3');
}

TEST_P(Layouts, ClocksAndLinks) {
    const AmdMetrics m = parsed(layout());
    const bool scalar = content() == '3';
    const std::vector<unsigned> gfx =
        scalar ? std::vector<unsigned>{101} : std::vector<unsigned>{101, 102, 103, 104, 105, 106};
    EXPECT_TRUE(m.gfxclk_mhz.is(gfx)) << "slots of dies that are not there are left out";
    EXPECT_TRUE(m.socclk_mhz.is(scalar ? std::vector<unsigned>{201} : std::vector<unsigned>{201, 202}));
    EXPECT_TRUE(m.uclk_mhz.is(301U));
    EXPECT_TRUE(m.links.pcie_width.is(16U));
    EXPECT_TRUE(m.links.pcie_speed_tenth_gts.is(320U));
    if (scalar) {
        EXPECT_EQ(m.links.xgmi_width.why(), "not in layout 1.3");
        return;
    }
    EXPECT_TRUE(m.gfxclk_lock_status.is(std::uint64_t{9}));
    EXPECT_TRUE(m.links.xgmi_width.is(15U));
    EXPECT_TRUE(m.links.xgmi_speed_gbps.is(32U));
    EXPECT_TRUE(m.links.pcie_l0_to_recovery.is(std::uint64_t{2001}));
    EXPECT_TRUE(m.links.pcie_replays.is(std::uint64_t{2002}));
    EXPECT_TRUE(m.links.pcie_replay_rollovers.is(std::uint64_t{2003}));
    EXPECT_TRUE(
        m.links.xgmi_read_kb.is(std::vector<std::uint64_t>{3001, 3002, 3003, 3004, 3005, 3006, 3007}));
    EXPECT_TRUE(
        m.links.xgmi_write_kb.is(std::vector<std::uint64_t>{4001, 4002, 4003, 4004, 4005, 4006, 4007}));
}

TEST_P(Layouts, WhatOnlySomeHave) {
    const AmdMetrics m = parsed(layout());
    if (content() >= '5') {
        EXPECT_TRUE(m.links.pcie_naks_sent.is(std::uint64_t{2004}));
        EXPECT_TRUE(m.links.pcie_naks_received.is(std::uint64_t{2005}));
    } else {
        EXPECT_FALSE(m.links.pcie_naks_sent.known());
    }
    if (content() >= '6') {
        EXPECT_TRUE(m.residency.accumulation_counter.is(std::uint64_t{1001}));
        EXPECT_TRUE(m.residency.prochot.is(std::uint64_t{1002}));
        EXPECT_TRUE(m.residency.ppt.is(std::uint64_t{1003}));
        EXPECT_TRUE(m.residency.socket_thermal.is(std::uint64_t{1004}));
        EXPECT_TRUE(m.residency.vr_thermal.is(std::uint64_t{1005}));
        EXPECT_TRUE(m.residency.hbm_thermal.is(std::uint64_t{1006}));
    } else {
        EXPECT_FALSE(m.residency.ppt.known());
    }
    const bool status = content() <= '5' || layout() == "1.6-early";
    EXPECT_EQ(m.residency.throttle_status.known(), status);
    if (status) {
        EXPECT_TRUE(m.residency.throttle_status.is(std::uint64_t{7}));
    }
    if (content() == '3') {
        EXPECT_TRUE(m.residency.independent_throttle_status.is(std::uint64_t{1} << 40));
    }
    const bool partitions = content() >= '6' && layout() != "1.6-early";
    EXPECT_EQ(m.partitions.known(), partitions);
    if (partitions) {
        EXPECT_TRUE(m.partitions.is(8U));
        EXPECT_TRUE(m.links.pcie_other_end_recovery.is(std::uint64_t{2006}));
    }
    if (content() >= '7') {
        EXPECT_TRUE(m.links.xgmi_link_up.is(std::vector<unsigned>{1, 1, 0, 1, 1, 1, 1}))
            << "2 is a slot without a link; 0 is a link that is down";
    } else {
        EXPECT_FALSE(m.links.xgmi_link_up.known());
    }
}

INSTANTIATE_TEST_SUITE_P(All, Layouts,
                         testing::Values("1.3", "1.4", "1.5", "1.6-early", "1.6", "1.7", "1.8-early", "1.8",
                                         "1.9"));

// Walks every fact of a struct.
template <class T, class Each>
void each_fact(const T& part, Each each) {
    if constexpr (HasFields<T>) {
        T::fields([&](const auto&... field) { (each_fact(part.*field.member, each), ...); });
    } else {
        each(part);
    }
}

class AllOnes : public testing::TestWithParam<const char*> {};

TEST_P(AllOnes, IsAbsentAndNeverANumber) {
    const AmdMetrics m = parsed(std::string(GetParam()) + "-ones");
    EXPECT_TRUE(m.layout.known());
    int known = 0, unavailable = 0;
    each_fact(m, [&](const auto& fact) {
        known += fact.known() ? 1 : 0;
        unavailable += fact.why() == "not available" ? 1 : 0;
    });
    EXPECT_EQ(known, 1) << "the layout itself";
    EXPECT_GT(unavailable, 15);
}

INSTANTIATE_TEST_SUITE_P(All, AllOnes,
                         testing::Values("1.3", "1.4", "1.5", "1.6-early", "1.6", "1.7", "1.8-early", "1.8"));

TEST(GpuMetrics, UnknownLayoutsAreNamedWithTheirSize) {
    std::string bytes = sample("1.7");
    bytes[3] = 11;
    EXPECT_EQ(parse_gpu_metrics(bytes, "f").hotspot_c.why(), "unknown layout 1.11, 2208 bytes");
    bytes = sample("1.7");
    bytes[3] = 6;  // a size that 1.6 never had
    EXPECT_EQ(parse_gpu_metrics(bytes, "f").layout.why(), "unknown layout 1.6, 2208 bytes");
    bytes = sample("1.5");
    bytes[2] = 2;  // an APU's
    EXPECT_EQ(parse_gpu_metrics(bytes, "f").layout.why(), "unknown layout 2.5, 360 bytes");
}

TEST(GpuMetrics, EveryTruncationIsMissing) {
    for (const char* layout : {"1.3", "1.5", "1.8", "1.9"}) {
        const std::string bytes = sample(layout);
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            const AmdMetrics m = parse_gpu_metrics(std::string_view(bytes).substr(0, size), "f");
            int known = 0;
            each_fact(m, [&](const auto& fact) { known += fact.known() ? 1 : 0; });
            ASSERT_EQ(known, 0) << layout << " cut to " << size;
        }
    }
    EXPECT_EQ(parse_gpu_metrics({}, "f").layout.why(), "empty");
    EXPECT_EQ(parse_gpu_metrics(sample("1.3").substr(0, 119), "f").layout.why(),
              "truncated: 119 of 120 bytes");
}

TEST(GpuMetrics, WhatNoGpuCanHaveIsMalformed) {
    std::string bytes = sample("1.6");
    bytes[4] = '\x10';
    bytes[5] = '\x27';  // 10,000 degrees
    EXPECT_EQ(parse_gpu_metrics(bytes, "f").hotspot_c.why(), "malformed: 10000");
    bytes = sample("1.6");
    bytes[12] = 101;  // percent
    EXPECT_FALSE(parse_gpu_metrics(bytes, "f").gfx_activity_percent.known());
    EXPECT_TRUE(parse_gpu_metrics(bytes, "f").memory_activity_percent.is(52U));
}

std::string attribute(unsigned unit, unsigned type, unsigned id, unsigned count, const std::string& values) {
    const std::uint64_t bits = std::uint64_t{unit} << 24 | type << 20 | id << 10 | count;
    std::string text;
    for (int i = 0; i < 8; ++i) text += static_cast<char>(bits >> (8 * i) & 0xff);
    return text + values;
}

std::string list_of(unsigned count, const std::string& attributes) {
    std::string text{'\0', '\0', 1, 9};
    for (int i = 0; i < 4; ++i) text += static_cast<char>(count >> (8 * i) & 0xff);
    text += attributes;
    text[0] = static_cast<char>(text.size() & 0xff);
    text[1] = static_cast<char>(text.size() >> 8);
    return text;
}

TEST(GpuMetrics, AttributesStateTypeAndUnit) {
    // PCIe speed in whole GT/s, time in ns, a negative temperature in a signed byte.
    const AmdMetrics m = parse_gpu_metrics(
        list_of(3, attribute(6, 2, 17, 1, std::string("\x20\0", 2)) +
                       attribute(4, 4, 32, 1, std::string("\x07\0\0\0", 4)) + attribute(2, 1, 0, 1, "\xfb")),
        "f");
    EXPECT_TRUE(m.links.pcie_speed_tenth_gts.is(320U));
    EXPECT_TRUE(m.firmware_timestamp_ns.is(std::uint64_t{7}));
    EXPECT_TRUE(m.hotspot_c.is(-5));
    EXPECT_EQ(m.memory_c.why(), "not in layout 1.9");
}

TEST(GpuMetrics, AttributeListsThatLieAreMissing) {
    const std::string one = attribute(2, 2, 0, 1, std::string("\x29\0", 2));
    EXPECT_TRUE(parse_gpu_metrics(list_of(1, one), "f").hotspot_c.is(41));
    EXPECT_EQ(parse_gpu_metrics(list_of(2, one), "f").hotspot_c.why(),
              "truncated: attribute 1 of 2 is not whole");
    EXPECT_EQ(parse_gpu_metrics(list_of(2, one + one), "f").hotspot_c.why(),
              "malformed: temperature_hotspot twice");
    EXPECT_FALSE(parse_gpu_metrics(list_of(0, ""), "f").layout.known());
    EXPECT_FALSE(parse_gpu_metrics(list_of(0x7fffffff, one), "f").layout.known());
    EXPECT_FALSE(parse_gpu_metrics(list_of(1, attribute(2, 9, 0, 1, "\x29")), "f").layout.known());
    EXPECT_FALSE(parse_gpu_metrics(list_of(1, attribute(2, 6, 0, 1023, "short")), "f").layout.known());
}

}  // namespace
}  // namespace gpucheck
