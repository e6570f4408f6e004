// A GPU without a node matters on bare metal with several nodes only.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

TEST(GpuNuma, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kNumaCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kNumaCheck, healthy_mi300x_vf()), "");
    EXPECT_EQ(run_check(kNumaCheck, healthy_mi300x_vf(), Profile::quick).verdict, Verdict::not_applicable);
}

TEST(GpuNuma, UnsetNodeWarns) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.numa_node = fact(-1);
    EXPECT_EQ(said(kNumaCheck, machine), "gpu.numa.unset 0000:19:00.0 warn");
    machine.host.numa_nodes = fact(1U);
    EXPECT_EQ(said(kNumaCheck, machine), "");
}

TEST(GpuNuma, UnreadIsUnknown) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.numa_node = Missing{"numa_node", "EIO"};
    machine.gpus[1].pci.numa_node = fact(-7);
    EXPECT_EQ(said(kNumaCheck, machine),
              "gpu.numa.unread 0000:19:00.0 unknown\ngpu.numa.unread 0000:29:00.0 unknown");
    machine = healthy_h100_x8();
    machine.host.numa_nodes = Missing{"node/online", "EIO"};
    EXPECT_EQ(said(kNumaCheck, machine), "gpu.numa.unread host unknown");
}

}  // namespace
}  // namespace gpucheck
