// amdgpu's text files: what is no count must not become zero errors.
#include "agent/vendor/amdgpu_text.h"

#include <gtest/gtest.h>

namespace gpucheck {
namespace {

using vendor::parse_bad_pages;
using vendor::parse_dpm;
using vendor::parse_err_count;

Fact<std::string> file(std::string text) {
    return Fact<std::string>(std::move(text), "f");
}

TEST(ErrCount, OldAndNewKernels) {
    RasBlock block = parse_err_count("umc", file("ue: 1\nce: 22\n"));
    EXPECT_TRUE(block.uncorrectable.is(std::uint64_t{1}));
    EXPECT_TRUE(block.correctable.is(std::uint64_t{22}));
    EXPECT_TRUE(block.deferred.absent()) << "this kernel does not print it";
    block = parse_err_count("umc", file("ue: 0\nce: 0\nde: 3\n"));
    EXPECT_TRUE(block.deferred.is(std::uint64_t{3}));
    EXPECT_EQ(block.name, "umc");
}

TEST(ErrCount, CorrectableIsNotFoundInsideUncorrectable) {
    const RasBlock block = parse_err_count("umc", file("uncorrectable: 5\nue: 2\nce: 0\n"));
    EXPECT_TRUE(block.uncorrectable.is(std::uint64_t{2}));
    EXPECT_TRUE(block.correctable.is(std::uint64_t{0}));
}

TEST(ErrCount, ASentenceIsTheReason) {
    const RasBlock block = parse_err_count("gfx", file("Query currently inaccessible\n"));
    EXPECT_EQ(block.uncorrectable.why(), "Query currently inaccessible");
    EXPECT_EQ(block.correctable.why(), "Query currently inaccessible");
    EXPECT_EQ(block.deferred.why(), "Query currently inaccessible");
}

TEST(ErrCount, WhatIsNoCountIsMissing) {
    for (const char* text : {"", "\n", "ue: -1\nce: 0\n", "ue: 0\nue: 1\n", "ue 0\n", "ue: 0x3\n", "ue:\n",
                             "ue: 99999999999999999999\n", "\x01\x02\n", "ue: 0\nce: 0 and more\n"}) {
        const RasBlock block = parse_err_count("umc", file(text));
        EXPECT_FALSE(block.uncorrectable.known()) << text;
        EXPECT_FALSE(block.uncorrectable.absent()) << text;
        EXPECT_FALSE(block.correctable.known()) << text;
    }
    const RasBlock denied = parse_err_count("umc", Missing{"f", "EACCES"});
    EXPECT_EQ(denied.correctable.why(), "EACCES");
}

TEST(BadPages, CountedByFlag) {
    const Fact<BadPages> pages = parse_bad_pages(
        file("0x0012a000 : 0x00001000 : R\n0x0012a001 : 0x00001000 : P\n0x00000001 : 0x00001000 : R\n"
             "0xffffffffff : 0x1000 : F\n"));
    ASSERT_TRUE(pages.known()) << pages.why();
    EXPECT_TRUE(pages->retired.is(2U));
    EXPECT_TRUE(pages->pending.is(1U));
    EXPECT_TRUE(pages->failed.is(1U));
}

TEST(BadPages, AnEmptyFileIsNoBadPage) {
    const Fact<BadPages> pages = parse_bad_pages(file(""));
    ASSERT_TRUE(pages.known());
    EXPECT_TRUE(pages->retired.is(0U));
    EXPECT_TRUE(pages->failed.is(0U));
}

TEST(BadPages, OneBadLineMakesAllMissing) {
    for (const char* text : {"0x1 : 0x1000 : X\n", "0x1 : 0x1000\n", "12 : 0x1000 : R\n",
                             "0x1 : 0x1000 : RR\n", "R\n", "0x1 : 0x1000 : R\n0x2 : : P\n"})
        EXPECT_FALSE(parse_bad_pages(file(text)).known()) << text;
    EXPECT_TRUE(parse_bad_pages(Missing{"f", "ENOENT"}).absent());
}

TEST(Dpm, StarAndHighest) {
    auto clocks = parse_dpm(file("0: 500Mhz \n1: 800Mhz *\n2: 1700Mhz \n"));
    EXPECT_TRUE(clocks.now_mhz.is(800U));
    EXPECT_TRUE(clocks.highest_mhz.is(1700U));
    clocks = parse_dpm(file("S: 132Mhz *\n0: 500Mhz\n1: 2100Mhz\n"));
    EXPECT_TRUE(clocks.now_mhz.is(132U)) << "deep sleep is a level";
    EXPECT_TRUE(clocks.highest_mhz.is(2100U));
}

TEST(Dpm, WithoutAStarOnlyNowIsUnknown) {
    const auto clocks = parse_dpm(file("0: 500Mhz\n1: 2100Mhz\n"));
    EXPECT_EQ(clocks.now_mhz.why(), "no level is current");
    EXPECT_TRUE(clocks.highest_mhz.is(2100U));
}

TEST(Dpm, JunkIsMissing) {
    for (const char* text : {"", "0: 500\n", "0: 500Mhz *\n1: 600Mhz *\n", "0 500Mhz\n", "0: -5Mhz\n",
                             "0: 99999999Mhz\n", "x: 5Mhz\n"}) {
        EXPECT_FALSE(parse_dpm(file(text)).now_mhz.known()) << text;
        EXPECT_FALSE(parse_dpm(file(text)).highest_mhz.known()) << text;
    }
}

}  // namespace
}  // namespace gpucheck
