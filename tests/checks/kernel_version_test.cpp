// Kernels that are older than a board: fatal for an in-tree driver that left the GPU alone, harmless with
// DKMS, doubtful where a distribution ports drivers back.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

// An MI350X on an inbox kernel: amdgpu is not from DKMS.
Snapshot mi350x_on(const char* kernel, bool works) {
    Snapshot machine = healthy_mi300x_vf();
    Board board = machine.gpus[0].board.value();
    board.key = "mi350x";
    board.arch = "gfx950";
    board.kernel_min = fact("6.14");
    machine.gpus[0].board = fact(board);
    machine.host.kernel_release = fact(kernel);
    machine.host.modules[0].version = Missing{"/sys/module/amdgpu/version", "ENOENT"};
    machine.host.dkms.clear();
    if (!works) {
        machine.gpus[0].pci.driver = fact("");
        machine.gpus[0].amd.kfd_nodes.clear();
    }
    return machine;
}

TEST(KernelVersion, FailsTheInboxDriverOfAnOldKernel) {
    EXPECT_EQ(said(kKernelVersionCheck, mi350x_on("5.15.0-130-generic", false)),
              "kernel.version.old 0000:83:00.0 fail");
    EXPECT_EQ(said(kKernelVersionCheck, mi350x_on("6.8.0-55-generic", false)),
              "kernel.version.old 0000:83:00.0 fail");
    EXPECT_EQ(said(kKernelVersionCheck, mi350x_on("6.14.0-rc3", false)),
              "kernel.version.old 0000:83:00.0 fail");
    EXPECT_EQ(said(kKernelVersionCheck, mi350x_on("6.14.0-24-generic", false)), "");
}

TEST(KernelVersion, OnlyWarnsWhereTheGpuWorksAllTheSame) {
    EXPECT_EQ(said(kKernelVersionCheck, mi350x_on("6.8.0-55-generic", true)),
              "kernel.version.old 0000:83:00.0 warn");
}

TEST(KernelVersion, AcceptsDkmsOnAnyKernel) {
    Snapshot machine = mi350x_on("5.15.0-130-generic", true);
    machine.host.modules[0].version = fact("6.14.14");
    EXPECT_EQ(said(kKernelVersionCheck, machine), "");
    machine = mi350x_on("5.15.0-130-generic", false);  // installed, not loaded: the kernel is not to blame
    machine.host.dkms = {{"amdgpu", "6.14.14-2193512.22.04", fact("installed")}};
    EXPECT_EQ(said(kKernelVersionCheck, machine), "");
    machine.host.dkms[0].state = fact("added");
    EXPECT_EQ(said(kKernelVersionCheck, machine), "kernel.version.old 0000:83:00.0 fail");
}

TEST(KernelVersion, DoesNotReadRedHatsNumbersAsMainline) {
    EXPECT_EQ(said(kKernelVersionCheck, mi350x_on("5.14.0-570.12.1.el9_6.x86_64", true)), "");
    EXPECT_EQ(said(kKernelVersionCheck, mi350x_on("5.14.0-570.12.1.el9_6.x86_64", false)),
              "kernel.version.backported 0000:83:00.0 unknown");
    Snapshot suse = mi350x_on("6.4.0-150600.23-default", false);
    suse.host.os_id = fact("sles");
    EXPECT_EQ(said(kKernelVersionCheck, suse), "kernel.version.backported 0000:83:00.0 unknown");
}

TEST(KernelVersion, HoldsThePromise) {
    Snapshot machine = healthy_h100_x8();
    machine.expected.kernel_version = fact("6.11");
    EXPECT_EQ(said(kKernelVersionCheck, machine), "kernel.version.below_expected host fail");
    machine.expected.kernel_version = fact("6.8");
    EXPECT_EQ(said(kKernelVersionCheck, machine), "");
}

TEST(KernelVersion, IsUnknownWhenUnreadOrJunk) {
    Snapshot machine = mi350x_on("generic", false);
    EXPECT_EQ(said(kKernelVersionCheck, machine), "kernel.version.unread 0000:83:00.0 unknown");
    machine.host.kernel_release = Missing{"/proc/sys/kernel/osrelease", "EACCES"};
    machine.expected.kernel_version = fact("6.8");
    EXPECT_EQ(said(kKernelVersionCheck, machine),
              "kernel.version.unread 0000:83:00.0 unknown\nkernel.version.unread host unknown");
    machine = mi350x_on("6.8.0-55-generic", false);
    machine.host.modules[0].version = Missing{"/sys/module/amdgpu/version", "EACCES"};
    EXPECT_EQ(said(kKernelVersionCheck, machine), "kernel.version.unread 0000:83:00.0 unknown");
}

TEST(KernelVersion, DoesNotApplyWithoutAMinimum) {
    const CheckResult result = run_check(kKernelVersionCheck, healthy_h100_x8(), Profile::boot);
    EXPECT_EQ(result.reason, "no board here has a minimum kernel");
}

}  // namespace
}  // namespace gpucheck
