// --expect, and what happens when the instance type says otherwise.
#include "checks/specs/expect.h"

#include <gtest/gtest.h>

#include "checks/specs/instances.h"
#include "tests/specs/specs_folder.h"

namespace gpucheck {
namespace {

std::string error_of(const std::vector<std::string>& key_values) {
    const auto parsed = parse_expect(key_values, embedded_boards());
    const auto* error = std::get_if<std::string>(&parsed);
    return error != nullptr ? *error : "accepted";
}

TEST(Expect, AllKeys) {
    const auto parsed = parse_expect({"gpu_count=8", "board=mi300x", "compute_partition=cpx",
                                      "memory_partition=NPS4", "pcie_generation=5", "pcie_width=16",
                                      "driver_version=570.133", "kernel_version=6.8", "ecc=on", "mig=off"});
    ASSERT_TRUE(std::holds_alternative<Expectations>(parsed)) << std::get<std::string>(parsed);
    const auto& expected = std::get<Expectations>(parsed);
    EXPECT_EQ(expected.gpu_count, Fact<unsigned>(8, "--expect"));
    EXPECT_TRUE(expected.board.is("mi300x"));
    EXPECT_TRUE(expected.compute_partition.is("CPX"));
    EXPECT_TRUE(expected.memory_partition.is("NPS4"));
    EXPECT_TRUE(expected.pcie_generation.is(5U));
    EXPECT_TRUE(expected.pcie_width.is(16U));
    EXPECT_TRUE(expected.driver_version.is("570.133"));
    EXPECT_TRUE(expected.kernel_version.is("6.8"));
    EXPECT_TRUE(expected.ecc.is(true));
    EXPECT_TRUE(expected.mig.is(false));
}

TEST(Expect, NothingGivenMeansNothingKnown) {
    EXPECT_EQ(std::get<Expectations>(parse_expect({})), Expectations{});
}

TEST(Expect, CountsFrom0To1024) {
    EXPECT_TRUE(std::get<Expectations>(parse_expect({"gpu_count=0"})).gpu_count.is(0U));
    EXPECT_TRUE(std::get<Expectations>(parse_expect({"gpu_count=1024"})).gpu_count.is(1024U));
    for (const char* value : {"1025", "-1", "", "8x", " 8", "+8", "0x8", "8.0", "99999999999999999999"}) {
        EXPECT_NE(error_of({std::string("gpu_count=") + value}).find("a whole number from 0 to 1024"),
                  std::string::npos)
            << value;
    }
}

TEST(Expect, ErrorsListTheKeys) {
    for (const char* bad :
         {"gpucount=8", "=8", "gpu_count", "", "gpu_count=eight", "pcie_width=7", "pcie_width=0",
          "pcie_generation=0", "pcie_generation=8", "compute_partition=XPX", "memory_partition=NPS3",
          "driver_version=latest", "kernel_version=", "kernel_version=6.8 now", "ecc=yes", "mig="}) {
        const std::string error = error_of({bad});
        EXPECT_NE(error.find("--expect"), std::string::npos) << bad << ": " << error;
        EXPECT_NE(error.find("gpu_count, board, compute_partition"), std::string::npos)
            << bad << ": " << error;
    }
    EXPECT_EQ(error_of({"driver_version=" + std::string(1000, '5')}).find("accepted"), std::string::npos);
    EXPECT_EQ(error_of({std::string("a\nb\x1b[31m=1")}).find('\x1b'), std::string::npos);
}

TEST(Expect, AMisspeltBoardGetsNearMatches) {
    EXPECT_NE(error_of({"board=mi300"}).find("near: mi300a, mi300x"), std::string::npos)
        << error_of({"board=mi300"});
    EXPECT_NE(error_of({"board=MI300X"}).find("is not a board key"), std::string::npos);
    EXPECT_NE(error_of({"board=zzzzzzzzzzzzzzz"}).find("gpucheck specs"), std::string::npos);
}

TEST(Expect, TheSameKeyTwice) {
    EXPECT_EQ(error_of({"gpu_count=8", "gpu_count=8"}), "accepted");
    EXPECT_NE(error_of({"gpu_count=8", "gpu_count=4"}).find("gpu_count is given twice: '8' and '4'"),
              std::string::npos);
}

TEST(Expect, BoardsOfAnOverrideAreAccepted) {
    SpecsFolder folder;
    folder.file(
        "gpus.json",
        R"({"schema_version": 1, "boards": [{"key": "mine", "name": "M", "vendor": "amd", "form": "oam",
        "arch": "gfx942", "ids": [{"vendor": "1002", "device": "0001", "function": "pf", "source": "s"}]}]})");
    const auto boards = BoardTable::load(folder.path());
    ASSERT_TRUE(std::holds_alternative<BoardTable>(boards));
    EXPECT_TRUE(
        std::holds_alternative<Expectations>(parse_expect({"board=mine"}, std::get<BoardTable>(boards))));
    EXPECT_TRUE(std::holds_alternative<std::string>(parse_expect({"board=mine"})));
}

TEST(Merge, FlagsWinAndDifferencesAreNamed) {
    const Expectations flags =
        std::get<Expectations>(parse_expect({"gpu_count=4", "kernel_version=6.8", "board=mi300x"}));
    const Expectations from_type = expectations_of(*find_instance("digitalocean", "gpu-mi300x8-1536gb"));
    std::vector<std::string> conflicts;
    const Expectations merged = merge(flags, from_type, conflicts);
    EXPECT_TRUE(merged.gpu_count.is(4U));
    EXPECT_EQ(merged.gpu_count.source(), "--expect");
    EXPECT_TRUE(merged.kernel_version.is("6.8"));
    ASSERT_EQ(conflicts.size(), 1U);
    EXPECT_EQ(conflicts[0],
              "gpu_count: --expect says 4, instances.json: digitalocean gpu-mi300x8-1536gb (as of "
              "2026-10-08) says 8");
}

TEST(Merge, TheTypeFillsWhatNoFlagSays) {
    std::vector<std::string> conflicts;
    const Expectations merged = merge({}, expectations_of(*find_instance("aws", "g5.12xlarge")), conflicts);
    EXPECT_TRUE(merged.gpu_count.is(4U));
    EXPECT_TRUE(merged.board.is("a10g"));
    EXPECT_TRUE(merged.pcie_width.is(8U));
    EXPECT_FALSE(merged.memory_partition.known());
    EXPECT_TRUE(conflicts.empty());
    const Expectations nothing = merge({}, {}, conflicts);
    EXPECT_EQ(nothing, Expectations{});
    EXPECT_TRUE(conflicts.empty());
}

}  // namespace
}  // namespace gpucheck
