// A bound GPU that is off is reported; one that sleeps, or belongs to a virtual machine, is not.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

TEST(PciePower, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kPciePowerCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kPciePowerCheck, healthy_mi300x_vf()), "");
}

TEST(PciePower, OffWhileInUseWarns) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.power_state = fact("D3cold");
    EXPECT_EQ(said(kPciePowerCheck, machine), "pcie.power.off 0000:19:00.0 warn");
    machine.gpus[0].pci.runtime_status = fact("suspended");
    EXPECT_EQ(said(kPciePowerCheck, machine), "");
}

TEST(PciePower, DisabledUnderADriverWarns) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].pci.enabled = fact(false);
    EXPECT_EQ(said(kPciePowerCheck, machine), "pcie.power.disabled 0000:83:00.0 warn");
    machine.gpus[0].pci.driver = fact("vfio-pci");
    EXPECT_EQ(said(kPciePowerCheck, machine), "");
    machine.gpus[0].pci.driver = fact("");
    EXPECT_EQ(said(kPciePowerCheck, machine), "");
}

TEST(PciePower, UnreadIsUnknown) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].pci.power_state = Missing{"power_state", "EIO"};
    EXPECT_EQ(said(kPciePowerCheck, machine), "pcie.power.unread 0000:83:00.0 unknown");
}

}  // namespace
}  // namespace gpucheck
