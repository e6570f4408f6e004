// Masks that hide GPUs, alone and in layers; forms that hide none stay silent.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

std::string with_visible(Snapshot machine, std::vector<NamedText> env) {
    machine.host.process.env = std::move(env);
    return said(kVisibleDevicesCheck, machine);
}

TEST(VisibleDevices, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kVisibleDevicesCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kVisibleDevicesCheck, healthy_mi300x_vf()), "");
}

TEST(VisibleDevices, CudaListsThatHideEverything) {
    for (const char* list : {"", "-1", "NoDevFiles", "8", "-1,0,1", "all", ",0", "99999999999999999999"}) {
        EXPECT_EQ(with_visible(healthy_h100_x8(), {{"CUDA_VISIBLE_DEVICES", list}}),
                  "env.visible.none host fail")
            << list;
    }
}

TEST(VisibleDevices, CudaListsThatHideNothing) {
    for (const char* list :
         {"0,1,2,3,4,5,6,7", "7, 6, 5, 4, 3, 2, 1, 0", "0,1,2,3,4,5,6,7,8,9", "MIG-8f3b0c", "0,MIG-1"}) {
        EXPECT_EQ(with_visible(healthy_h100_x8(), {{"CUDA_VISIBLE_DEVICES", list}}), "") << list;
    }
    EXPECT_EQ(with_visible(healthy_h100_x8(), {{"HIP_VISIBLE_DEVICES", "-1"}}), "");  // another vendor's
}

TEST(VisibleDevices, HalfOfTheGpusWarns) {
    EXPECT_EQ(with_visible(healthy_h100_x8(), {{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}}),
              "env.visible.some host warn");
    EXPECT_EQ(with_visible(healthy_h100_x8(), {{"CUDA_VISIBLE_DEVICES", "0,1,2,-1,3,4,5,6,7"}}),
              "env.visible.some host warn");
    EXPECT_EQ(with_visible(healthy_h100_x8(), {{"CUDA_VISIBLE_DEVICES", "GPU-8f3b0c12,GPU-77aa"}}),
              "env.visible.some host warn");
    EXPECT_EQ(with_visible(healthy_h100_x8(), {{"CUDA_VISIBLE_DEVICES", "0,0,0,0,0,0,0,0"}}),
              "env.visible.some host warn");
    Snapshot four = healthy_h100_x8();
    four.expected.gpu_count = Fact<unsigned>(4, "--expect");
    EXPECT_EQ(with_visible(four, {{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}}), "");
}

TEST(VisibleDevices, EmptyAmdMasksOnlyWarn) {
    EXPECT_EQ(with_visible(healthy_mi300x_vf(), {{"HIP_VISIBLE_DEVICES", ""}}), "env.visible.none host warn");
    EXPECT_EQ(with_visible(healthy_mi300x_vf(), {{"CUDA_VISIBLE_DEVICES", ""}}),
              "env.visible.none host warn");
    EXPECT_EQ(with_visible(healthy_mi300x_vf(), {{"HIP_VISIBLE_DEVICES", "-1"}}),
              "env.visible.none host fail");
    EXPECT_EQ(with_visible(healthy_mi300x_vf(), {{"HIP_VISIBLE_DEVICES", "0"}}), "");
}

TEST(VisibleDevices, OpenClsOwnListOnlyWarns) {
    EXPECT_EQ(with_visible(healthy_mi300x_vf(), {{"GPU_DEVICE_ORDINAL", "7"}}), "env.visible.some host warn");
    for (const char* list : {"", "0"})
        EXPECT_EQ(with_visible(healthy_mi300x_vf(), {{"GPU_DEVICE_ORDINAL", list}}), "") << list;
    EXPECT_EQ(with_visible(healthy_h100_x8(), {{"GPU_DEVICE_ORDINAL", "7"}}), "");  // another vendor's
}

TEST(VisibleDevices, TheInnerMaskCountsWithinTheOuter) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus.assign(8, machine.gpus[0]);
    machine.expected.gpu_count = Fact<unsigned>(1, "--expect");
    EXPECT_EQ(with_visible(machine, {{"ROCR_VISIBLE_DEVICES", "2"}, {"CUDA_VISIBLE_DEVICES", "2"}}),
              "env.visible.masked host fail");
    EXPECT_EQ(with_visible(machine, {{"ROCR_VISIBLE_DEVICES", "2"}, {"CUDA_VISIBLE_DEVICES", "0"}}), "");
    EXPECT_EQ(with_visible(machine,
                           {{"ROCR_VISIBLE_DEVICES", "GPU-3cbd4e5f6071829d"}, {"HIP_VISIBLE_DEVICES", "1"}}),
              "env.visible.masked host fail");
    // HIP's own name wins over the CUDA one.
    EXPECT_EQ(with_visible(machine, {{"ROCR_VISIBLE_DEVICES", "2"},
                                     {"HIP_VISIBLE_DEVICES", "0"},
                                     {"CUDA_VISIBLE_DEVICES", "2"}}),
              "");
}

TEST(VisibleDevices, PartitionsAreDevicesToHip) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].amd.kfd_nodes.assign(8, machine.gpus[0].amd.kfd_nodes[0]);
    EXPECT_EQ(with_visible(machine, {{"HIP_VISIBLE_DEVICES", "7"}}), "");
    EXPECT_EQ(with_visible(machine, {{"HIP_VISIBLE_DEVICES", "8"}}), "env.visible.none host fail");
}

}  // namespace
}  // namespace gpucheck
