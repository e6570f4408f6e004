// Error counters and memory windows: a table that could not be parsed is never "no errors" or "no memory".
#include <gtest/gtest.h>

#include "agent/host/pci_parse.h"

namespace gpucheck::host {
namespace {

Fact<AerCounters> aer(const std::string& text) {
    return aer_from(Fact<std::string>(text, "aer"));
}
Fact<std::vector<Bar>> bars(const std::string& text) {
    return bars_from(Fact<std::string>(text, "resource"));
}

TEST(PciAer, KeepsTheTotalAndWhatIsNotZero) {
    const AerCounters counters =
        aer("RxErr 0\nBadTLP 12\nBadDLLP 0\nTimeout 18446744073709551615\nTOTAL_ERR_COR 7\n").value();
    EXPECT_EQ(counters.total, 7U);  // the kernel's own: it counts messages, not bits
    EXPECT_EQ(counters.nonzero,
              (std::vector<NamedCount>{{"BadTLP", 12}, {"Timeout", 18446744073709551615ULL}}));
    EXPECT_EQ(aer("TOTAL_ERR_FATAL 0\n").value(), AerCounters{});
    EXPECT_EQ(aer("DLP 1\nSDES 2\n")->total, 3U);  // no total: the sum
    EXPECT_EQ(aer("Unknown Error Bit 10 4\nTOTAL_ERR_COR 4")->nonzero,
              (std::vector<NamedCount>{{"Unknown Error Bit 10", 4}}));
}

TEST(PciAer, AbsentIsNotZero) {
    EXPECT_TRUE(aer_from(Missing{"aer", "ENOENT"}).absent());
    EXPECT_EQ(aer("").why(), "empty");
    EXPECT_EQ(aer("\n\n").why(), "empty");
}

TEST(PciAer, JunkIsMissing) {
    for (const char* junk :
         {"RxErr\n", "RxErr -1\n", "RxErr 1x\n", "RxErr 0x10\n", "RxErr 18446744073709551616\n", "7\n",
          " 7\n", "DLP 0\nSDES", "DLP 0\nSDES \nTOTAL_ERR_FATAL 0\n", "TOTAL_ERR_COR 1\nTOTAL_ERR_COR 2\n"}) {
        EXPECT_TRUE(aer(junk).why().starts_with("malformed")) << junk;
    }
    EXPECT_EQ(aer(std::string("RxErr 0\0\n", 9)).why(), "malformed: not text");
    EXPECT_EQ(aer("A 18446744073709551615\nB 1\n").why(), "malformed: the counts overflow");
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "Error" + std::to_string(i) + " 1\n";
    EXPECT_TRUE(aer(many).why().starts_with("malformed"));
}

constexpr const char* kNone = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";

TEST(PciBars, ListsRegistersByIndex) {
    const std::string text =
        std::string("0x00000000fc000000 0x00000000fcffffff 0x0000000000040200\n") + kNone +
        "0x0000004000000000 0x0000005fffffffff 0x000000000014220c\n" + kNone +
        "0x0000000000000000 0x0000000001ffffff 0x000000002014220c\n" + kNone +
        "0x00000000fe000000 0x00000000fe07ffff 0x0000000000046200\n";  // the ROM does not count
    EXPECT_EQ(bars(text).value(),
              (std::vector<Bar>{{0, 0xfc000000, 0x1000000, 0x40200},
                                {2, 0x4000000000, 0x2000000000, 0x14220c},
                                {4, 0, 0x2000000, 0x2014220c}}));  // unassigned, with its size
    EXPECT_TRUE(bars(kNone)->empty());
}

TEST(PciBars, JunkIsMissing) {
    EXPECT_EQ(bars("").why(), "empty");
    EXPECT_TRUE(bars_from(Missing{"resource", "ENOENT"}).absent());
    for (const char* junk :
         {"0x10\n", "0x10 0x20\n", "0x10 0x20 0x30 0x40\n", "0x10 0x0f 0x200\n", "10 20 30\n", "\n",
          "0x 0x20 0x30\n", "0x10000000000000000 0x20000000000000000 0x0\n", "0x10,0x20,0x30\n",
          "0x-1 0x20 0x30\n", "0x0000000000000000 0xffffffffffffffff 0x200\n"}) {
        EXPECT_TRUE(bars(junk).why().starts_with("malformed")) << junk;
    }
    EXPECT_EQ(bars(std::string("0x0\0 0x1 0x2\n", 13)).why(), "malformed: not text");
    // Absurd but possible: nearly all of the address space.
    EXPECT_EQ(bars("0x1 0xffffffffffffffff 0x0\n").value().at(0).size, 0xffffffffffffffffULL);
}

}  // namespace
}  // namespace gpucheck::host
