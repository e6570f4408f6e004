// The telemetry check: boot cannot pass while nobody looked, quick only lists it.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

TEST(Telemetry, IsUnknownUntilDone) {
    Snapshot machine = healthy_h100_x8();
    EXPECT_EQ(said(kTelemetryCheck, machine), "telemetry.not_read host unknown");
    machine.measurements.vendor_telemetry = fact(false);
    EXPECT_EQ(said(kTelemetryCheck, machine), "telemetry.not_read host unknown");
    machine.measurements.vendor_telemetry = fact(true);
    EXPECT_EQ(said(kTelemetryCheck, machine), "");
    EXPECT_EQ(run_check(kTelemetryCheck, machine, Profile::boot).verdict, Verdict::pass);
}

TEST(Telemetry, IsRequiredFromBoot) {
    const Snapshot machine = healthy_h100_x8();
    EXPECT_FALSE(run_check(kTelemetryCheck, machine, Profile::quick).required);
    EXPECT_TRUE(run_check(kTelemetryCheck, machine, Profile::boot).required);
}

TEST(Telemetry, NeedsAGpu) {
    Snapshot machine = healthy_h100_x8();
    machine.gpus.clear();
    EXPECT_EQ(run_check(kTelemetryCheck, machine, Profile::boot).verdict, Verdict::not_applicable);
}

}  // namespace
}  // namespace gpucheck
