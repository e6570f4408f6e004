// GPUs that the NVIDIA driver leaves out.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

TEST(Excluded, FindsAnExcludedGpuAndWhoseDoingItIs) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[5].nvidia.excluded = fact(true);
    EXPECT_EQ(said(kExcludedCheck, machine), "nvidia.gpu.excluded 0000:69:00.0 fail");
    EXPECT_FALSE(complaints(kExcludedCheck, machine).front().scope.has_value());
    machine.host.nvidia.params.push_back({"ExcludedGpus", "GPU-00000000-0000-0000-0000-000000000006"});
    EXPECT_EQ(complaints(kExcludedCheck, machine).front().scope, Scope::guest);
    machine.gpus[5].nvidia.excluded = fact(false);  // the option names a GPU that is not here
    EXPECT_EQ(said(kExcludedCheck, machine), "");
}

TEST(Excluded, IsUnknownWhenTheDriverDoesNotSay) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[5].nvidia.excluded =
        Missing{"/proc/driver/nvidia/gpus/0000:69:00.0/information", "key absent"};
    EXPECT_EQ(said(kExcludedCheck, machine), "nvidia.excluded.unread 0000:69:00.0 unknown");
    machine.gpus[5].pci.driver = fact("vfio-pci");
    EXPECT_EQ(said(kExcludedCheck, machine), "");
    EXPECT_EQ(run_check(kExcludedCheck, healthy_mi300x_vf(), Profile::quick).reason,
              "no GPU is bound to nvidia");
}

}  // namespace
}  // namespace gpucheck
