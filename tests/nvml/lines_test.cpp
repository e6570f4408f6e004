// The lines that a child tells are a stranger's: whatever they say, no fact becomes known that is not of its
// type, and nothing is known without a line.
#include "agent/vendor/nvml_lines.h"

#include <gtest/gtest.h>

#include <random>

#include "fake_machine.h"

namespace gpucheck {
namespace {

using vendor::nvml::Told;
const Missing kWhy{"nvmlDeviceGetEccMode", "did not return within 800 ms"};

NvidiaTelemetry told(const std::vector<std::string>& lines) {
    NvidiaTelemetry telemetry;
    Told(lines).fill(telemetry, kWhy);
    return telemetry;
}

TEST(NvmlLines, WhatIsNotToldIsMissingForTheChildsReason) {
    const NvidiaTelemetry telemetry =
        told({R"({"ecc.current":{"value":true,"source":"nvmlDeviceGetEccMode"}})"});
    EXPECT_TRUE(telemetry.ecc.current.is(true));
    EXPECT_EQ(telemetry.ecc.pending.missing(), kWhy);
    EXPECT_EQ(telemetry.nvlinks.missing(), kWhy);
    EXPECT_EQ(known_facts(telemetry), 1U);
}

TEST(NvmlLines, TheChildMaySayWhyTheRestIsMissing) {
    const NvidiaTelemetry telemetry =
        told({R"({"*":{"missing":"DRIVER_NOT_LOADED","source":"nvmlInit_v2"}})"});
    EXPECT_EQ(telemetry.identity.handle.missing(), (Missing{"nvmlInit_v2", "DRIVER_NOT_LOADED"}));
    EXPECT_EQ(told({R"({"*":{"value":true,"source":"x"}})"}).identity.handle.missing(), kWhy);
}

TEST(NvmlLines, TheFirstWordCounts) {
    const NvidiaTelemetry telemetry = told({R"({"power.temperature_c":{"value":31,"source":"a"}})",
                                            R"({"power.temperature_c":{"value":99,"source":"b"}})"});
    EXPECT_TRUE(telemetry.power.temperature_c.is(31));
}

TEST(NvmlLines, NonsenseIsPassedOver) {
    const std::string deep(2000, '[');
    const NvidiaTelemetry telemetry =
        told({"", "null", "[]", "{", deep, R"({"ecc":{"value":1,"source":"x"}})", R"({"":{}})",
              R"({"ecc.current":7})", R"({"ecc.pending":{"value":"yes","source":"x"}})",
              R"({"power.temperature_c":{"value":1e99,"source":"x"}})",
              R"({"repair.banks_none":{"value":-1,"source":"x"}})",
              R"({"nvlinks":{"value":4000000000,"source":"x"}})",
              R"({"identity.name":{"value":")" + std::string(100000, 'n') + R"(","source":"x"}})"});
    EXPECT_EQ(known_facts(telemetry), 0U);
    EXPECT_EQ(telemetry.ecc.current.why(), "malformed: the child's line on ecc.current");
    EXPECT_FALSE(telemetry.nvlinks.known());
}

TEST(NvmlLines, LinksAreAsManyAsWereTold) {
    const NvidiaTelemetry telemetry = told({R"({"nvlinks":{"value":2,"source":"FI 91"}})",
                                            R"({"nvlinks.1.active":{"value":true,"source":"s"}})",
                                            R"({"nvlinks.2.active":{"value":true,"source":"s"}})"});
    ASSERT_TRUE(telemetry.nvlinks.known());
    ASSERT_EQ(telemetry.nvlinks->size(), 2U);
    EXPECT_TRUE(telemetry.nvlinks.value()[1].active.is(true));
    EXPECT_EQ(telemetry.nvlinks.value()[0].active.missing(), kWhy);
}

TEST(NvmlLines, MutatedLinesNeverBreakTheReader) {
    const std::vector<std::string> seeds = {
        R"({"ecc.current":{"value":true,"source":"nvmlDeviceGetEccMode"},"ecc.pending":{"value":true,"source":"x"}})",
        R"({"nvlinks":{"value":18,"source":"nvmlDeviceGetFieldValues FI 91"}})",
        R"({"nvlinks.3.effective_ber":{"value":1e-12,"source":"nvmlDeviceGetFieldValues FI 220"}})",
        R"({"listed":{"value":["0000:19:00.0"],"source":"nvmlDeviceGetHandleByIndex_v2"}})",
        R"({"*":{"missing":"GPU_IS_LOST","source":"nvmlDeviceGetName"}})"};
    std::mt19937 random(11);
    std::size_t known = 0;
    for (int round = 0; round < 4000; ++round) {
        std::vector<std::string> lines = seeds;
        for (std::string& line : lines) {
            for (unsigned edits = random() % 4; edits > 0; --edits) {
                const std::size_t at = random() % line.size();
                switch (random() % 4) {
                    case 0:
                        line[at] = static_cast<char>(random());
                        break;
                    case 1:
                        line.erase(at, random() % 8);
                        break;
                    case 2:
                        line.insert(at, line.substr(random() % line.size(), random() % 16));
                        break;
                    default:
                        line[at] = "0123456789-{}[]\",:."[random() % 19];
                }
                if (line.empty()) line = " ";
            }
        }
        NvmlSystem system;
        Told(lines).fill(system, kWhy);
        const NvidiaTelemetry telemetry = told(lines);
        if (telemetry.nvlinks.known()) {
            EXPECT_LE(telemetry.nvlinks->size(), 36U);
        }
        known += telemetry.ecc.current.known() ? 1 : 0;
    }
    EXPECT_GT(known, 100U);  // the mutations leave enough whole to matter
}

}  // namespace
}  // namespace gpucheck
