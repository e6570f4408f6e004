// Faults of calls, copies and clocks at random places: each is found, by the name of what was at fault.
#include <cmath>

#include "tests/experiments/draws.h"

namespace gpucheck {
namespace {

using test::burn;
using test::complaints;
using test::Draw;
using test::find_result;
using test::kGpu;
using test::seeds;

struct Call {
    const char *nvidia, *amd;
    unsigned times;  ///< how often the experiments below make it at least
};
const Call kCalls[] = {{"cuLaunchKernel", "hipModuleLaunchKernel", 5},
                       {"cuStreamSynchronize", "hipStreamSynchronize", 5},
                       {"cuModuleLoadData", "hipModuleLoadData", 2},
                       {"cuMemAlloc", "hipMalloc", 2},
                       {"cuEventRecord", "hipEventRecord", 2}};

TEST(CallFaults, AreNamed) {
    for (unsigned seed = 0; seed < seeds() / 4; ++seed) {
        Draw draw(seed);
        const auto architecture = draw.one_of<std::string>({"sm_90", "gfx942"});
        const bool amd = architecture == "gfx942";
        const Call& call = kCalls[draw.below(std::size(kCalls))];
        const std::string name = amd ? call.amd : call.nvidia;
        const auto kind =
            draw.one_of<std::string>({"error", "lost", "throw", "segv", "abort", "exit0", "exit3", "junk"});
        test::ComputeScenario scenario;
        scenario.gpu(kGpu, architecture)
            .fault({{"kind", kind}, {"call", name}, {"after", draw.below(call.times)}, {"error", 214}});
        const Device gpu = burn(scenario, architecture, "launch,matrix,matrix.types=bf16", seed + 1);
        const std::string what = "seed " + std::to_string(seed) + " " + kind + " in " + name;
        ASSERT_NE(complaints(gpu), "") << what;
        if (kind == "error" || kind == "lost" || kind == "throw") {
            const char* error = kind == "throw" ? "threw an exception"
                                : amd           ? "hipErrorECCNotCorrectable"
                                                : "CUDA_ERROR_ECC_UNCORRECTABLE";
            EXPECT_NE(complaints(gpu).find(error), std::string::npos) << what << complaints(gpu);
            continue;
        }
        const char* ended = kind == "segv" || kind == "abort" ? "crashed"
                            : kind == "junk"                  ? "garbage"
                                                              : "exited";
        EXPECT_TRUE(gpu.burn_in.ended.is(ended)) << what << complaints(gpu);
        if (kind != "junk") {
            EXPECT_EQ(gpu.burn_in.ended.source(), name) << what;
        }
    }
}

TEST(CallFaults, BitThatChangesOnTheWayIsLocated) {
    constexpr std::uint64_t kBeyondSmallCopies = 64U << 10;  // of parameters and results
    for (unsigned seed = 0; seed < seeds() / 8; ++seed) {
        Draw draw(seed);
        const bool up = draw.below(2) == 1;
        const std::uint64_t address = kBeyondSmallCopies + draw.below((1U << 20) - kBeyondSmallCopies);
        const std::uint64_t bit = draw.below(8);
        test::ComputeScenario scenario;
        scenario.gpu(kGpu, "sm_90")
            .fault({{"kind", "flip_copy"},
                    {"call", up ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync"},
                    {"address", address},
                    {"bit", bit}});
        const Device gpu = burn(scenario, "sm_90", "link", seed + 1);
        for (const char* variant : {"h2d", "d2h", "both"}) {
            const ExperimentResult* result = find_result(gpu, "host_link", variant);
            ASSERT_NE(result, nullptr);
            ASSERT_TRUE(result->ran.is(true)) << result->ran.why();
            const bool untouched = variant == std::string(up ? "d2h" : "h2d");
            ASSERT_EQ(result->mismatches.is(0U), untouched) << variant << " seed " << seed;
            if (untouched) continue;
            EXPECT_TRUE(result->records.at(0).offset.is(address / 8 * 8));
            EXPECT_EQ(result->records.at(0).difference, std::uint64_t{1} << (address % 8 * 8 + bit));
            EXPECT_TRUE(result->repeat.is("sticky"));
        }
    }
}

TEST(CallFaults, BitThatChangesBetweenGpusIsLocated) {
    for (const std::string architecture : {"sm_90", "gfx942"}) {
        test::ComputeScenario scenario;
        const bool amd = architecture == "gfx942";
        scenario.gpu(kGpu, architecture).gpu("0000:29:00.0", architecture);
        scenario.fault({{"kind", "flip_copy"},
                        {"gpu", kGpu},
                        {"call", amd ? "hipMemcpyPeerAsync" : "cuMemcpyPeerAsync"},
                        {"address", 4104}});
        scenario.write();
        Snapshot machine;
        for (const char* bdf : {kGpu, "0000:29:00.0"})
            machine.gpus.push_back(test::device_at(bdf, amd ? Vendor::amd : Vendor::nvidia));
        run_burn_in(test::small_burn_in("peer"), machine);
        const ExperimentResult* sick = find_result(machine.gpus[0], "peer", "direct");
        ASSERT_NE(sick, nullptr);
        ASSERT_FALSE(sick->records.empty());
        EXPECT_TRUE(sick->records[0].offset.is(4104U));
        const ExperimentResult* well = find_result(machine.gpus[1], "peer", "direct");
        ASSERT_NE(well, nullptr);
        EXPECT_TRUE(well->mismatches.is(0U));
    }
}

/// One path of one GPU at a part of its speed: told by that path's rate and by no other.
TEST(CallFaults, SlowPathIsTold) {
    const std::pair<const char*, double> kPaths[] = {{"memory", 3000}, {"to_device", 50}, {"to_host", 40}};
    for (unsigned seed = 0; seed < seeds() / 20; ++seed) {
        Draw draw(seed);
        const auto architecture = draw.one_of<std::string>({"sm_90", "gfx942"});
        const std::size_t slow = draw.below(std::size(kPaths));
        const double rate = 0.05 + 0.01 * static_cast<double>(draw.below(90));
        test::ComputeScenario scenario;
        scenario.gpu(kGpu, architecture)
            .with("clock",
                  {{"memory_gb_s", 3000}, {"to_device_gb_s", 50}, {"to_host_gb_s", 40}, {"peer_gb_s", 1}})
            .with("rate", {{kPaths[slow].first, rate}});
        const Device gpu = burn(scenario, architecture, "stream,link,timed=1", seed + 1);
        const std::pair<const char*, const char*> results[] = {
            {"memory_stream", "copy"}, {"host_link", "h2d"}, {"host_link", "d2h"}};
        for (std::size_t i = 0; i < std::size(results); ++i) {
            const ExperimentResult* result = find_result(gpu, results[i].first, results[i].second);
            ASSERT_NE(result, nullptr);
            const double expected = kPaths[i].second * (i == slow ? rate : 1);
            EXPECT_NEAR(result->quantities.at(0).median, expected, expected / 1000) << seed;
        }
    }
}

}  // namespace
}  // namespace gpucheck
