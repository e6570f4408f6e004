// Metrics, throttling, clocks, temperatures and power limits, each with the harmless case beside it.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"
#include "tests/checks/healthy_amd_telemetry.h"

namespace gpucheck {
namespace {

using U64 = std::uint64_t;

TEST(AmdMetrics, UnknownLayoutAndUnreadable) {
    Snapshot machine = telling_mi300x_x8();
    Fact<std::string>& layout = machine.gpus[0].telemetry.first.amd.metrics.layout;
    layout = Missing{"gpu_metrics", "unknown layout 1.23, 4000 bytes"};
    EXPECT_EQ(said(kAmdMetricsCheck, machine), "amd.metrics.layout 0000:05:00.0 unknown");
    layout = Missing{"gpu_metrics", "EIO"};
    EXPECT_EQ(said(kAmdMetricsCheck, machine), "telemetry.unread 0000:05:00.0 unknown");
    layout = fact("1.8");
    EXPECT_EQ(said(kAmdMetricsCheck, machine), "");
}

Snapshot throttled(Fact<U64> AmdResidency::*reason, U64 samples) {
    Snapshot machine = telling_mi300x_x8();
    Telemetry& telemetry = machine.gpus[0].telemetry;
    const U64 before = *(telemetry.first.amd.metrics.residency.*reason);
    telemetry.last.amd.metrics.residency.*reason = fact(before + samples);
    return machine;
}

TEST(AmdThrottle, HeatAndAlarmByShareOfTheRun) {  // 30,000 samples in this run
    EXPECT_EQ(said(kAmdThrottleCheck, throttled(&AmdResidency::socket_thermal, 0)), "");
    EXPECT_EQ(said(kAmdThrottleCheck, throttled(&AmdResidency::socket_thermal, 299)), "");
    EXPECT_EQ(said(kAmdThrottleCheck, throttled(&AmdResidency::socket_thermal, 300)),
              "amd.throttle.hot 0000:05:00.0 warn");
    EXPECT_EQ(said(kAmdThrottleCheck, throttled(&AmdResidency::hbm_thermal, 3000)),
              "amd.throttle.hot 0000:05:00.0 fail");
    EXPECT_EQ(said(kAmdThrottleCheck, throttled(&AmdResidency::vr_thermal, 2999)),
              "amd.throttle.hot 0000:05:00.0 warn");
    EXPECT_EQ(said(kAmdThrottleCheck, throttled(&AmdResidency::prochot, 20000)),
              "amd.throttle.prochot 0000:05:00.0 fail");
    EXPECT_EQ(said(kAmdThrottleCheck, throttled(&AmdResidency::ppt, 30000)), "");  // normal under GEMM
    EXPECT_EQ(complaints(kAmdThrottleCheck, throttled(&AmdResidency::hbm_thermal, 300))[0].observed,
              "memory temperature: 1 % of the samples");
}

TEST(AmdThrottle, OneReadingIsHistory) {
    Snapshot machine = telling_mi300x_x8();
    for (Device& gpu : machine.gpus) gpu.telemetry.last = Reading{};
    EXPECT_EQ(said(kAmdThrottleCheck, machine), "");
    const CheckResult result = run_check(kAmdThrottleCheck, machine, Profile::boot);
    EXPECT_EQ(result.verdict, Verdict::not_applicable);  // and not a pass: nothing was seen of this run
    EXPECT_NE(result.findings[0].observed.find("power limit 731902 of 5120774 samples"), std::string::npos);
}

TEST(AmdThrottle, ASecondReadingThatFailedIsUnknown) {
    Snapshot machine = telling_mi300x_x8();
    machine.gpus[0].telemetry.last.amd.metrics = AmdMetrics{};
    machine.gpus[0].telemetry.last.amd.metrics.residency.accumulation_counter = Missing{"gpu_metrics", "EIO"};
    EXPECT_EQ(said(kAmdThrottleCheck, machine), "telemetry.unread 0000:05:00.0 unknown");
    machine = telling_mi300x_x8();
    machine.gpus[0].telemetry.last.amd.metrics.residency.accumulation_counter = fact(U64{5120774});
    EXPECT_EQ(said(kAmdThrottleCheck, machine), "telemetry.unread 0000:05:00.0 unknown");  // stands still
}

TEST(AmdThrottle, WrappedTotalsAreNoThrottling) {
    Snapshot machine = telling_mi300x_x8();
    Telemetry& telemetry = machine.gpus[0].telemetry;
    telemetry.first.amd.metrics.residency.accumulation_counter = fact(U64{4294957296});  // 10,000 before 2^32
    telemetry.last.amd.metrics.residency.accumulation_counter = fact(U64{20000});
    telemetry.last.amd.metrics.residency.socket_thermal = fact(U64{3344 + 15000});
    // 15,000 of 30,000 samples; of the 20,000 since the wrap it would be three quarters.
    EXPECT_EQ(complaints(kAmdThrottleCheck, machine)[0].observed, "socket temperature: 50 % of the samples");
}

TEST(AmdThrottle, Mi200BitsOfThisMoment) {
    Snapshot machine = telling_mi210_x2();
    Fact<U64>& bits = machine.gpus[0].telemetry.last.amd.metrics.residency.independent_throttle_status;
    EXPECT_EQ(said(kAmdThrottleCheck, machine), "");
    bits = fact(U64{1} << 36);  // hotspot
    EXPECT_EQ(said(kAmdThrottleCheck, machine), "amd.throttle.hot 0000:05:00.0 warn");
    bits = fact(U64{1} << 47);
    EXPECT_EQ(said(kAmdThrottleCheck, machine), "amd.throttle.prochot 0000:05:00.0 warn");
    bits = fact(U64{1} << 57);  // reliability limits, not heat
    EXPECT_EQ(said(kAmdThrottleCheck, machine), "");
}

TEST(AmdThrottle, LayoutsWithoutReasons) {
    Snapshot machine = telling_mi300x_x8();
    for (Device& gpu : machine.gpus) {
        gpu.telemetry.first.amd.metrics.layout = fact("1.5");
        gpu.telemetry.first.amd.metrics.residency = AmdResidency{};
        gpu.telemetry.first.amd.metrics.residency.throttle_status = fact(U64{0});  // always 0 there
    }
    EXPECT_EQ(run_check(kAmdThrottleCheck, machine, Profile::boot).verdict, Verdict::not_applicable);
}

TEST(AmdClocks, Pinned) {
    Snapshot machine = telling_mi300x_x8();
    machine.gpus[0].telemetry.first.amd.performance_level = fact("low");
    EXPECT_EQ(said(kAmdClocksCheck, machine), "amd.clocks.pinned 0000:05:00.0 warn");
    machine.gpus[0].telemetry.first.amd.performance_level = fact("auto");
    machine.gpus[0].telemetry.first.amd.metrics.gfxclk_lock_status = fact(U64{0x3});
    EXPECT_EQ(said(kAmdClocksCheck, machine), "");
}

TEST(AmdClocks, StuckNeedsActivity) {
    Snapshot machine = telling_mi300x_x8();
    AmdMetrics& last = machine.gpus[0].telemetry.last.amd.metrics;
    last.gfxclk_mhz = fact(std::vector<unsigned>(8, 60));
    EXPECT_EQ(said(kAmdClocksCheck, machine), "amd.clocks.stuck 0000:05:00.0 warn");
    last.gfx_activity_percent = fact(0U);  // idle at 60 MHz
    EXPECT_EQ(said(kAmdClocksCheck, machine), "");
    last.gfx_activity_percent = Missing{"gpu_metrics", "not available"};
    EXPECT_EQ(said(kAmdClocksCheck, machine), "");
    last.gfx_activity_percent = fact(99U);
    std::vector<unsigned> one_fast(8, 60);
    one_fast[3] = 1900;
    last.gfxclk_mhz = fact(one_fast);
    EXPECT_EQ(said(kAmdClocksCheck, machine), "");
}

Snapshot with_sensor(const char* label, int celsius, Fact<int> critical, Fact<int> emergency) {
    Snapshot machine = telling_mi300x_x8();
    machine.gpus[0].telemetry.first.amd.temperatures =
        fact(std::vector<HwmonTemperature>{{label, Fact<int>(celsius, "temp2_input"), critical, emergency}});
    machine.gpus[0].telemetry.last = Reading{};
    return machine;
}

TEST(AmdTemperature, CriticalAndEmergency) {
    EXPECT_EQ(said(kAmdTemperatureCheck, with_sensor("junction", 99, fact(100), fact(105))), "");
    EXPECT_EQ(said(kAmdTemperatureCheck, with_sensor("junction", 100, fact(100), fact(105))),
              "amd.temperature.critical 0000:05:00.0 warn");
    EXPECT_EQ(said(kAmdTemperatureCheck, with_sensor("mem", 110, fact(105), fact(110))),
              "amd.temperature.critical 0000:05:00.0 fail");
    const Missing none{"temp2_crit", "ENOENT"};
    EXPECT_EQ(said(kAmdTemperatureCheck, with_sensor("junction", 104, none, none)), "");
    EXPECT_EQ(said(kAmdTemperatureCheck, with_sensor("junction", 105, fact(0), none)),
              "amd.temperature.critical 0000:05:00.0 warn");
    // A memory temperature without any limit was compared with nothing.
    EXPECT_EQ(said(kAmdTemperatureCheck, with_sensor("mem", 60, none, none)),
              "telemetry.unread 0000:05:00.0 unknown");
    EXPECT_EQ(said(kAmdTemperatureCheck, with_sensor("junction", 65535, fact(100), fact(105))),
              "telemetry.unread 0000:05:00.0 unknown");
}

TEST(AmdTemperature, UnderLoadAtTheEnd) {
    Snapshot machine = telling_mi300x_x8();
    machine.gpus[0].telemetry.last.amd.temperatures =
        fact(std::vector<HwmonTemperature>{{"junction", fact(106), fact(100), fact(105)}});
    EXPECT_EQ(said(kAmdTemperatureCheck, machine), "amd.temperature.critical 0000:05:00.0 fail");
}

TEST(AmdTemperature, IdleAndHot) {
    Snapshot machine = telling_mi300x_x8();
    AmdMetrics& first = machine.gpus[0].telemetry.first.amd.metrics;
    first.hotspot_c = fact(86);
    EXPECT_EQ(said(kAmdTemperatureCheck, machine), "amd.temperature.idle 0000:05:00.0 warn");
    first.gfx_activity_percent = fact(80U);
    EXPECT_EQ(said(kAmdTemperatureCheck, machine), "");
    first.gfx_activity_percent = Missing{"gpu_metrics", "not available"};
    EXPECT_EQ(said(kAmdTemperatureCheck, machine), "");
}

TEST(AmdTemperature, GuestWithMetricsOnly) {
    Snapshot machine = telling_mi300x_vf();
    AmdTelemetry& amd = machine.gpus[0].telemetry.first.amd;
    amd.temperatures = Missing{"hwmon", "ENOENT"};
    EXPECT_EQ(run_check(kAmdTemperatureCheck, machine, Profile::boot).verdict, Verdict::pass);
    machine.gpus[0].telemetry.last = Reading{};
    amd.metrics.hotspot_c = Missing{"gpu_metrics", "not available"};
    EXPECT_EQ(run_check(kAmdTemperatureCheck, machine, Profile::boot).verdict, Verdict::not_applicable);
}

TEST(AmdPower, LowLimit) {
    Snapshot machine = telling_mi300x_x8();
    Fact<U64>& cap = machine.gpus[0].telemetry.first.amd.power_cap_uw;
    cap = fact(U64{674000000});
    EXPECT_EQ(said(kAmdPowerCheck, machine), "amd.power.limit_low 0000:05:00.0 warn");
    EXPECT_EQ(complaints(kAmdPowerCheck, machine)[0].scope, Scope::guest);
    cap = fact(U64{675000000});
    EXPECT_EQ(said(kAmdPowerCheck, machine), "");
    cap = fact(U64{0});  // the second die of a package
    EXPECT_EQ(said(kAmdPowerCheck, machine), "");
    cap = fact(~U64{0});
    EXPECT_EQ(said(kAmdPowerCheck, machine), "");
}

TEST(AmdPower, AgainstTheDriversDefaultWhereTheBoardHasNoFigure) {
    Snapshot machine = telling_mi300x_x8();
    Board board = *machine.gpus[0].board;
    board.power_w = Missing{"gpus.json mi350p", "no figure"};
    machine.gpus[0].board = fact(board);
    AmdTelemetry& amd = machine.gpus[0].telemetry.first.amd;
    amd.power_cap_default_uw = fact(U64{600000000});
    amd.power_cap_uw = fact(U64{450000000});
    EXPECT_EQ(said(kAmdPowerCheck, machine), "amd.power.limit_low 0000:05:00.0 warn");
    amd.power_cap_default_uw = fact(U64{450000000});
    EXPECT_EQ(said(kAmdPowerCheck, machine), "");
}

TEST(AmdPower, AGuestsLimitIsItsHosts) {
    Snapshot machine = telling_mi300x_vf();
    machine.gpus[0].telemetry.first.amd.power_cap_uw = fact(U64{500000000});
    EXPECT_EQ(said(kAmdPowerCheck, machine), "amd.power.limit_low 0000:83:00.0 warn");
    EXPECT_EQ(complaints(kAmdPowerCheck, machine)[0].scope, Scope::host);
    KfdNode& node = machine.gpus[0].amd.kfd_nodes[0];
    node.simd_count = fact(U64{152});  // one eighth: it shares the board's limit
    EXPECT_EQ(said(kAmdPowerCheck, machine), "");
}

}  // namespace
}  // namespace gpucheck
