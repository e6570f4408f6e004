// What was seen while the GPU worked: throttling with its cause, temperatures, power, memory errors.
#include <gtest/gtest.h>

#include "tests/burn_checks/burnt.h"

namespace gpucheck {
namespace {

using U64 = std::uint64_t;

Snapshot throttled(Snapshot machine, std::vector<CauseShare> causes) {
    machine.gpus[0].burn_in.load.throttled_by = std::move(causes);
    return machine;
}

TEST(BurnThrottle, WantedLimitsAreNoFault) {
    for (const char* wanted :
         {"gpu_idle", "applications_clocks", "sw_power_cap", "sync_boost", "display_clocks"})
        EXPECT_EQ(said(kBurnThrottleCheck, throttled(burnt_h100_x8(), {{wanted, 1}})), "") << wanted;
    for (const char* wanted : {"ppt", "power_limit", "current_limit"})
        EXPECT_EQ(said(kBurnThrottleCheck, throttled(burnt_mi300x_x8(), {{wanted, 1}})), "") << wanted;
    const CheckResult result = run_check(kBurnThrottleCheck, burnt_h100_x8(), Profile::boot);
    EXPECT_EQ(result.findings[0].observed, "less, of 600 samples; at a wanted limit: sw_power_cap 40 %");
}

TEST(BurnThrottle, HeatByItsShareOfTheTime) {
    const auto h100 = [](const char* cause, double share) {
        return said(kBurnThrottleCheck, throttled(burnt_h100_x8(), {{cause, share}}));
    };
    EXPECT_EQ(h100("hw_thermal_slowdown", 0.009), "");
    EXPECT_EQ(h100("hw_thermal_slowdown", 0.02), "burn.throttle.thermal 0000:19:00.0 warn");
    EXPECT_EQ(h100("sw_thermal_slowdown", 0.2), "burn.throttle.thermal 0000:19:00.0 fail");
    EXPECT_EQ(h100("hw_power_brake", 0.9), "burn.throttle.power_brake 0000:19:00.0 warn");
    EXPECT_EQ(h100("hw_slowdown", 0.5), "burn.throttle.slowdown 0000:19:00.0 warn");
    EXPECT_EQ(h100("hw_slowdown", 0.005), "");
    for (const char* cause : {"socket_thermal", "vr_thermal", "hbm_thermal", "thermal"}) {
        EXPECT_EQ(said(kBurnThrottleCheck, throttled(burnt_mi300x_x8(), {{cause, 0.5}})),
                  "burn.throttle.thermal 0000:05:00.0 fail")
            << cause;
    }
    EXPECT_EQ(said(kBurnThrottleCheck, throttled(burnt_mi300x_x8(), {{"prochot", 0.05}})),
              "burn.throttle.prochot 0000:05:00.0 warn");
    EXPECT_EQ(said(kBurnThrottleCheck, throttled(burnt_mi300x_x8(), {{"prochot", 0.001}})), "");
}

TEST(BurnThrottle, TheParentBitIsToldOnce) {
    EXPECT_EQ(said(kBurnThrottleCheck,
                   throttled(burnt_h100_x8(), {{"hw_slowdown", 0.5}, {"hw_thermal_slowdown", 0.5}})),
              "burn.throttle.thermal 0000:19:00.0 fail");
}

TEST(BurnThrottle, AFlashIsNothingAndNoLookIsUnknown) {
    Snapshot machine = throttled(burnt_h100_x8(), {{"hw_thermal_slowdown", 0.1}});
    machine.gpus[0].burn_in.load.samples = fact(U64{20});  // two samples
    EXPECT_EQ(said(kBurnThrottleCheck, machine), "");
    machine.gpus[0].burn_in.load.samples = fact(U64{9});
    EXPECT_EQ(said(kBurnThrottleCheck, machine), "burn.load.unread 0000:19:00.0 unknown");
    machine.gpus[0].burn_in.load.throttled_share = Missing{"NVML", "GPU_IS_LOST"};
    EXPECT_EQ(said(kBurnThrottleCheck, machine), "burn.load.unread 0000:19:00.0 unknown");
    machine.gpus[0].burn_in.load.throttled_share = Missing{"NVML", "NOT_SUPPORTED"};
    EXPECT_EQ(said(kBurnThrottleCheck, machine), "");
    machine = burnt_mi300x_x8();
    machine.gpus[0].burn_in.load.throttled_share = Missing{"gpu_metrics", "not in layout 1.5"};
    EXPECT_EQ(said(kBurnThrottleCheck, machine), "");
}

void reach(Fact<Quantity>& temperature, double usual, double most) {
    temperature = Fact<Quantity>(Quantity{"", "C", usual, 30, most, 600}, "sampler");
}

TEST(BurnTemperature, AgainstTheDriversOwnLimit) {
    Snapshot machine = burnt_h100_x8();
    Device& gpu = machine.gpus[0];
    gpu.telemetry.first.nvidia.power.slowdown_c = gpu.telemetry.last.nvidia.power.slowdown_c = fact(87);
    reach(gpu.burn_in.load.temperature_c, 70, 86.5);
    EXPECT_EQ(said(kBurnTemperatureCheck, machine), "");
    reach(gpu.burn_in.load.temperature_c, 70, 87);
    EXPECT_EQ(said(kBurnTemperatureCheck, machine), "burn.temperature.limit 0000:19:00.0 warn");
    reach(gpu.burn_in.load.temperature_c, 88, 90);
    EXPECT_EQ(said(kBurnTemperatureCheck, machine), "burn.temperature.limit 0000:19:00.0 fail");
    // A margin in place of a temperature is no limit.
    gpu.telemetry.first.nvidia.power.slowdown_c = gpu.telemetry.last.nvidia.power.slowdown_c = fact(-2);
    EXPECT_EQ(said(kBurnTemperatureCheck, machine), "");
}

TEST(BurnTemperature, AmdSensorsByLabel) {
    Snapshot machine = burnt_mi300x_x8();
    Device& gpu = machine.gpus[0];
    reach(gpu.burn_in.load.temperature_c, 70, 99);
    EXPECT_EQ(said(kBurnTemperatureCheck, machine), "");
    gpu.telemetry.first.amd.temperatures = gpu.telemetry.last.amd.temperatures =
        fact(std::vector<HwmonTemperature>{{"junction", fact(46), fact(100), fact(105)},
                                           {"mem", fact(40), fact(95), fact(100)}});
    reach(gpu.burn_in.load.temperature_c, 70, 101);
    EXPECT_EQ(said(kBurnTemperatureCheck, machine), "burn.temperature.limit 0000:05:00.0 warn");
    reach(gpu.burn_in.load.temperature_c, 70, 80);
    reach(gpu.burn_in.load.memory_temperature_c, 96, 98);
    EXPECT_EQ(said(kBurnTemperatureCheck, machine), "burn.temperature.limit 0000:05:00.0 fail");
    reach(gpu.burn_in.load.memory_temperature_c, 90, 94);
    EXPECT_EQ(said(kBurnTemperatureCheck, machine), "");
    reach(gpu.burn_in.load.temperature_c, 70, 5000);
    EXPECT_EQ(said(kBurnTemperatureCheck, machine), "burn.load.unread 0000:05:00.0 unknown");
}

TEST(BurnPower, FarBelowTheLimitWhileBusyWarns) {
    Snapshot machine = burnt_h100_x8();
    LoadSamples& load = machine.gpus[0].burn_in.load;
    reach(load.power_w, 200, 290);
    EXPECT_EQ(said(kBurnPowerCheck, machine), "");
    reach(load.power_w, 200, 270);
    EXPECT_EQ(said(kBurnPowerCheck, machine), "burn.power.low 0000:19:00.0 warn");
    load.busy_share = fact(0.1);  // three seconds of thirty
    EXPECT_EQ(said(kBurnPowerCheck, machine), "");
    load.busy_share = fact(0.7);
    load.power_limit_w = fact(400.0);  // a lower limit is no low power
    EXPECT_EQ(said(kBurnPowerCheck, machine), "");
    machine = burnt_mi300x_x8();
    reach(machine.gpus[0].burn_in.load.power_w, 0, 0);  // told for the package
    EXPECT_EQ(said(kBurnPowerCheck, machine), "");
    reach(machine.gpus[0].burn_in.load.power_w, 130, 250);
    EXPECT_EQ(said(kBurnPowerCheck, machine), "burn.power.low 0000:05:00.0 warn");
    machine.gpus[0].burn_in.units = fact(U64{38});
    machine.gpus[0].amd.kfd_nodes.push_back(machine.gpus[0].amd.kfd_nodes.front());
    EXPECT_EQ(said(kBurnPowerCheck, machine), "");
}

TEST(BurnEcc, UncorrectedFailsAndStormsWarn) {
    Snapshot machine = burnt_h100_x8();
    LoadSamples& load = machine.gpus[0].burn_in.load;
    load.ecc_corrected = fact(U64{2999});  // in 30 s
    EXPECT_EQ(said(kBurnEccCheck, machine), "");
    load.ecc_corrected = fact(U64{3000});
    EXPECT_EQ(said(kBurnEccCheck, machine), "burn.ecc.corrected 0000:19:00.0 warn");
    load.ecc_corrected = fact(U64{0});
    load.ecc_uncorrected = fact(U64{1});
    EXPECT_EQ(said(kBurnEccCheck, machine), "burn.ecc.uncorrected 0000:19:00.0 fail");
    machine = burnt_mi300x_x8();
    machine.gpus[0].burn_in.load.ecc_corrected = fact(U64{1});
    EXPECT_EQ(said(kBurnEccCheck, machine), "burn.ecc.corrected 0000:05:00.0 warn");
}

TEST(BurnEcc, NotOfferedIsNotUnread) {
    Snapshot machine = burnt_mi300x_x8();
    LoadSamples& load = machine.gpus[0].burn_in.load;
    load.ecc_uncorrected = load.ecc_corrected =
        Missing{"ras", "not reported: reading sets the counts to zero"};
    EXPECT_EQ(said(kBurnEccCheck, machine), "");
    load.ecc_uncorrected = load.ecc_corrected = Missing{"ras", "EIO"};
    EXPECT_EQ(said(kBurnEccCheck, machine), "burn.load.unread 0000:05:00.0 unknown");
    load.ecc_uncorrected = load.ecc_corrected = Missing{"ras", "ENOENT"};
    EXPECT_EQ(said(kBurnEccCheck, machine), "");
}

}  // namespace
}  // namespace gpucheck
