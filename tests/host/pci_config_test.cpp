// Config space: where the capability is found, and every way in which it is not there.
#include <gtest/gtest.h>

#include <random>

#include "agent/host/pci_parse.h"
#include "tests/host/pci_machine.h"

namespace gpucheck::host {
namespace {

Fact<PcieConfig> parse(std::string bytes) {
    return pcie_config_from(Fact<std::string>(std::move(bytes), "config"));
}

TEST(PciConfig, ReadsTheLinkRegisters) {
    ConfigSpace space;
    const PcieConfig config = parse(space.bytes).value();
    EXPECT_EQ(config, (PcieConfig{LinkSpeed::gen5, 16, LinkSpeed::gen5, 16, LinkSpeed::gen5, false, false}));
    EXPECT_EQ(parse(space.bytes + std::string(3840, '\xff')).value(), config);  // 4096 bytes: what root reads
}

TEST(PciConfig, SeesAPinnedAndADisabledLink) {
    ConfigSpace space;
    space.put(0x70, 0x0010, 2);  // LnkCtl: link disable
    space.put(0x72, 0x0102, 2);  // LnkSta: 5 GT/s x16
    space.put(0x90, 0x0022, 2);  // LnkCtl2: target 5 GT/s, hardware autonomous speed disable
    const PcieConfig config = parse(space.bytes).value();
    EXPECT_EQ(config.cap_speed, LinkSpeed::gen5);
    EXPECT_EQ(config.status_speed, LinkSpeed::gen2);
    EXPECT_EQ(config.target_speed, LinkSpeed::gen2);
    EXPECT_TRUE(config.autonomous_speed_disabled);
    EXPECT_TRUE(config.link_disabled);
}

TEST(PciConfig, NeighbouringBitsMeanNothing) {
    ConfigSpace space;
    space.put(0x70, 0xffef, 2);  // every bit of LnkCtl but link disable
    space.put(0x90, 0xffd5, 2);  // every bit of LnkCtl2 but autonomous speed disable; target 32 GT/s
    const PcieConfig config = parse(space.bytes).value();
    EXPECT_FALSE(config.link_disabled);
    EXPECT_FALSE(config.autonomous_speed_disabled);
    EXPECT_EQ(config.target_speed, LinkSpeed::gen5);
}

TEST(PciConfig, VersionOneHasNoTargetSpeed) {
    ConfigSpace space;
    space.put(0x62, 0x0001, 2);
    space.put(0x90, 0x0022, 2);  // something else lies there
    const PcieConfig config = parse(space.bytes).value();
    EXPECT_EQ(config.target_speed, LinkSpeed::unknown);
    EXPECT_FALSE(config.autonomous_speed_disabled);
    EXPECT_EQ(config.status_width, 16U);
}

TEST(PciConfig, ReservedSpeedsAreUnknown) {
    ConfigSpace space;
    space.put(0x72, 0x000f, 2);
    const PcieConfig config = parse(space.bytes).value();
    EXPECT_EQ(config.status_speed, LinkSpeed::unknown);
    EXPECT_EQ(config.status_width, 0U);
}

TEST(PciConfig, WhatCannotBeReadSaysWhy) {
    ConfigSpace space;
    EXPECT_EQ(parse("").why(), "empty");
    EXPECT_EQ(parse(space.bytes.substr(0, 63)).why(), "truncated at 63 bytes");
    EXPECT_EQ(parse(space.bytes.substr(0, 64)).why(), "only 64 bytes readable (root reads more)");
    EXPECT_EQ(parse(std::string(64, '\xff')).why(), "reads all ones");
    EXPECT_EQ(parse(std::string(4096, '\xff')).why(), "reads all ones");
    EXPECT_EQ(parse("\xff").why(), "reads all ones");
    EXPECT_EQ(parse(space.bytes.substr(0, 128)).why(), "truncated at 128 bytes");  // CardBus: before LnkCtl2
    EXPECT_EQ(parse(space.bytes.substr(0, 0x60)).why(), "truncated at 96 bytes");
    EXPECT_EQ(parse(space.bytes.substr(0, 0x73)).why(), "truncated at 115 bytes");
    EXPECT_EQ(pcie_config_from(Missing{"config", "EACCES"}).why(), "EACCES");
    space.put(0, 0xffffffff, 4);
    EXPECT_EQ(parse(space.bytes).why(), "reads all ones");
}

TEST(PciConfig, ADeviceThatDiesHalfWaySaysSo) {
    ConfigSpace space;
    space.bytes.replace(0x40, 0xc0, 0xc0, '\xff');
    EXPECT_EQ(parse(space.bytes).why(), "reads all ones");
    ConfigSpace later;
    later.bytes.replace(0x70, 0x90, 0x90, '\xff');
    EXPECT_EQ(parse(later.bytes).why(), "reads all ones");
}

TEST(PciConfig, BrokenListsEnd) {
    ConfigSpace space;
    space.put(0x40, 0x4001, 2);  // points at itself
    EXPECT_EQ(parse(space.bytes).why(), "malformed: broken capability list");
    space.put(0x40, 0x5001, 2);
    space.put(0x50, 0x4005, 2);  // two that point at each other
    EXPECT_EQ(parse(space.bytes).why(), "malformed: broken capability list");
    space.put(0x50, 0x1005, 2);  // into the header
    EXPECT_EQ(parse(space.bytes).why(), "malformed: broken capability list");
    space.put(0x50, 0x0005, 2);
    EXPECT_EQ(parse(space.bytes).why(), "no PCI Express capability");
    space.put(0x50, 0x6005, 2);
    space.put(0x60, 0x4010, 2);  // a loop behind the one we look for does no harm
    EXPECT_TRUE(parse(space.bytes).known());
    space.put(0x06, 0, 2);
    EXPECT_EQ(parse(space.bytes).why(), "no capability list");
}

TEST(PciConfig, ACapabilityAtTheVeryEndIsNotReadPastIt) {
    ConfigSpace space;
    space.put(0x40, 0xfc01, 2);
    space.put(0xfc, 0x0010, 2);
    space.put(0xfe, 0x0002, 2);
    EXPECT_EQ(parse(space.bytes).why(), "truncated at 256 bytes");
}

TEST(PciConfig, PartsOfTheRootComplexHaveNoLink) {
    ConfigSpace space;
    space.put(0x62, 0x0092, 2);
    EXPECT_EQ(parse(space.bytes).why(), "no link: part of the root complex");
    space.put(0x62, 0x0000, 2);
    EXPECT_EQ(parse(space.bytes).why(), "malformed: PCI Express capability of version 0");
}

TEST(PciConfig, AnyBytesAreSurvived) {
    std::mt19937 random(42);
    unsigned known = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string bytes = i % 2 == 0 ? ConfigSpace().bytes : std::string(random() % 300, '\0');
        const unsigned changes = i % 2 == 0 ? 4 : 300;
        for (unsigned k = 0; k < changes && !bytes.empty(); ++k)
            bytes[random() % bytes.size()] = static_cast<char>(random());
        const Fact<PcieConfig> config = parse(bytes);
        if (config.known()) {
            ++known;
            EXPECT_LE(config->status_width, 63U);
        } else {
            EXPECT_FALSE(config.why().empty());
        }
    }
    EXPECT_GT(known, 5000U);
}

}  // namespace
}  // namespace gpucheck::host
