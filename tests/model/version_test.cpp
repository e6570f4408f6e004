// Versions as kernels and drivers print them.
#include "checks/model/version.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpucheck {
namespace {

TEST(Version, OrdersWhatKernelsAndDriversCallThemselves) {
    // Oldest first; each must be older than all that follow.
    const std::vector<std::string> ascending{
        "4.18.0-553.el8_10.x86_64",
        "5.15.0-1034-azure",
        "5.15.0-1040-azure",
        "6.8",
        "6.8.0-55-generic",
        "6.8.0-100-generic",
        "6.10.5",
        "6.10.5-2109964.22.04",
        "6.10.5-2125197.24.04",
        "6.14.0-rc3",
        "6.14.0-061400rc4-generic",
        "6.14.0-0.rc5.20250217git1234.29.fc43.x86_64",
        "6.14",
        "6.14.0-061400-generic",
        "6.14.14-2193512.22.04",
        "525.60.13",
        "570.86.15",
        "570.133.20",
        "570.195",
        "570.195.03",
        "99999999999999999999999999.1",
        "100000000000000000000000000",
    };
    for (std::size_t i = 0; i < ascending.size(); ++i) {
        for (std::size_t j = 0; j < ascending.size(); ++j) {
            const auto sign = compare_versions(ascending[i], ascending[j]);
            ASSERT_TRUE(sign.has_value()) << ascending[i] << " " << ascending[j];
            EXPECT_EQ(*sign, i < j ? -1 : (i > j ? 1 : 0)) << ascending[i] << " against " << ascending[j];
        }
    }
}

TEST(Version, EqualWhereOnlyZerosOrWordsDiffer) {
    EXPECT_EQ(compare_versions("6.8", "6.8.0"), 0);
    EXPECT_EQ(compare_versions("6.8.0", "6.8.0-generic"), 0);
    EXPECT_EQ(compare_versions("6.8.0+", "6.8.0"), 0);
    EXPECT_EQ(compare_versions("570.195.03", "570.195.3"), 0);
    EXPECT_EQ(compare_versions("6.8.0-55-generic", "6.8.0-55-azure"), 0);
}

TEST(Version, WordsThatOnlyContainRcAreNoCandidates) {
    EXPECT_EQ(compare_versions("6.14.0-arch1", "6.14.0"), 1);
    EXPECT_EQ(compare_versions("6.14.0-src", "6.14.0"), 0);
    EXPECT_EQ(compare_versions("6.14.0-rc", "6.14.0"), 0);
}

TEST(Version, NothingWithoutALeadingNumber) {
    for (const char* text : {"", "v6.8", "-1", " 6.8", ".5", "generic", "rc3"}) {
        EXPECT_EQ(compare_versions(text, "6.8"), std::nullopt) << text;
        EXPECT_EQ(compare_versions("6.8", text), std::nullopt) << text;
    }
    EXPECT_EQ(compare_versions("6.", "6"), 0);
    EXPECT_EQ(compare_versions("6..8", "6"), 1);
}

TEST(Version, PrefixIsCutAtADot) {
    EXPECT_TRUE(version_is_prefix("570.195", "570.195.03"));
    EXPECT_TRUE(version_is_prefix("570.195.03", "570.195.03"));
    EXPECT_TRUE(version_is_prefix("570", "570.195.03"));
    EXPECT_FALSE(version_is_prefix("570.19", "570.195.03"));
    EXPECT_FALSE(version_is_prefix("570.195.03", "570.195"));
    EXPECT_FALSE(version_is_prefix("570.194", "570.195.03"));
    EXPECT_FALSE(version_is_prefix("", "570.195"));
    EXPECT_FALSE(version_is_prefix("570.195", ""));
    EXPECT_FALSE(version_is_prefix("570.195", "570.195-beta"));
}

}  // namespace
}  // namespace gpucheck
