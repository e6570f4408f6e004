// An undisciplined clock warns, but not in the first two minutes.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

TEST(TimeSync, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kTimeSyncCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kTimeSyncCheck, healthy_mi300x_vf()), "");
}

TEST(TimeSync, WarnsAfterTheBootRace) {
    Snapshot machine = healthy_mi300x_vf();
    machine.host.time_synchronized = fact(false);
    machine.host.uptime_s = fact(119.0);
    EXPECT_EQ(said(kTimeSyncCheck, machine), "time.pending host unknown");
    machine.host.uptime_s = fact(120.0);
    EXPECT_EQ(said(kTimeSyncCheck, machine), "time.unsynchronized host warn");
    machine.host.uptime_s = Missing{"/proc/uptime", "EIO"};
    EXPECT_EQ(said(kTimeSyncCheck, machine), "time.unsynchronized host warn");
}

TEST(TimeSync, NobodyTellingIsUnknownAndNotRequired) {
    Snapshot machine = healthy_mi300x_vf();
    machine.host.time_synchronized = Missing{"time service", "none found"};
    EXPECT_EQ(said(kTimeSyncCheck, machine), "time.unread host unknown");
    EXPECT_FALSE(run_check(kTimeSyncCheck, machine, Profile::boot).required);
}

}  // namespace
}  // namespace gpucheck
