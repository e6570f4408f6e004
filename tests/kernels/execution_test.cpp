// The host's execution of kernels: order, barriers, and launches that cannot work.
#include "tests/kernels/launch.h"

namespace gpucheck::kernels {
namespace {

void divergent(void**) {
    if (host_thread().thread == 0)
        host_block_barrier();
    else
        host_wave_barrier(4);
    if (host_thread().thread == 0)
        host_block_barrier();
    else
        host_wave_barrier(4);
}

TEST(HostExecution, ThreadsThatNeverMeetAreAnError) {
    const HostKernel kernel{"divergent", true, divergent};
    EXPECT_NE(host_launch(kernel, 1, 4, nullptr, HostMachine{}), "");
}

TEST(HostExecution, RefusesWhatNoGpuTakes) {
    const HostKernel* kernel = find_host_kernel(Target::none, "launch_empty");
    ASSERT_NE(kernel, nullptr);
    EXPECT_NE(host_launch(*kernel, 0, 1, nullptr, HostMachine{}), "");
    EXPECT_NE(host_launch(*kernel, 1, 0, nullptr, HostMachine{}), "");
    EXPECT_NE(host_launch(*kernel, 1, 1025, nullptr, HostMachine{}), "");
    EXPECT_NE(host_launch(*kernel, 1, 1, nullptr, HostMachine{0, {}}), "");
    EXPECT_EQ(host_launch(*kernel, 1, 1024, nullptr, HostMachine{}), "");
}

TEST(HostExecution, EveryThreadLeavesItsMark) {
    auto result = fresh_result();
    launch_on(HostMachine{3, {}}, Target::none, "launch_mark", 5, 64, result.get());
    EXPECT_EQ(result->checked, 320u);
    EXPECT_EQ(result->units[0].done, 2u);
    EXPECT_EQ(result->units[1].done, 2u);
    EXPECT_EQ(result->units[2].done, 1u);
    EXPECT_EQ(result->units[3].done, 0u);
}

TEST(HostExecution, KnowsOnlyKernelsThatTheArchitectureHas) {
    EXPECT_EQ(find_host_kernel(Target::gfx90a, "matrix_e4m3"), nullptr);
    EXPECT_EQ(find_host_kernel(Target::gfx950, "matrix_tf32"), nullptr);
    EXPECT_EQ(find_host_kernel(Target::sm80, "matrix_e4m3"), nullptr);
    EXPECT_EQ(find_host_kernel(Target::none, "matrix_f16"), nullptr);
    EXPECT_EQ(find_host_kernel(Target::gfx942, "nonsense"), nullptr);
}

}  // namespace
}  // namespace gpucheck::kernels
