// A memory window without an address fails; an unassigned ROM or I/O window does not.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

std::vector<Bar>& bars(Snapshot& machine, std::vector<Bar>& copy) {
    copy = *machine.gpus[0].pci.bars;
    return copy;
}

TEST(PcieBar, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kPcieBarCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kPcieBarCheck, healthy_mi300x_vf()), "");
}

TEST(PcieBar, AnUnassignedWindowFails) {
    std::vector<Bar> list;
    Snapshot machine = healthy_h100_x8();
    bars(machine, list)[1].start = 0;
    machine.gpus[0].pci.bars = fact(list);
    EXPECT_EQ(said(kPcieBarCheck, machine), "pcie.bar.unassigned 0000:19:00.0 fail");
    machine = healthy_h100_x8();
    bars(machine, list)[1].flags |= 0x20000000;
    machine.gpus[0].pci.bars = fact(list);
    EXPECT_EQ(said(kPcieBarCheck, machine), "pcie.bar.unassigned 0000:19:00.0 fail");
    machine = healthy_h100_x8();
    bars(machine, list).erase(list.begin() + 1);  // cleared by the kernel: not listed at all
    machine.gpus[0].pci.bars = fact(list);
    EXPECT_EQ(said(kPcieBarCheck, machine), "pcie.bar.unassigned 0000:19:00.0 fail");
    machine.gpus[0].pci.bars = fact(std::vector<Bar>{});
    EXPECT_EQ(said(kPcieBarCheck, machine), "pcie.bar.unassigned 0000:19:00.0 fail");
}

TEST(PcieBar, RomVirtualFunctionAndIoWindowsAreNotJudged) {
    std::vector<Bar> list;
    Snapshot machine = healthy_mi300x_vf();
    bars(machine, list)
        .push_back({6, 0, 512ULL << 10, 0x20000200});  // "ROM ... can't assign; bogus alignment"
    list.push_back({7, 0, 1ULL << 30, 0x14220c});
    list.push_back({4, 0, 256, 0x101});
    machine.gpus[0].pci.bars = fact(list);
    EXPECT_EQ(said(kPcieBarCheck, machine), "");
}

TEST(PcieBar, UnreadIsUnknownAndASuperchipNeedsNoWindow) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus[0].pci.bars = Missing{"resource", "EACCES"};
    EXPECT_EQ(said(kPcieBarCheck, machine), "pcie.bar.unread 0000:19:00.0 unknown");
    Board board = *machine.gpus[0].board;
    board.form = FormFactor::superchip;
    machine.gpus[0].board = fact(board);
    machine.gpus[0].pci.bars = fact(std::vector<Bar>{{0, 0x1000000, 16ULL << 20, 0x14220c}});
    EXPECT_EQ(said(kPcieBarCheck, machine), "");
}

}  // namespace
}  // namespace gpucheck
