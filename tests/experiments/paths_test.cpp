// The second ways to multiply, and the large product: what is proven condemns, what is not is told and
// condemns nobody, and what was not looked at is no pass.
#include "checks/all.h"
#include "tests/experiments/fake_burn_in.h"

namespace gpucheck {
namespace {

using test::complaints;
using test::find_result;

constexpr const char* kGpu = "0000:19:00.0";

Device burn(test::ComputeScenario& scenario, const std::string& architecture, const std::string& experiments,
            const char* fault = "", unsigned budget_s = 100) {
    scenario.gpu(kGpu, architecture).write();
    Snapshot machine;
    machine.gpus.push_back(
        test::device_at(kGpu, architecture.starts_with("gfx") ? Vendor::amd : Vendor::nvidia));
    BurnInOptions options = test::small_burn_in(experiments);
    if (*fault != 0) {
        EXPECT_EQ(experiments::parse_injection(fault, options.settings.inject), "");
    }
    options.budget = std::chrono::seconds(budget_s);
    run_burn_in(options, machine);
    return machine.gpus[0];
}

Verdict worst(const Device& gpu) {
    Snapshot machine;
    machine.gpus.push_back(gpu);
    Findings findings;
    kBurnInCheck.judge(machine, findings);
    Verdict most = Verdict::not_applicable;
    for (const Finding& finding : findings) most = std::max(most, finding.verdict);
    return most;
}

TEST(MatrixPaths, HopperRunsBothAndSaysWhich) {
    test::ComputeScenario scenario;
    const Device gpu = burn(scenario, "sm_90", "matrix,matrix.types=bf16+e4m3+f64");
    EXPECT_EQ(complaints(gpu), "");
    ASSERT_EQ(gpu.burn_in.results->size(), 5U);  // FP64 has no wgmma
    const ExperimentResult* legacy = find_result(gpu, "matrix", "bf16");
    const ExperimentResult* native = find_result(gpu, "matrix", "bf16 wgmma");
    ASSERT_TRUE(legacy != nullptr && native != nullptr);
    EXPECT_NE(legacy->parameters->find("instructions=mma.sync (legacy path: not wgmma)"), std::string::npos);
    EXPECT_NE(native->parameters->find("instructions=wgmma.mma_async"), std::string::npos);
    EXPECT_NE(find_result(gpu, "matrix", "e4m3")->parameters->find("done by the FP16 units"),
              std::string::npos);
    EXPECT_TRUE(native->units_tested.is(2U));
    EXPECT_TRUE(find_result(gpu, "matrix", "e4m3")->quantities.empty());
    EXPECT_EQ(worst(gpu), Verdict::pass);
}

TEST(MatrixPaths, ANewerDatacentreGpuSaysThatTheLegacyPathRan) {
    test::ComputeScenario scenario;
    const Device gpu = burn(scenario, "sm_100", "matrix,matrix.types=bf16+e2m1");
    const ExperimentResult* bf16 = find_result(gpu, "matrix", "bf16");
    ASSERT_NE(bf16, nullptr);
    EXPECT_NE(bf16->parameters->find("legacy path: not tcgen05"), std::string::npos);
    const ExperimentResult* fp4 = find_result(gpu, "matrix", "e2m1");
    ASSERT_NE(fp4, nullptr);
    EXPECT_NE(fp4->ran.why().find("tcgen05"), std::string::npos);
    EXPECT_EQ(worst(gpu), Verdict::unknown);
}

TEST(MatrixPaths, SmallFormatsOfTheArchitectureThatHasThem) {
    test::ComputeScenario scenario;
    const Device gpu = burn(scenario, "sm_120", "matrix,matrix.types=e2m3+e3m2+e2m1");
    EXPECT_EQ(complaints(gpu), "");
    ASSERT_EQ(gpu.burn_in.results->size(), 3U);
    EXPECT_NE(find_result(gpu, "matrix", "e2m1")->parameters->find("kind::f8f6f4"), std::string::npos);
}

TEST(MatrixPaths, OneAlone) {
    test::ComputeScenario scenario;
    const Device gpu = burn(scenario, "sm_90", "matrix,matrix.types=bf16,matrix.path=wgmma");
    ASSERT_EQ(gpu.burn_in.results->size(), 1U);
    EXPECT_NE(find_result(gpu, "matrix", "bf16 wgmma"), nullptr);
}

TEST(MatrixPaths, OneThatIsNotThereSaysSo) {
    for (const char* types : {"bf16", "f64"}) {
        test::ComputeScenario scenario;
        const std::string architecture = std::string(types) == "f64" ? "sm_90" : "gfx942";
        const Device gpu =
            burn(scenario, architecture, std::string("matrix,matrix.path=wgmma,matrix.types=") + types);
        ASSERT_EQ(gpu.burn_in.results->size(), 1U);
        EXPECT_NE(gpu.burn_in.results->front().ran.why().find("wgmma is not there"), std::string::npos);
        EXPECT_EQ(worst(gpu), Verdict::unknown);
    }
}

/// The same fault on both ways: the proven one fails the GPU. On the unproven one alone nobody knows whose it
/// is.
TEST(MatrixPaths, AnUnprovenPathCondemnsNobody) {
    for (const bool both : {false, true}) {
        test::ComputeScenario scenario;
        nlohmann::json fault = {{"kind", "nan"}, {"unit", 1}, {"lane", 3}, {"element", 1}};
        if (!both) fault["kernel"] = "wgmma_bf16";
        scenario.fault(fault);
        const Device gpu = burn(scenario, "sm_90", "matrix,matrix.types=bf16");
        const ExperimentResult* native = find_result(gpu, "matrix", "bf16 wgmma");
        ASSERT_NE(native, nullptr);
        EXPECT_FALSE(native->ran.known());
        EXPECT_FALSE(native->mismatches.known());
        EXPECT_TRUE(native->quantities.empty());
        EXPECT_NE(native->ran.why().find("not proven"), std::string::npos) << native->ran.why();
        EXPECT_NE(native->ran.why().find("send this report"), std::string::npos);
        ASSERT_FALSE(native->records.empty());  // what somebody has to look at
        EXPECT_TRUE(native->records[0].unit.is(1U));
        EXPECT_EQ(find_result(gpu, "matrix", "bf16")->mismatches.is(0U), !both);
        EXPECT_EQ(worst(gpu), both ? Verdict::fail : Verdict::unknown);
    }
}

/// It runs last: an error that ends the context, or a hang, costs only itself, and is no verdict on the GPU.
TEST(MatrixPaths, WhatTheUnprovenPathBreaksCostsOnlyItself) {
    for (const char* kind : {"error", "hang"}) {
        test::ComputeScenario scenario;
        scenario.fault(
            {{"kind", kind}, {"call", "cuLaunchKernel"}, {"kernel", "wgmma_bf16"}, {"error", 715}});
        const Device gpu = burn(scenario, "sm_90", "matrix,launch,matrix.types=bf16", "", 8);
        ASSERT_EQ(gpu.burn_in.results->size(), 3U) << kind;
        EXPECT_TRUE(find_result(gpu, "matrix", "bf16")->ran.is(true));
        EXPECT_TRUE(find_result(gpu, "launch", "")->ran.is(true));
        EXPECT_FALSE(gpu.burn_in.results->back().ran.known());
        EXPECT_EQ(worst(gpu), Verdict::unknown);
    }
}

TEST(GemmExperiment, IsCleanOnEveryKindOfGpu) {
    for (const std::string architecture : {"sm_80", "sm_90", "gfx90a", "gfx942", "gfx950"}) {
        test::ComputeScenario scenario;
        const Device gpu = burn(scenario, architecture, "gemm");
        EXPECT_EQ(complaints(gpu), "") << architecture;
        const ExperimentResult* bf16 = find_result(gpu, "gemm", "bf16");
        ASSERT_NE(bf16, nullptr);
        EXPECT_TRUE(bf16->values_checked.is(256U * 256U));
        EXPECT_TRUE(bf16->units_tested.is(2U));
        EXPECT_TRUE(bf16->timed.is(false));
        EXPECT_NE(bf16->parameters->find("library=gpucheck"), std::string::npos);
        const bool fp8 = architecture != "sm_80" && architecture != "gfx90a";
        EXPECT_EQ(find_result(gpu, "gemm", "e4m3") != nullptr, fp8);
        EXPECT_EQ(worst(gpu), Verdict::pass);
    }
}

TEST(GemmExperiment, AskedForATypeThatIsNotThere) {
    test::ComputeScenario scenario;
    const Device gpu = burn(scenario, "gfx90a", "gemm,gemm.types=e4m3");
    ASSERT_EQ(gpu.burn_in.results->size(), 1U);
    EXPECT_FALSE(gpu.burn_in.results->front().ran.known());
}

TEST(GemmExperiment, FindsABrokenUnitAndBlamesIt) {
    for (const std::string architecture : {"sm_80", "gfx942"}) {
        for (const unsigned unit : {0U, 1U}) {
            test::ComputeScenario scenario;
            scenario.fault(
                {{"kind", "nan"}, {"kernel", "gemm_bf16"}, {"unit", unit}, {"lane", 9}, {"element", 0}});
            const Device gpu = burn(scenario, architecture, "gemm,gemm.types=bf16");
            const ExperimentResult* bf16 = find_result(gpu, "gemm", "bf16");
            ASSERT_NE(bf16, nullptr);
            ASSERT_TRUE(bf16->mismatches.known() && *bf16->mismatches > 0);
            ASSERT_FALSE(bf16->records.empty());
            EXPECT_TRUE(bf16->records[0].unit.is(unit));
            EXPECT_TRUE(bf16->records[0].row.known() && bf16->records[0].column.known());
            ASSERT_EQ(bf16->by_unit.size(), 1U);
            EXPECT_EQ(bf16->by_unit[0].place, unit);
            EXPECT_TRUE(bf16->repeat.is("sticky"));
            EXPECT_EQ(worst(gpu), Verdict::fail);
        }
    }
}

TEST(GemmExperiment, FindsWhatWasInjectedAndWhatWasLeftOut) {
    for (const char* fault : {"bit", "lane", "operand", "skip"}) {
        test::ComputeScenario scenario;
        EXPECT_EQ(worst(burn(scenario, "sm_80", "gemm,gemm.types=bf16", fault)), Verdict::fail) << fault;
    }
    for (const char* kernel : {"gemm_bf16", "gemm_fill_bf16", "gemm_check"}) {
        test::ComputeScenario scenario;
        scenario.fault({{"kind", "skip"}, {"kernel", kernel}});
        EXPECT_NE(complaints(burn(scenario, "sm_80", "gemm,gemm.types=bf16")), "") << kernel;
    }
}

}  // namespace
}  // namespace gpucheck
