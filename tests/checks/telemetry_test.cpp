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

// Without persistence mode a healthy GPU needs seconds for the first call, which quick does not have.
TEST(Telemetry, NamesTheFirstCallThatTookTooLong) {
    Snapshot machine = healthy_h100_x8();
    machine.measurements.vendor_telemetry = Missing{"nvml", "nvmlInit_v2 hangs"};
    const VendorTrouble slow{"libnvidia-ml.so.1", "nvmlDeviceGetHandleByPciBusId_v2", "0000:19:00.0", "hangs",
                             "no answer within 1000 ms"};
    machine.host.vendor_troubles = fact(std::vector<VendorTrouble>{slow});
    EXPECT_EQ(said(kTelemetryCheck, machine),
              "telemetry.not_read host unknown\nvendor.call.hangs 0000:19:00.0 unknown");
    EXPECT_EQ(said(kVendorCallsCheck, machine), "");
    EXPECT_EQ(run_check(kVendorCallsCheck, machine, Profile::quick).verdict, Verdict::pass);
    EXPECT_FALSE(run_check(kTelemetryCheck, machine, Profile::quick).required);
}

}  // namespace
}  // namespace gpucheck
