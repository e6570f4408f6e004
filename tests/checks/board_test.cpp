// Boards: unknown, not the promised one, mixed.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

TEST(BoardCheck, GivesTheIdsOfAnUnknownBoard) {
    Snapshot machine = healthy_mi300x_vf();
    machine.gpus[0].board = Missing{"gpus.json", "no row"};
    EXPECT_EQ(said(kBoardCheck, machine), "gpu.board.unknown 0000:83:00.0 unknown");
    EXPECT_EQ(complaints(kBoardCheck, machine).front().observed, "1002:74b5, subsystem 1002:74a1: no row");
    const auto verdict = [&](Profile profile) {
        return aggregate({run_check(kBoardCheck, machine, profile)});
    };
    EXPECT_EQ(verdict(Profile::quick), Verdict::unknown);  // nothing else ran
    EXPECT_FALSE(run_check(kBoardCheck, machine, Profile::quick).required);
    EXPECT_TRUE(run_check(kBoardCheck, machine, Profile::boot).required);
}

TEST(BoardCheck, FailsAnotherBoardThanThePromised) {
    Snapshot machine = healthy_h100_x8();
    machine.expected.board = fact("h200-sxm");
    machine.gpus.resize(1);
    machine.expected.gpu_count = fact(1U);
    EXPECT_EQ(said(kBoardCheck, machine), "gpu.board.wrong 0000:19:00.0 fail");
    machine.expected.board = fact("h100-sxm-80gb");
    EXPECT_EQ(said(kBoardCheck, machine), "");
    machine.gpus[0].board = Missing{"gpus.json", "no row"};  // could be a revision of the right one
    EXPECT_EQ(said(kBoardCheck, machine), "gpu.board.unknown 0000:19:00.0 unknown");
}

TEST(BoardCheck, TakesAVirtualFunctionForItsBoard) {
    Snapshot machine = healthy_mi300x_vf();
    machine.expected.board = fact("mi300x");
    EXPECT_EQ(said(kBoardCheck, machine), "");
}

TEST(BoardCheck, WarnsOfMixedBoards) {
    Snapshot machine = healthy_mi300x_x8();
    Board other = machine.gpus[6].board.value();
    other.key = "mi325x";
    machine.gpus[6].board = fact(other);
    EXPECT_EQ(said(kBoardCheck, machine), "gpu.board.mixed host warn");
    other = machine.gpus[0].board.value();  // the same board, once as a virtual function
    other.virtual_function = true;
    machine.gpus[6].board = fact(other);
    EXPECT_EQ(said(kBoardCheck, machine), "");
}

TEST(BoardCheck, LeavesExtrasAloneWhenThePromiseIsKept) {
    Snapshot machine = healthy_h100_x8();
    machine.expected.board = fact("h100-sxm-80gb");
    Device display = machine.gpus[0];
    display.bdf.bus = 0x01;
    display.board = Missing{"gpus.json", "no row"};
    machine.gpus.push_back(display);
    EXPECT_EQ(said(kBoardCheck, machine), "");
    machine.gpus.erase(machine.gpus.begin());
    EXPECT_EQ(said(kBoardCheck, machine), "gpu.board.unknown 0000:01:00.0 unknown");
}

}  // namespace
}  // namespace gpucheck
