// Variables that break or slow GPUs, and their harmless spellings.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

std::string with_variable(Snapshot machine, const char* name, const char* value) {
    machine.host.process.env = {{name, value}};
    return said(kEnvironmentCheck, machine);
}

TEST(Environment, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kEnvironmentCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kEnvironmentCheck, healthy_mi300x_vf()), "");
}

TEST(Environment, AnOverrideThatLiesFailsOnInstinct) {
    const char* name = "HSA_OVERRIDE_GFX_VERSION";
    EXPECT_EQ(with_variable(healthy_mi300x_vf(), name, "10.3.0"), "env.hsa_override host fail");
    EXPECT_EQ(with_variable(healthy_mi300x_vf(), name, "9.4.2"), "env.hsa_override.redundant host warn");
    EXPECT_EQ(with_variable(healthy_mi300x_vf(), name, ""), "");
    EXPECT_EQ(with_variable(healthy_h100_x8(), name, "10.3.0"), "");
    for (const char* broken :
         {"gfx942", "9.4", "9.4.2.1", "9..2", "9.4.2 ", "-1.0.0", "64.0.0", "9.4.99999999999"}) {
        EXPECT_EQ(with_variable(healthy_mi300x_vf(), name, broken), "env.hsa_override host fail") << broken;
    }
}

TEST(Environment, AnOverrideOnARadeonIsADecision) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].amd.kfd_nodes[0].gfx_target_version = fact(std::uint64_t{100302});
    EXPECT_EQ(with_variable(machine, "HSA_OVERRIDE_GFX_VERSION", "10.3.0"), "env.hsa_override host warn");
}

TEST(Environment, AnOverrideWithoutATargetToCompareIsUnknown) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].amd.kfd_nodes[0].gfx_target_version = Missing{"properties", "EPERM"};
    EXPECT_EQ(with_variable(machine, "HSA_OVERRIDE_GFX_VERSION", "9.4.2"),
              "env.hsa_override.unread host unknown");
}

TEST(Environment, SerialisedLaunchesWarn) {
    EXPECT_EQ(with_variable(healthy_h100_x8(), "CUDA_LAUNCH_BLOCKING", "1"), "env.serialized host warn");
    EXPECT_EQ(with_variable(healthy_mi300x_vf(), "HIP_LAUNCH_BLOCKING", "1"), "env.serialized host warn");
    EXPECT_EQ(with_variable(healthy_mi300x_vf(), "AMD_SERIALIZE_KERNEL", "3"), "env.serialized host warn");
    EXPECT_EQ(with_variable(healthy_mi300x_vf(), "AMD_SERIALIZE_COPY", "3"), "env.serialized host warn");
    EXPECT_EQ(with_variable(healthy_h100_x8(), "CUDA_LAUNCH_BLOCKING", "0"), "");
    EXPECT_EQ(with_variable(healthy_h100_x8(), "CUDA_LAUNCH_BLOCKING", ""), "");
    EXPECT_EQ(with_variable(healthy_h100_x8(), "HIP_LAUNCH_BLOCKING", "1"), "");
}

TEST(Environment, DebuggersWarnOnNvidia) {
    for (const char* name :
         {"NSIGHT_CUDA_DEBUGGER", "CUDA_INJECTION32_PATH", "CUDA_INJECTION64_PATH", "CUDA_AUTO_BOOST",
          "CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "CUDA_COREDUMP_FILE", "CUDA_DEVICE_WAITS_ON_EXCEPTION",
          "CUDA_PROFILE", "COMPUTE_PROFILE", "OPENCL_PROFILE"}) {
        EXPECT_EQ(with_variable(healthy_h100_x8(), name, "1"), "env.debug host warn") << name;
        EXPECT_EQ(with_variable(healthy_h100_x8(), name, "0"), "") << name;
    }
    EXPECT_EQ(with_variable(healthy_h100_x8(), "CUDA_CACHE_PATH", "/tmp"), "");
}

TEST(Environment, NamesThatNothingReadsWarn) {
    EXPECT_EQ(with_variable(healthy_mi300x_vf(), "HIP_DEVICE_MAX_HW_QUEUES", "8"), "env.no_effect host warn");
    EXPECT_EQ(with_variable(healthy_h100_x8(), "HSA_OVERRIDE_THERMAL_LIMIT", "110"),
              "env.no_effect host warn");
    EXPECT_EQ(with_variable(healthy_mi300x_vf(), "GPU_MAX_HW_QUEUES", "8"), "");
}

}  // namespace
}  // namespace gpucheck
