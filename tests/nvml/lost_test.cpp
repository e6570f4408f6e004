// A GPU that falls off, that the driver does not list, or about which NVML lies.
#include <gtest/gtest.h>

#include "fake_machine.h"

namespace gpucheck {
namespace {

TEST(NvmlLost, AGpuThatIsLostMidwayIsAskedNothingMore) {
    FakeMachine machine;
    const NvidiaTelemetry well = first_of(machine.read(), kAddresses[3]);
    machine.scenario["gpus"][3]["lost_after"] = 12;
    const Snapshot read = machine.read();
    EXPECT_TRUE(read.host.vendor_troubles->empty());  // it answered
    const NvidiaTelemetry& lost = first_of(read, kAddresses[3]);
    EXPECT_TRUE(lost.identity.name.known());
    EXPECT_EQ(lost.power.power_mw.why(), "GPU_IS_LOST");
    EXPECT_EQ(lost.nvlinks.why(), "GPU_IS_LOST");
    EXPECT_TRUE(invented(lost, well).empty());
    for (std::size_t i = 0; i < 8; ++i) {
        if (i != 3) {
            EXPECT_GT(known_facts(first_of(read, kAddresses[i])), 200U) << i;
        }
    }
}

TEST(NvmlLost, AGpuThatIsLostFromTheStart) {
    FakeMachine machine;
    machine.fault("*", "error", kAddresses[5], "GPU_IS_LOST");
    const Snapshot read = machine.read();
    const NvidiaTelemetry& lost = first_of(read, kAddresses[5]);
    EXPECT_EQ(lost.identity.handle.missing(), (Missing{"nvmlDeviceGetHandleByPciBusId_v2", "GPU_IS_LOST"}));
    EXPECT_EQ(known_facts(lost), 0U);
    EXPECT_TRUE(read.host.nvml.gpu_count.is(8U));
    EXPECT_EQ(read.host.nvml.listed.why(), "GPU_IS_LOST");
    EXPECT_EQ(read.host.nvml.listed.source(), "nvmlDeviceGetHandleByIndex_v2 of index 5");
}

TEST(NvmlLost, AGpuThatNvmlDoesNotListHasNoHandle) {
    FakeMachine machine;
    machine.scenario["gpus"][2]["hidden"] = true;
    machine.scenario["excluded"] = {kAddresses[2]};
    const Snapshot read = machine.read();
    EXPECT_EQ(first_of(read, kAddresses[2]).identity.handle.why(), "NOT_FOUND");
    EXPECT_EQ(known_facts(first_of(read, kAddresses[2])), 0U);
    EXPECT_TRUE(read.host.nvml.gpu_count.is(7U));
    ASSERT_TRUE(read.host.nvml.listed.known());
    EXPECT_EQ(read.host.nvml.listed->size(), 7U);
    EXPECT_TRUE(read.host.nvml.excluded.is(std::vector<std::string>{kAddresses[2]}));
}

TEST(NvmlLost, CountsThatLie) {
    FakeMachine machine;
    machine.value("", "nvmlDeviceGetCount_v2", 7);
    Snapshot read = machine.read();
    EXPECT_TRUE(read.host.nvml.gpu_count.is(7U));
    EXPECT_EQ(read.host.nvml.listed->size(), 7U);
    EXPECT_TRUE(first_of(read, kAddresses[7]).identity.handle.is(true));  // it is there all the same

    machine.value("", "nvmlDeviceGetCount_v2", 4000000000U);
    read = machine.read();
    EXPECT_EQ(read.host.nvml.gpu_count.why(), "malformed: 4000000000");
    EXPECT_FALSE(read.host.nvml.listed.known());

    machine.value("", "nvmlDeviceGetCount_v2", 9);
    read = machine.read();
    EXPECT_TRUE(read.host.nvml.gpu_count.is(9U));
    EXPECT_EQ(read.host.nvml.listed.why(), "INVALID_ARGUMENT");

    machine.value("", "nvmlDeviceGetCount_v2", 8);
    machine.value(kAddresses[0], "FI 91", 4000);
    machine.value(kAddresses[1], "FI 91", 0);
    read = machine.read();
    EXPECT_EQ(first_of(read, kAddresses[0]).nvlinks.why(), "malformed");
    ASSERT_TRUE(first_of(read, kAddresses[1]).nvlinks.known());
    EXPECT_TRUE(first_of(read, kAddresses[1]).nvlinks->empty());
}

TEST(NvmlLost, ConfidentialComputing) {
    FakeMachine machine("h100-sxm", 1);
    machine.value("", "nvmlSystemGetConfComputeState", {2, 1, 0});
    machine.value("", "nvmlSystemGetConfComputeGpusReadyState", 0);
    Snapshot read = machine.read();
    EXPECT_TRUE(read.host.nvml.confidential_compute.is(true));
    EXPECT_TRUE(read.host.nvml.confidential_compute_ready.is(false));
    machine.value("", "nvmlSystemGetConfComputeSettings",
                  {2, 0, 0, 1});  // protected PCIe: the feature itself is off
    read = machine.read();
    EXPECT_TRUE(read.host.nvml.confidential_compute.is(true));
    EXPECT_EQ(read.host.nvml.confidential_compute.source(), "nvmlSystemGetConfComputeSettings");
}

TEST(NvmlLost, OtherVendorsGpusAreLeftAlone) {
    FakeMachine machine("h100-sxm", 1);
    Snapshot snapshot = machine.machine();
    snapshot.gpus[0].vendor = Vendor::amd;
    const Snapshot before = snapshot;
    machine.read(snapshot, false);
    EXPECT_EQ(snapshot, before);
}

}  // namespace
}  // namespace gpucheck
