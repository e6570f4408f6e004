// Device nodes outside containers: each errno with its own code, and what is no fault.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

Snapshot kfd_gives(const char* error) {
    Snapshot machine = healthy_mi300x_vf();
    machine.host.nodes[0].open_rw = fact(error);
    return machine;
}
Snapshot render_gives(const char* error) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].nodes[0].open_rw = fact(error);
    return machine;
}
Snapshot nvidia0_gives(const char* error) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].nodes[0].open_rw = fact(error);
    return machine;
}
void remove(DeviceNode& node) {
    node.stat = Missing{node.path, "ENOENT"};
    node.open_rw = fact("ENOENT");
}

TEST(Nodes, TellsTheErrorsOfKfdApart) {
    EXPECT_EQ(said(kNodesCheck, kfd_gives("EACCES")), "kfd.node.denied /dev/kfd fail");
    EXPECT_EQ(said(kNodesCheck, kfd_gives("EPERM")), "kfd.node.cgroup /dev/kfd fail");
    EXPECT_EQ(said(kNodesCheck, kfd_gives("EINVAL")), "kfd.node.mismatch /dev/kfd fail");
    Snapshot machine = healthy_mi300x_vf();
    remove(machine.host.nodes[0]);
    EXPECT_EQ(said(kNodesCheck, machine), "kfd.node.missing /dev/kfd fail");
}

TEST(Nodes, TellsTheErrorsOfRenderNodesApart) {
    EXPECT_EQ(said(kNodesCheck, render_gives("EACCES")), "render.node.denied /dev/dri/renderD128 fail");
    EXPECT_EQ(said(kNodesCheck, render_gives("EPERM")), "render.node.cgroup /dev/dri/renderD128 fail");
    EXPECT_EQ(said(kNodesCheck, render_gives("EINVAL")), "render.node.mismatch /dev/dri/renderD128 fail");
    Snapshot machine = healthy_mi300x_vf();
    remove(machine.gpus[0].nodes[0]);
    EXPECT_EQ(said(kNodesCheck, machine), "render.node.missing /dev/dri/renderD128 fail");
}

TEST(Nodes, TellsTheErrorsOfNvidiaNodesApart) {
    EXPECT_EQ(said(kNodesCheck, nvidia0_gives("EACCES")), "nvidia.node.denied /dev/nvidia0 fail");
    EXPECT_EQ(said(kNodesCheck, nvidia0_gives("EPERM")), "nvidia.node.cgroup /dev/nvidia0 fail");
    EXPECT_EQ(said(kNodesCheck, nvidia0_gives("EINVAL")), "nvidia.node.mismatch /dev/nvidia0 fail");
}

TEST(Nodes, TellsDeadDevicesFromBusyOnesAndFromOurOwnTroubles) {
    EXPECT_EQ(said(kNodesCheck, nvidia0_gives("EIO")), "node.open.io /dev/nvidia0 fail");
    EXPECT_EQ(said(kNodesCheck, nvidia0_gives("ENODEV")), "node.open.gone /dev/nvidia0 fail");
    EXPECT_EQ(said(kNodesCheck, kfd_gives("ENXIO")), "node.open.gone /dev/kfd fail");
    EXPECT_EQ(said(kNodesCheck, nvidia0_gives("EBUSY")), "node.open.busy /dev/nvidia0 unknown");
    EXPECT_EQ(said(kNodesCheck, kfd_gives("EAGAIN")), "node.open.busy /dev/kfd unknown");
    EXPECT_EQ(said(kNodesCheck, kfd_gives("EMFILE")), "node.open.error /dev/kfd unknown");
    EXPECT_EQ(said(kNodesCheck, kfd_gives("errno 512")), "node.open.error /dev/kfd unknown");
    EXPECT_EQ(said(kNodesCheck, kfd_gives("ok")), "");
}

TEST(Nodes, SaysWhoWasRefusedInNumbers) {
    Snapshot machine = kfd_gives("EACCES");
    machine.host.process.uid = fact(1000U);
    machine.host.process.gids = fact(std::vector<unsigned>{1000, 44});
    EXPECT_EQ(complaints(kNodesCheck, machine).front().observed,
              "EACCES; mode 0660, uid 0, gid 109 (render); the process has uid 1000, gids 1000 44");
    machine.host.process.uid = fact(0U);
    machine.host.process.user_namespace = fact(true);
    machine.host.groups.clear();
    EXPECT_EQ(complaints(kNodesCheck, machine).front().observed,
              "EACCES; mode 0660, uid 0, gid 109 (no name here); the process has uid 0 in a user namespace, "
              "gids 1000 44");
}

TEST(Nodes, JudgesAccessAndNotModes) {
    Snapshot machine = healthy_mi300x_vf();
    for (const unsigned mode : {0666U, 0660U, 0600U}) {
        machine.host.nodes[0].stat = fact(NodeStat{"char", 236, 0, mode, 0, 44});
        EXPECT_EQ(said(kNodesCheck, machine), "");
    }
}

TEST(Nodes, WarnsOfADeniedCardNodeOnly) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].nodes[1].open_rw = fact("EACCES");
    EXPECT_EQ(said(kNodesCheck, machine), "card.node.denied /dev/dri/card1 warn");
    remove(machine.gpus[0].nodes[1]);
    EXPECT_EQ(said(kNodesCheck, machine), "");
}

TEST(Nodes, LetsNvidiaNodesBeMadeLater) {
    Snapshot machine = healthy_h100_x8();
    remove(machine.host.nodes[1]);
    EXPECT_EQ(said(kNodesCheck, machine), "nvidia.node.missing /dev/nvidia-uvm warn");
    machine.host.nvidia.params[0].text = "0";  // ModifyDeviceFiles: nobody makes it
    EXPECT_EQ(said(kNodesCheck, machine), "nvidia.node.missing /dev/nvidia-uvm fail");
}

TEST(Nodes, LooksAtWhatStandsAtThePath) {
    Snapshot machine = healthy_mi300x_vf();
    machine.host.nodes[0].stat = fact(NodeStat{"file", 0, 0, 0644, 0, 0});  // opens well, and is no GPU
    EXPECT_EQ(said(kNodesCheck, machine), "node.type.wrong /dev/kfd fail");
    machine.host.nodes[0].stat = fact(NodeStat{"char", 238, 0, 0660, 0, 109});
    EXPECT_EQ(said(kNodesCheck, machine), "node.number.wrong /dev/kfd fail");
    EXPECT_EQ(complaints(kNodesCheck, machine).front().expected, "236:0");
    machine.host.nodes[0].expected_major = fact(238U);  // the number is the kernel's choice at each boot
    EXPECT_EQ(said(kNodesCheck, machine), "");
    machine.host.nodes[0].expected_major = Missing{"/proc/devices", "EACCES"};
    EXPECT_EQ(said(kNodesCheck, machine), "");
}

TEST(Nodes, IsUnknownWhenTheOpenHangsOrWasNotTried) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].nodes[0].open_rw = Missing{"/dev/nvidia0", "open(2) did not return within 1200 ms"};
    EXPECT_EQ(said(kNodesCheck, machine), "node.open.hangs /dev/nvidia0 unknown");
    EXPECT_TRUE(run_check(kNodesCheck, machine, Profile::quick).required);
    machine.gpus[0].nodes[0].open_rw = Missing{"/dev/nvidia0", "not captured"};
    EXPECT_EQ(said(kNodesCheck, machine), "node.unread /dev/nvidia0 unknown");
    machine.gpus[0].nodes[0].open_rw = fact("ok");
    machine.gpus[0].nodes[0].stat = Missing{"/dev/nvidia0", "not captured"};
    EXPECT_EQ(said(kNodesCheck, machine), "node.unread /dev/nvidia0 unknown");
    machine.gpus[0].nodes.clear();
    EXPECT_EQ(said(kNodesCheck, machine), "node.unread 0000:19:00.0 unknown");
}

TEST(Nodes, AsksOnlyForNodesOfBoundGpus) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.driver = fact("vfio-pci");
    remove(machine.gpus[0].nodes[0]);
    EXPECT_EQ(said(kNodesCheck, machine), "");
    for (Device& gpu : machine.gpus) gpu.pci.driver = fact("");
    EXPECT_EQ(run_check(kNodesCheck, machine, Profile::quick).reason,
              "no GPU is bound to its vendor's driver");
    Snapshot amd = healthy_mi300x_vf();  // a kernel without KFD has no /dev/kfd; kfd.topology says so
    amd.host.kfd.nodes_total = Missing{"/sys/class/kfd", "ENOENT"};
    remove(amd.host.nodes[0]);
    EXPECT_EQ(said(kNodesCheck, amd), "");
}

}  // namespace
}  // namespace gpucheck
