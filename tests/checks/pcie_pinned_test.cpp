// A link held down by its registers is found; one that merely idles is not.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

PcieConfig held(LinkSpeed target, LinkSpeed now, bool autonomous_off) {
    return {LinkSpeed::gen5, 16, now, 16, target, autonomous_off, false};
}

TEST(PciePinned, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kPciePinnedCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kPciePinnedCheck, healthy_mi300x_vf()), "");
}

TEST(PciePinned, APinnedPortFails) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.path[0].config = fact(held(LinkSpeed::gen2, LinkSpeed::gen2, true));
    EXPECT_EQ(said(kPciePinnedCheck, machine), "pcie.link.pinned 0000:19:00.0 fail");
    machine.host.hypervisor = fact("kvm");  // in a guest the port is made up
    EXPECT_EQ(said(kPciePinnedCheck, machine), "");
    machine.gpus[0].pci.config = fact(held(LinkSpeed::gen2, LinkSpeed::gen2, true));
    EXPECT_EQ(said(kPciePinnedCheck, machine), "pcie.link.pinned 0000:19:00.0 warn");
}

TEST(PciePinned, HalfOfTheEvidenceWarns) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.config =
        fact(held(LinkSpeed::gen3, LinkSpeed::gen5, false));  // a lower target, not in force
    machine.gpus[1].pci.config = fact(held(LinkSpeed::gen5, LinkSpeed::gen2, true));  // frozen where it idled
    EXPECT_EQ(said(kPciePinnedCheck, machine),
              "pcie.link.pinned 0000:19:00.0 warn\npcie.link.pinned 0000:29:00.0 warn");
}

TEST(PciePinned, IdlingAndWhatTheBoardCannotUseAreFine) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.config = fact(held(LinkSpeed::gen5, LinkSpeed::gen1, false));
    machine.gpus[1].pci.config = fact(held(LinkSpeed::gen5, LinkSpeed::gen5, true));
    EXPECT_EQ(said(kPciePinnedCheck, machine), "");
    Board board = *machine.gpus[2].board;
    board.pcie_speed = fact(LinkSpeed::gen4);
    machine.gpus[2].board = fact(board);
    machine.gpus[2].pci.path[0].config = fact(held(LinkSpeed::gen4, LinkSpeed::gen4, true));
    machine.gpus[2].pci.config =
        fact(PcieConfig{LinkSpeed::gen4, 16, LinkSpeed::gen4, 16, LinkSpeed::gen4, false, false});
    EXPECT_EQ(said(kPciePinnedCheck, machine), "");
}

TEST(PciePinned, ADisabledLinkFails) {
    Snapshot machine = healthy_h100_x8();
    PcieConfig config = held(LinkSpeed::gen5, LinkSpeed::gen5, false);
    config.link_disabled = true;
    machine.gpus[0].pci.path[1].config = fact(config);
    EXPECT_EQ(said(kPciePinnedCheck, machine), "pcie.link.disabled 0000:19:00.0 fail");
    machine.gpus[0].pci.path[1].vendor = fact(std::uint16_t{0x1b36});
    EXPECT_EQ(said(kPciePinnedCheck, machine), "");
}

TEST(PciePinned, UnreadableConfigSpaceIsUnknownAndNotRequiredBeforeAcceptance) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.config = Missing{"config", "64 bytes only"};
    EXPECT_EQ(said(kPciePinnedCheck, machine), "pcie.config.unread 0000:19:00.0 unknown");
    EXPECT_FALSE(run_check(kPciePinnedCheck, machine, Profile::boot).required);
    machine.gpus[0].pci.config = fact(PcieConfig{});  // reads of all ones decode to nothing
    EXPECT_EQ(said(kPciePinnedCheck, machine), "pcie.config.unread 0000:19:00.0 unknown");
    machine = healthy_h100_x8();
    machine.gpus[0].pci.path[1].config = Missing{"config", "EACCES"};
    EXPECT_EQ(said(kPciePinnedCheck, machine), "pcie.config.unread 0000:19:00.0 unknown");
}

TEST(PciePinned, AGuestsFunctionMayHaveNoLinkRegisters) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].pci.config = fact(PcieConfig{});
    EXPECT_EQ(said(kPciePinnedCheck, machine), "");
    PcieConfig all_ones;
    all_ones.cap_width = 63;
    machine.gpus[0].pci.config = fact(all_ones);
    EXPECT_EQ(said(kPciePinnedCheck, machine), "pcie.config.unread 0000:83:00.0 unknown");
}

}  // namespace
}  // namespace gpucheck
