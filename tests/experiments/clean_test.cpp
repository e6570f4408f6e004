// Healthy GPUs: everything runs, everything is looked at, nothing is found; sick ones cost their own results
// only.
#include "tests/experiments/fake_burn_in.h"

namespace gpucheck {
namespace {

using test::complaints;
using test::device_at;

TEST(BurnIn, HealthyGpuOfEachKindIsLookedAtInFull) {
    for (const std::string architecture : {"sm_80", "sm_90", "gfx90a", "gfx942", "gfx950"}) {
        test::ComputeScenario scenario;
        scenario.gpu("0000:19:00.0", architecture).write();
        Snapshot machine;
        machine.gpus.push_back(
            device_at("0000:19:00.0", architecture.starts_with("gfx") ? Vendor::amd : Vendor::nvidia));
        run_burn_in(test::small_burn_in(""), machine);
        const Device& gpu = machine.gpus[0];
        EXPECT_EQ(complaints(gpu), "") << architecture;
        EXPECT_TRUE(machine.measurements.experiments.is(true)) << machine.measurements.experiments.why();
        EXPECT_TRUE(gpu.burn_in.architecture.is(architecture));
        EXPECT_TRUE(gpu.burn_in.units.is(2U));
        EXPECT_TRUE(gpu.burn_in.ended.is("finished"));
        const ExperimentResult* bf16 = test::find_result(gpu, "matrix", "bf16");
        ASSERT_NE(bf16, nullptr);
        EXPECT_TRUE(bf16->timed.is(false));
        EXPECT_TRUE(bf16->values_checked.known() && *bf16->values_checked > 0);
        const ExperimentResult* random = test::find_result(gpu, "memory_pattern", "random");
        ASSERT_NE(random, nullptr);
        EXPECT_TRUE(random->bytes_tested.is(1U << 20));
        EXPECT_TRUE(random->values_checked.is((1U << 20) / 8));
        EXPECT_EQ(test::find_result(gpu, "matrix", "e2m1") != nullptr, architecture == "gfx950");
    }
}

TEST(BurnIn, EightGpusOfWhichOneHangsAndOneCrashes) {
    test::ComputeScenario scenario;
    Snapshot machine;
    for (int i = 0; i < 8; ++i) {
        const std::string bdf = "0000:" + std::to_string(10 + i) + ":00.0";
        scenario.gpu(bdf, "sm_90");
        machine.gpus.push_back(device_at(bdf, Vendor::nvidia));
    }
    scenario.fault(
        {{"kind", "hang"}, {"gpu", "0000:12:00.0"}, {"call", "cuLaunchKernel"}, {"kernel", "matrix_f16"}});
    scenario.fault(
        {{"kind", "segv"}, {"gpu", "0000:15:00.0"}, {"call", "cuLaunchKernel"}, {"kernel", "pattern_check"}});
    scenario.write();
    BurnInOptions options = test::small_burn_in("matrix.types=f16");
    options.budget = std::chrono::seconds(30);
    const auto start = std::chrono::steady_clock::now();
    run_burn_in(options, machine);
    EXPECT_LT(std::chrono::steady_clock::now() - start, options.budget + std::chrono::seconds(2));
    for (std::size_t i = 0; i < 8; ++i) {
        if (i == 2 || i == 5) continue;
        EXPECT_EQ(complaints(machine.gpus[i]), "");
        EXPECT_NE(test::find_result(machine.gpus[i], "peer", "direct"), nullptr);
    }
    const Device& hung = machine.gpus[2];
    EXPECT_TRUE(hung.burn_in.ended.is("hangs"));
    EXPECT_EQ(hung.burn_in.ended.source(), "cuLaunchKernel");
    EXPECT_NE(test::find_result(hung, "launch", ""), nullptr);  // what was known before stays known
    const Device& crashed = machine.gpus[5];
    EXPECT_TRUE(crashed.burn_in.ended.is("crashed"));
    const ExperimentResult* f16 = test::find_result(crashed, "matrix", "f16");
    ASSERT_NE(f16, nullptr);
    EXPECT_TRUE(f16->ran.is(true));
    EXPECT_FALSE(machine.measurements.experiments.known());
    ASSERT_TRUE(machine.host.vendor_troubles.known());
    EXPECT_EQ(machine.host.vendor_troubles->size(), 2U);
}

TEST(BurnIn, LibraryAbsentOrUnableIsNotAPass) {
    test::ComputeScenario scenario;
    scenario.gpu("0000:19:00.0", "sm_90").fault({{"kind", "error"}, {"call", "cuInit"}, {"error", 802}});
    scenario.write();
    Snapshot machine;
    machine.gpus.push_back(device_at("0000:19:00.0", Vendor::nvidia));
    run_burn_in(test::small_burn_in(""), machine);
    EXPECT_EQ(machine.gpus[0].burn_in.results.why(), "CUDA_ERROR_SYSTEM_NOT_READY");
    EXPECT_FALSE(machine.measurements.experiments.known());

    BurnInOptions options = test::small_burn_in("");
    options.libraries.driver_dir = "/nonexistent";
    run_burn_in(options, machine);
    EXPECT_TRUE(machine.gpus[0].burn_in.results.absent());
}

TEST(BurnIn, GpuThatTheLibraryDoesNotList) {
    test::ComputeScenario scenario;
    scenario.gpu("0000:19:00.0", "sm_90").write();
    Snapshot machine;
    machine.gpus.push_back(device_at("0000:29:00.0", Vendor::nvidia));
    run_burn_in(test::small_burn_in(""), machine);
    EXPECT_TRUE(machine.gpus[0].burn_in.results.absent());
}

TEST(BurnIn, PartitionsThatWereNotTestedAreSaid) {
    test::ComputeScenario scenario;
    scenario.gpu("0000:19:00.0", "gfx942").gpu("0000:29:00.0", "gfx942").write();
    Snapshot machine;
    machine.gpus.push_back(device_at("0000:19:00.0", Vendor::amd));
    machine.gpus.push_back(device_at("0000:29:00.0", Vendor::amd));
    machine.gpus[0].amd.kfd_nodes.resize(8);
    machine.gpus[1].amd.kfd_nodes.resize(1);
    run_burn_in(test::small_burn_in("launch"), machine);
    EXPECT_EQ(complaints(machine.gpus[0]), "0000:19:00.0 partitions : 1 of 8 partitions was tested\n");
    EXPECT_EQ(complaints(machine.gpus[1]), "");
    EXPECT_FALSE(machine.measurements.experiments.known());
}

TEST(BurnIn, GpuInUseIsLeftAlone) {
    Snapshot machine;
    machine.gpus.push_back(device_at("0000:19:00.0", Vendor::nvidia));
    machine.gpus[0].telemetry.first.nvidia.state.compute_processes = Fact<unsigned>(2, "NVML");
    run_burn_in(test::small_burn_in(""), machine);
    EXPECT_EQ(machine.gpus[0].burn_in.results.why(), "in use by 2 processes");
}

}  // namespace
}  // namespace gpucheck
