// Kernel settings of bare-metal hosts; a guest is never told about its host.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

/// Two MI300X on bare metal with an IOMMU, as AMD's acceptance guide wants them.
Snapshot mi300x_host() {
    Snapshot machine = healthy_mi300x_vf();
    machine.host.hypervisor = fact("none");
    machine.host.numa_nodes = fact(2U);
    machine.gpus.assign(2, machine.gpus[0]);
    for (Device& gpu : machine.gpus) gpu.pci.iommu_group = fact("7");
    return machine;
}

TEST(HostSettings, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kHostSettingsCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kHostSettingsCheck, healthy_mi300x_vf()), "");
    EXPECT_EQ(said(kHostSettingsCheck, mi300x_host()), "");
}

TEST(HostSettings, AGuestIsNotToldAboutItsHost) {
    Snapshot machine = healthy_mi300x_vf();
    machine.host.kernel_cmdline = fact("ro pci=realloc");
    machine.host.numa_balancing = fact(1);
    machine.gpus[0].pci.iommu_group = fact("7");
    EXPECT_EQ(said(kHostSettingsCheck, machine), "");
}

TEST(HostSettings, TranslatedDmaWarns) {
    Snapshot machine = mi300x_host();
    machine.host.kernel_cmdline = fact("ro quiet iommu=ptx");
    EXPECT_EQ(said(kHostSettingsCheck, machine), "host.iommu.translated host warn");
    machine.gpus[0].pci.iommu_type = fact("identity");  // the kernel was built to pass through
    EXPECT_EQ(said(kHostSettingsCheck, machine), "");
    machine.host.kernel_cmdline = fact("ro iommu=pt");
    machine.gpus[0].pci.iommu_type = fact("DMA-FQ");
    EXPECT_EQ(said(kHostSettingsCheck, machine), "host.iommu.translated host warn");
    machine = mi300x_host();
    machine.host.kernel_cmdline = fact("ro");
    for (Device& gpu : machine.gpus)
        gpu.pci.iommu_group = Missing{"iommu_group", "ENOENT"};  // the IOMMU is off
    EXPECT_EQ(said(kHostSettingsCheck, machine), "");
}

TEST(HostSettings, NvidiaNeedsEvidenceAndTwoGpus) {
    Snapshot machine = healthy_h100_x8();
    machine.host.kernel_cmdline = fact("ro");
    EXPECT_EQ(said(kHostSettingsCheck, machine), "");
    machine.host.kernel_cmdline = fact("ro iommu.passthrough=0");
    EXPECT_EQ(said(kHostSettingsCheck, machine), "host.iommu.translated host warn");
    machine.gpus.resize(1);
    EXPECT_EQ(said(kHostSettingsCheck, machine), "");
}

TEST(HostSettings, NumaBalancingOnInstinctOnly) {
    Snapshot machine = mi300x_host();
    machine.host.numa_balancing = fact(1);
    EXPECT_EQ(said(kHostSettingsCheck, machine), "host.numa_balancing.on host warn");
    machine.host.numa_nodes = fact(1U);
    EXPECT_EQ(said(kHostSettingsCheck, machine), "");
    machine = mi300x_host();
    machine.host.numa_balancing = Missing{"sysctl", "ENOENT"};  // built without it
    EXPECT_EQ(said(kHostSettingsCheck, machine), "");
    machine = healthy_h100_x8();
    machine.host.numa_balancing = fact(1);
    EXPECT_EQ(said(kHostSettingsCheck, machine), "");
}

TEST(HostSettings, ReallocationTurnedOnWarnsOnInstinct) {
    Snapshot machine = mi300x_host();
    machine.host.kernel_cmdline = fact("ro iommu=pt pci=realloc");
    EXPECT_EQ(said(kHostSettingsCheck, machine), "host.realloc host warn");
    machine.host.kernel_cmdline = fact("ro iommu=pt");
    EXPECT_EQ(said(kHostSettingsCheck, machine), "");
}

TEST(HostSettings, UnreadIsUnknown) {
    Snapshot machine = mi300x_host();
    machine.host.numa_balancing = Missing{"sysctl", "EACCES"};
    EXPECT_EQ(said(kHostSettingsCheck, machine), "host.settings.unread host unknown");
    machine = healthy_h100_x8();
    machine.host.kernel_cmdline = Missing{"/proc/cmdline", "EACCES"};
    EXPECT_EQ(said(kHostSettingsCheck, machine), "host.settings.unread host unknown");
}

}  // namespace
}  // namespace gpucheck
