// Firmware that differs between GPUs of one board.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

TEST(Firmware, NamesTheGpuThatDiffers) {
    Snapshot machine = healthy_mi300x_x8();
    machine.gpus[3].amd.firmware[2].text = "0x00360b01";
    EXPECT_EQ(said(kFirmwareCheck, machine), "firmware.differs host warn");
    EXPECT_EQ(complaints(kFirmwareCheck, machine).front().observed,
              "sos 0x00360c05 on 7 GPUs, 0x00360b01 on 0000:65:00.0");
    Snapshot nvidia = healthy_h100_x8();
    nvidia.gpus[0].nvidia.gsp_firmware = fact("570.124.06");
    EXPECT_EQ(said(kFirmwareCheck, nvidia), "firmware.differs host warn");
}

TEST(Firmware, NamesTheVbiosThatDiffers) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[7].nvidia.vbios_version = fact("96.00.5e.00.01");
    EXPECT_EQ(said(kFirmwareCheck, machine), "firmware.vbios.differs host warn");
    Snapshot amd = healthy_mi300x_x8();
    amd.gpus[7].amd.vbios_version = fact("113-M3000100-099");
    EXPECT_EQ(said(kFirmwareCheck, amd), "firmware.vbios.differs host warn");
}

TEST(Firmware, DoesNotCompareDifferentBoards) {
    Snapshot machine = healthy_h100_x8();
    Board other = machine.gpus[7].board.value();
    other.key = "h200-sxm";
    other.name = "NVIDIA H200 SXM";
    machine.gpus[7].board = fact(other);
    machine.gpus[7].nvidia.vbios_version = fact("96.00.99.00.01");
    EXPECT_EQ(said(kFirmwareCheck, machine), "");
}

// A GPU that no program has opened shows question marks: no difference, but not equality either.
TEST(Firmware, TakesQuestionMarksForNoAnswer) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[2].nvidia.vbios_version = fact("??.??.??.??.??");
    machine.gpus[2].nvidia.gsp_firmware = fact("N/A");
    EXPECT_EQ(said(kFirmwareCheck, machine), "firmware.unread host unknown");
    for (Device& gpu : machine.gpus) gpu.nvidia.vbios_version = fact("??.??.??.??.??");
    EXPECT_EQ(said(kFirmwareCheck, machine), "");
}

TEST(Firmware, NeedsTwoGpus) {
    EXPECT_EQ(run_check(kFirmwareCheck, healthy_mi300x_vf(), Profile::quick).reason,
              "no two GPUs of one board to compare");
}

}  // namespace
}  // namespace gpucheck
