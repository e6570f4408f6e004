// KFD: absent, short of a GPU, of another chip, without ECC, in several hives.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

TEST(Kfd, FindsAKernelWithoutIt) {
    Snapshot machine = healthy_mi300x_vf();
    machine.host.kfd.nodes_total = Missing{"/sys/class/kfd/kfd/topology", "ENOENT"};
    machine.gpus[0].amd.kfd_nodes.clear();
    EXPECT_EQ(said(kKfdCheck, machine), "kfd.absent host fail");
    machine.host.kfd.nodes_total = Missing{"/sys/class/kfd/kfd/topology", "EACCES"};
    EXPECT_EQ(said(kKfdCheck, machine), "kfd.unread host unknown");
    machine.gpus[0].pci.driver = fact("");
    EXPECT_EQ(run_check(kKfdCheck, machine, Profile::boot).reason, "no GPU is bound to amdgpu");
}

TEST(Kfd, FindsABoundGpuThatItLeftOut) {
    Snapshot machine = healthy_mi300x_x8();
    machine.gpus[4].amd.kfd_nodes.clear();
    EXPECT_EQ(said(kKfdCheck, machine), "kfd.gpu.absent 0000:85:00.0 fail");
    EXPECT_FALSE(complaints(kKfdCheck, machine).front().scope.has_value());
    machine.host.kfd.unreadable = {"6: EPERM"};
    EXPECT_EQ(said(kKfdCheck, machine), "kfd.unread 0000:85:00.0 unknown\nkfd.unread host unknown");
    Snapshot guest = healthy_mi300x_vf();
    guest.gpus[0].amd.kfd_nodes.clear();
    EXPECT_EQ(said(kKfdCheck, guest), "kfd.gpu.absent 0000:83:00.0 fail");
    EXPECT_EQ(complaints(kKfdCheck, guest).front().scope, Scope::host);
}

TEST(Kfd, OnlyWarnsOfADisplayAdapterWithoutANode) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].amd.kfd_nodes.clear();
    machine.gpus[0].board = Missing{"gpus.json", "no row"};
    machine.gpus[0].pci.class_code = fact(0x030000U);
    EXPECT_EQ(said(kKfdCheck, machine), "kfd.gpu.absent 0000:83:00.0 warn");
}

TEST(Kfd, NamesNodesWithoutAFunction) {
    Snapshot machine = healthy_mi300x_x8();
    machine.host.kfd.orphans = {machine.gpus[4].amd.kfd_nodes[0]};
    EXPECT_EQ(said(kKfdCheck, machine), "kfd.orphan host warn");
    machine.gpus[4].amd.kfd_nodes.clear();  // it may be this GPU's
    EXPECT_EQ(said(kKfdCheck, machine), "kfd.orphan host warn\nkfd.unread 0000:85:00.0 unknown");
}

TEST(Kfd, DecodesTheChip) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].amd.kfd_nodes[0].gfx_target_version = fact(std::uint64_t{90500});
    EXPECT_EQ(said(kKfdCheck, machine), "kfd.gfx.wrong 0000:83:00.0 fail");
    EXPECT_EQ(complaints(kKfdCheck, machine).front().observed, "gfx950 (gfx_target_version 90500)");
    Board board = machine.gpus[0].board.value();
    board.arch = "gfx90a";
    machine.gpus[0].board = fact(board);
    machine.gpus[0].amd.kfd_nodes[0].gfx_target_version = fact(std::uint64_t{90010});
    EXPECT_EQ(said(kKfdCheck, machine), "");
    machine.gpus[0].amd.kfd_nodes[0].gfx_target_version = fact(~std::uint64_t{0});
    EXPECT_EQ(said(kKfdCheck, machine), "kfd.gfx.wrong 0000:83:00.0 fail");
    machine.gpus[0].amd.kfd_nodes[0].gfx_target_version =
        Missing{"properties", "key absent"};  // an old kernel
    EXPECT_EQ(said(kKfdCheck, machine), "");
}

TEST(Kfd, WantsOneHiveOnOneBoard) {
    Snapshot machine = healthy_mi300x_x8();
    for (unsigned i = 4; i < 8; ++i) machine.gpus[i].amd.kfd_nodes[0].hive_id = fact(std::uint64_t{7});
    EXPECT_EQ(said(kKfdCheck, machine), "kfd.hive.split host warn");
    for (Device& gpu : machine.gpus) {  // bridged PCIe cards: two hives of four are right
        Board board = gpu.board.value();
        board.form = FormFactor::pcie;
        gpu.board = fact(board);
    }
    EXPECT_EQ(said(kKfdCheck, machine), "");
    machine = healthy_mi300x_x8();
    for (Device& gpu : machine.gpus) gpu.amd.kfd_nodes[0].hive_id = fact(std::uint64_t{0});
    EXPECT_EQ(said(kKfdCheck, machine), "kfd.hive.split host warn");
    machine.host.hypervisor = fact("kvm");
    EXPECT_EQ(said(kKfdCheck, machine), "");
}

TEST(Kfd, LetsAContainerHideNodes) {
    Snapshot machine = healthy_mi300x_x8();
    machine.host.container = fact("docker");
    machine.host.kfd.unreadable = {"4: EPERM", "5: EPERM"};
    machine.expected.gpu_count = fact(6U);
    for (unsigned i = 2; i < 4; ++i) {
        machine.gpus[i].amd.kfd_nodes.clear();
        machine.gpus[i].nodes[0].stat = Missing{"/dev/dri", "ENOENT"};
    }
    EXPECT_EQ(said(kKfdCheck, machine), "");
}

}  // namespace
}  // namespace gpucheck
