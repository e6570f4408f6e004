// Modes, MIG, recovery actions, confidential computing; and versions that only NVML tells.
#include <gtest/gtest.h>

#include "tests/nvidia_checks/change.h"

namespace gpucheck {
namespace {

std::string said_of_action(const char* action) {
    return said_with(kNvidiaRecoveryCheck,
                     [&](NvidiaTelemetry& t) { t.state.recovery_action = fact(action); });
}

TEST(NvidiaRecovery, EachActionByName) {
    EXPECT_EQ(said_of_action("none"), "");
    EXPECT_EQ(said_of_action("reset"), "nvidia.recovery.reset 0000:19:00.0 fail");
    EXPECT_EQ(said_of_action("reboot"), "nvidia.recovery.reboot 0000:19:00.0 fail");
    EXPECT_EQ(said_of_action("drain_p2p"), "nvidia.recovery.drain_p2p 0000:19:00.0 fail");
    EXPECT_EQ(said_of_action("drain_and_reset"), "nvidia.recovery.drain_and_reset 0000:19:00.0 fail");
    EXPECT_EQ(said_of_action("recover_imex"), "nvidia.recovery.imex 0000:19:00.0 fail");
    EXPECT_EQ(said_of_action("77"), "telemetry.unread 0000:19:00.0 unknown");
}

TEST(NvidiaModes, ComputeMode) {
    const auto mode = [](const char* name) {
        return said_with(kNvidiaModesCheck, [&](NvidiaTelemetry& t) { t.state.compute_mode = fact(name); });
    };
    EXPECT_EQ(mode("prohibited"), "nvidia.compute_mode.prohibited 0000:19:00.0 fail");
    EXPECT_EQ(mode("exclusive_process"), "nvidia.compute_mode.exclusive 0000:19:00.0 warn");
    EXPECT_EQ(mode("default"), "");
    EXPECT_EQ(mode("other"), "telemetry.unread 0000:19:00.0 unknown");
}

TEST(NvidiaModes, PersistenceAndGraphics) {
    Snapshot machine = with([](NvidiaTelemetry& t) { t.state.persistence_mode = fact(false); });
    EXPECT_EQ(said(kNvidiaModesCheck, machine), "");  // the daemon does it
    machine.host.units = fact(std::vector<ServiceUnit>{});
    EXPECT_EQ(said(kNvidiaModesCheck, machine), "nvidia.persistence.off 0000:19:00.0 warn");
    EXPECT_EQ(said_with(kNvidiaModesCheck, [](NvidiaTelemetry& t) { t.state.graphics_processes = fact(1U); }),
              "nvidia.graphics.running 0000:19:00.0 warn");
}

TEST(NvidiaMig, AgainstAPromiseOnly) {
    Snapshot machine = telling_h100_mig();
    EXPECT_EQ(said(kNvidiaMigCheck, machine), "");
    machine.gpus.resize(1);
    machine.expected.mig = fact(false);
    EXPECT_EQ(said(kNvidiaMigCheck, machine), "nvidia.mig.unexpected 0000:19:00.0 fail");
    machine.expected.mig = fact(true);
    EXPECT_EQ(said(kNvidiaMigCheck, machine), "");
    machine = telling_t4();
    machine.expected.mig = fact(true);
    EXPECT_EQ(said(kNvidiaMigCheck, machine), "nvidia.mig.unexpected 0000:19:00.0 fail");
    machine.expected.mig = fact(false);
    EXPECT_EQ(said(kNvidiaMigCheck, machine), "");
}

TEST(NvidiaMig, PendingAndEmpty) {
    EXPECT_EQ(said_with(kNvidiaMigCheck, [](NvidiaTelemetry& t) { t.state.mig_pending = fact(true); }),
              "nvidia.mig.pending 0000:19:00.0 warn");
    Snapshot machine = telling_h100_mig();
    first(machine).state.mig_instances = last(machine).state.mig_instances = fact(0U);
    EXPECT_EQ(said(kNvidiaMigCheck, machine), "nvidia.mig.empty 0000:19:00.0 warn");
}

TEST(NvidiaConfidential, OnMeansReady) {
    Snapshot machine = telling_h100_x8();
    machine.host.nvml.confidential_compute = fact(true);
    EXPECT_EQ(said(kNvidiaConfidentialCheck, machine), "telemetry.unread host unknown");
    machine.host.nvml.confidential_compute_ready = fact(false);
    EXPECT_EQ(said(kNvidiaConfidentialCheck, machine), "nvidia.confidential.not_ready host fail");
    machine.host.nvml.confidential_compute_ready = fact(true);
    EXPECT_EQ(said(kNvidiaConfidentialCheck, machine), "");
}

TEST(NvidiaFirmware, TheInforomImageIsComparedToo) {
    Snapshot machine = telling_h100_x8();
    EXPECT_EQ(said(kFirmwareCheck, machine), "");
    first(machine, 3).identity.inforom_image = fact("G520.0200.00.03");
    EXPECT_EQ(said(kFirmwareCheck, machine), "firmware.differs host warn");
    // A file that shows question marks is filled in by NVML.
    machine = telling_h100_x8();
    machine.gpus[2].nvidia.vbios_version = fact("\?\?.\?\?.\?\?.\?\?.\?\?");
    EXPECT_EQ(said(kFirmwareCheck, machine), "");
}

TEST(NvidiaDriverVersion, NvmlTellsWhereFilesDoNot) {
    Snapshot machine = telling_h100_x8();
    machine.host.nvidia.version = Missing{"/proc/driver/nvidia/version", "ENOENT"};
    for (Module& module : machine.host.modules) module.version = Missing{"version", "EACCES"};
    EXPECT_EQ(said(kDriverVersionCheck, machine), "");
    machine.host.nvml.driver_version = fact("515.10");
    EXPECT_EQ(said(kDriverVersionCheck, machine), "driver.version.old host fail");
}

}  // namespace
}  // namespace gpucheck
