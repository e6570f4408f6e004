// Versions of kernels and drivers in the spellings that machines print.
#include "checks/model/version.h"

#include <gtest/gtest.h>

namespace gpucheck {
namespace {

TEST(CompareVersions, CountsNumbersAndNotDigits) {
    EXPECT_LT(compare_versions("6.8.0-55-generic", "6.14").value(), 0);
    EXPECT_GT(compare_versions("570.133.20", "570.86.15").value(), 0);
    EXPECT_GT(compare_versions("1000.1", "570").value(), 0);
    EXPECT_EQ(compare_versions("6.14", "6.14.0-24-generic").value(), 0);
    EXPECT_EQ(compare_versions("6.10.5-2125197.24.04", "6.10.5").value(), 0);
    EXPECT_LT(compare_versions("5.14.0-570.12.1.el9_6.x86_64", "6.5").value(), 0);
}

TEST(CompareVersions, PutsACandidateBeforeItsRelease) {
    EXPECT_LT(compare_versions("6.14.0-rc3", "6.14").value(), 0);
    EXPECT_GT(compare_versions("6.14", "6.14.0-rc7").value(), 0);
    EXPECT_LT(compare_versions("6.14-rc2", "6.14-rc10").value(), 0);
    EXPECT_GT(compare_versions("6.14.0-rc3", "6.13.9").value(), 0);
}

TEST(CompareVersions, RefusesWhatIsNoVersion) {
    EXPECT_FALSE(compare_versions("", "6.14"));
    EXPECT_FALSE(compare_versions("generic", "6.14"));
    EXPECT_FALSE(compare_versions("6.14", "-1"));
    EXPECT_FALSE(compare_versions("99999999999999999999999999", "6.14"));
    EXPECT_FALSE(compare_versions("6.99999999999999999999999999", "6.14"));
}

TEST(VersionIsPrefix, CutsAtDotsOnly) {
    EXPECT_TRUE(version_is_prefix("570.195", "570.195.03"));
    EXPECT_TRUE(version_is_prefix("570.195.03", "570.195.03"));
    EXPECT_FALSE(version_is_prefix("570.19", "570.195.03"));
    EXPECT_FALSE(version_is_prefix("570.195.03", "570.195"));
    EXPECT_FALSE(version_is_prefix("", "570.195"));
}

}  // namespace
}  // namespace gpucheck
