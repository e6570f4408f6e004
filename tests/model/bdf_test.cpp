// PCI addresses in every spelling that kernels, NVML and KFD use.
#include <gtest/gtest.h>

#include "checks/model/bdf.h"

namespace gpucheck {
namespace {

TEST(Bdf, ParsesEverySpelling) {
    const Bdf expected{0, 0x83, 0, 0};
    for (const char* text : {"0000:83:00.0", "00000000:83:00.0", "83:00.0", "0000:83:00"}) {
        EXPECT_EQ(Bdf::parse(text), expected) << text;
    }
    EXPECT_EQ(Bdf::parse("91C4:1E:1d.7"), (Bdf{0x91c4, 0x1e, 0x1d, 7}));
}

TEST(Bdf, RefusesWhatIsNoAddress) {
    for (const char* text :
         {"", ":", "83", "0000:83:00.8", "0000:83:20.0", "000:83:00.0", "0000:183:00.0", "0000:83:00.",
          " 0000:83:00.0", "0000:83:00.0 ", "000000000:83:00.0", "xyzw:83:00.0", "0:0:0:0"}) {
        EXPECT_FALSE(Bdf::parse(text).has_value()) << text;
    }
}

TEST(Bdf, PrintsAsSysfsDoes) {
    EXPECT_EQ((Bdf{0, 0x83, 0, 0}).str(), "0000:83:00.0");
    EXPECT_EQ((Bdf{0x10000, 0xa, 0x1f, 7}).str(), "10000:0a:1f.7");
}

TEST(Bdf, FromKfdLocation) {
    EXPECT_EQ(Bdf::from_kfd(33536, 0).str(), "0000:83:00.0");
    EXPECT_EQ(Bdf::from_kfd(32771, 2).str(), "0002:80:00.3");  // partition 3 in the function bits
}

}  // namespace
}  // namespace gpucheck
