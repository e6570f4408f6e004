// Versions as drivers and kernels print them.
#include <gtest/gtest.h>

#include "checks/model/version.h"

namespace gpucheck {
namespace {

TEST(Version, ComparesNumbersNotText) {
    EXPECT_EQ(compare_versions("6.9", "6.14"), -1);
    EXPECT_EQ(compare_versions("6.14.0-29-generic", "6.14"), 0);
    EXPECT_EQ(compare_versions("570.195.03", "570.195"), 1);
    EXPECT_EQ(compare_versions("6.10.5", "6.10.05"), 0);
    EXPECT_EQ(compare_versions("99999999999999999999999", "1"), 1);
    EXPECT_EQ(compare_versions("6..1", "6.0"), 0);
}

TEST(Version, RefusesWhatIsNoVersion) {
    EXPECT_FALSE(compare_versions("", "1").has_value());
    EXPECT_FALSE(compare_versions("1", "unknown").has_value());
    EXPECT_FALSE(compare_versions("-1", "1").has_value());
}

TEST(Version, PrefixesEndAtADot) {
    EXPECT_TRUE(version_is_prefix("570.195", "570.195.03"));
    EXPECT_TRUE(version_is_prefix("570.195.03", "570.195.03"));
    EXPECT_FALSE(version_is_prefix("570.19", "570.195.03"));
    EXPECT_FALSE(version_is_prefix("", "570"));
    EXPECT_FALSE(version_is_prefix("570.195.03", "570.195"));
}

}  // namespace
}  // namespace gpucheck
