// Faults at random places of fake GPUs are all found and told where they are; the same seeds without a fault
// find nothing.
#include "tests/experiments/draws.h"

namespace gpucheck {
namespace {

using test::burn;
using test::complaints;
using test::device_at;
using test::Draw;
using test::kGpu;
using test::seeds;

/// The seeds in shares, so that a slow machine ends each test in time.
constexpr unsigned kShares = 4;
class FaultSeeds : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Shares, FaultSeeds, testing::Range(0U, kShares));

/// A bit that is stuck is found by a pattern or its inverse, at its offset, with its mask, by every reading.
TEST(Faults, StuckBitOfMemoryIsLocated) {
    for (unsigned seed = 0; seed < seeds() / 4; ++seed) {
        Draw draw(seed);
        const auto architecture = draw.one_of<std::string>({"sm_90", "gfx942"});
        const std::uint64_t address = draw.below((1U << 20) / 8) * 8, bit = draw.below(64);
        test::ComputeScenario scenario;
        scenario.gpu(kGpu, architecture)
            .fault(
                {{"kind", "stuck_bit"}, {"address", address}, {"bit", bit}, {"value", draw.below(2) == 1}});
        const Device gpu = burn(scenario, architecture, "pattern", seed + 1);
        std::size_t found = 0;
        for (const ExperimentResult& result : *gpu.burn_in.results) {
            ASSERT_TRUE(result.ran.is(true)) << result.ran.why();
            if (result.mismatches.is(0U)) continue;
            ++found;
            EXPECT_TRUE(result.mismatches.is(1U));
            EXPECT_TRUE(result.difference_mask.is(std::uint64_t{1} << bit));
            ASSERT_EQ(result.records.size(), 1U);
            EXPECT_TRUE(result.records[0].offset.is(address)) << "seed " << seed;
            EXPECT_TRUE(result.repeat.is("sticky"));
        }
        EXPECT_GE(found, 2U) << "seed " << seed << " address " << address << " bit " << bit;
    }
}

TEST(Faults, BitThatFlipsOnceIsFoundAndTransient) {
    for (unsigned seed = 0; seed < seeds() / 8; ++seed) {
        Draw draw(seed);
        const std::uint64_t address = draw.below((1U << 20) / 8) * 8, bit = draw.below(64);
        test::ComputeScenario scenario;
        // What writes: the poison, then for each pattern the fill, two clearings of the result, the check,
        // and the copy of the result. The bit flips between a fill and its check.
        const std::uint64_t after = 1 + 5 * draw.below(6) + draw.below(3);
        scenario.gpu(kGpu, "sm_90")
            .fault(
                {{"kind", "flip_bit"}, {"address", address}, {"bit", bit}, {"after", after}, {"once", true}});
        const Device gpu = burn(scenario, "sm_90", "pattern", seed + 1);
        std::size_t found = 0;
        for (const ExperimentResult& result : *gpu.burn_in.results) {
            if (result.mismatches.is(0U)) continue;
            ++found;
            ASSERT_EQ(result.records.size(), 1U);
            EXPECT_TRUE(result.records[0].offset.is(address));
            EXPECT_EQ(result.records[0].difference, std::uint64_t{1} << bit);
            EXPECT_TRUE(result.repeat.is("transient"));
        }
        EXPECT_EQ(found, 1U) << "seed " << seed;
    }
}

/// A matrix unit with a broken bit, a NaN or one wrong result: found in the type that is computed wrongly,
/// blamed on the unit and the lane.
TEST_P(FaultSeeds, WrongMatrixResultIsLocated) {
    for (unsigned seed = GetParam(); seed < seeds() / 2; seed += kShares) {
        Draw draw(seed);
        const auto architecture = draw.one_of<std::string>({"sm_80", "sm_90", "gfx90a", "gfx942"});
        const auto type = draw.one_of<std::string>({"f64", "f16", "bf16", "i8"});
        const auto kind = draw.one_of<std::string>({"lane", "nan", "flip_lane"});
        const std::uint64_t unit = draw.below(2), lane = draw.below(32), element = draw.below(2);
        // Integers as floats use the upper bits of the fraction; a low one is never set in a right result.
        const std::uint64_t bit = kind == "flip_lane" ? 31 : draw.below(12);
        nlohmann::json fault = {
            {"kind", kind},       {"kernel", "matrix_" + type},
            {"unit", unit},       {"lane", lane},
            {"element", element}, {"bit", type == "f64" && kind == "flip_lane" ? 63 : bit},
            {"value", true}};
        if (kind == "flip_lane") fault["once"] = true;
        test::ComputeScenario scenario;
        scenario.gpu(kGpu, architecture).fault(fault);
        const Device gpu = burn(scenario, architecture, "matrix,matrix.types=" + type, seed + 1);
        const ExperimentResult* result = test::find_result(gpu, "matrix", type);
        ASSERT_NE(result, nullptr);
        ASSERT_TRUE(result->ran.is(true)) << result->ran.why();
        ASSERT_TRUE(result->mismatches.known() && *result->mismatches > 0)
            << "seed " << seed << ' ' << architecture << ' ' << fault;
        ASSERT_FALSE(result->records.empty());
        for (const MismatchRecord& record : result->records) {
            EXPECT_TRUE(record.unit.is(unit));
            EXPECT_TRUE(record.lane.is(lane));
            EXPECT_TRUE(record.element.is(element));
        }
        ASSERT_EQ(result->by_unit.size(), 1U);
        EXPECT_EQ(result->by_unit[0].place, unit);
        EXPECT_TRUE(result->repeat.is(kind == "flip_lane" ? "transient" : "sticky"));
    }
}

/// A launch that does nothing and says that all is well is the fault that most tools pass.
TEST(Faults, LaunchThatDoesNothingIsSeen) {
    const std::pair<const char*, const char*> kCases[] = {{"pattern_fill", "pattern"},
                                                          {"pattern_check", "pattern"},
                                                          {"matrix_bf16", "matrix,matrix.types=bf16"},
                                                          {"stream_copy", "stream"},
                                                          {"stream_read", "stream"},
                                                          {"stream_triad", "stream"},
                                                          {"stream_write", "stream"},
                                                          {"stream_verify", "stream"},
                                                          {"stream_verify", "link"},
                                                          {"launch_mark", "launch"}};
    for (const auto& [kernel, experiment] : kCases) {
        test::ComputeScenario scenario;
        scenario.gpu(kGpu, "sm_90");
        EXPECT_EQ(complaints(burn(scenario, "sm_90", experiment, 1)), "") << experiment;
        scenario.fault({{"kind", "skip"}, {"kernel", kernel}});
        EXPECT_NE(complaints(burn(scenario, "sm_90", experiment, 1)), "") << kernel;
    }
}

TEST(Faults, ErrorsKeepTheirNames) {
    test::ComputeScenario scenario;
    scenario.gpu(kGpu, "sm_90")
        .fault({{"kind", "lost"}, {"call", "cuStreamSynchronize"}, {"after", 8}, {"error", 214}});
    const Device gpu = burn(scenario, "sm_90", "matrix.types=bf16", 1);
    EXPECT_NE(complaints(gpu).find("CUDA_ERROR_ECC_UNCORRECTABLE"), std::string::npos) << complaints(gpu);
    test::ComputeScenario full;
    full.gpu(kGpu, "gfx942", 2, 1U << 20);
    const Device small = burn(full, "gfx942", "stream", 1);
    EXPECT_NE(complaints(small), "");
}

TEST(Faults, InjectedOnesAreFound) {
    for (const char* fault : {"bit", "bit:4096", "lane", "lane:7", "operand", "skip"}) {
        for (const std::string architecture : {"sm_90", "gfx942"}) {
            test::ComputeScenario scenario;
            scenario.gpu(kGpu, architecture).write();
            Snapshot machine;
            machine.gpus.push_back(
                device_at(kGpu, architecture.starts_with("gfx") ? Vendor::amd : Vendor::nvidia));
            BurnInOptions options = test::small_burn_in("matrix,pattern,matrix.reps=1,matrix.types=bf16");
            ASSERT_EQ(experiments::parse_injection(fault, options.settings.inject), "");
            run_burn_in(options, machine);
            EXPECT_NE(complaints(machine.gpus[0]), "") << fault << ' ' << architecture;
        }
    }
}

/// No fault, no finding, whatever the seed.
TEST_P(FaultSeeds, WithoutAFaultNothingIsFound) {
    for (unsigned seed = GetParam(); seed < seeds(); seed += kShares) {
        Draw draw(seed);
        const auto architecture = draw.one_of<std::string>({"sm_80", "sm_90", "gfx90a", "gfx942", "gfx950"});
        const auto type = draw.one_of<std::string>({"f64", "f16", "bf16", "i8"});
        test::ComputeScenario scenario;
        scenario.gpu(kGpu, architecture);
        EXPECT_EQ(complaints(burn(scenario, architecture, "matrix,pattern,stream,matrix.types=" + type,
                                  draw.engine())),
                  "")
            << seed;
    }
}

}  // namespace
}  // namespace gpucheck
