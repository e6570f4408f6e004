// The clock check: a date before the program was written fails, any later one passes.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

TEST(ClockCheck, FiresOnAnUnsetClockOnly) {
    Snapshot machine = healthy_mi300x_vf();
    EXPECT_EQ(said(kClockCheck, machine), "");
    machine.host.process.now = fact("2026-01-01T00:00:00Z");
    EXPECT_EQ(said(kClockCheck, machine), "");
    machine.host.process.now = fact("1970-01-01T00:01:10Z");
    EXPECT_EQ(said(kClockCheck, machine), "clock.wrong host fail");
}

TEST(ClockCheck, ATimeThatWasNotRecordedIsUnknown) {
    Snapshot machine = healthy_mi300x_vf();
    machine.host.process.now = Missing{"process.json", "no \"now\""};
    EXPECT_EQ(said(kClockCheck, machine), "clock.unread host unknown");
}

}  // namespace
}  // namespace gpucheck
