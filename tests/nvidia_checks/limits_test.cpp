// Temperatures, power limits and clocks: at the limit, held below it, and what only looks so.
#include <gtest/gtest.h>

#include "tests/nvidia_checks/change.h"

namespace gpucheck {
namespace {

TEST(NvidiaTemperature, AtTheLimitInEitherReading) {
    Snapshot machine = telling_h100_x8();
    first(machine).power.margin_c = fact(0);
    EXPECT_EQ(said(kNvidiaTemperatureCheck, machine), "nvidia.temperature.limit 0000:19:00.0 fail");
    first(machine).power.margin_c = fact(1);
    EXPECT_EQ(said(kNvidiaTemperatureCheck, machine), "");
    last(machine).power.memory_temperature_c = fact(95);
    EXPECT_EQ(said(kNvidiaTemperatureCheck, machine), "nvidia.temperature.memory 0000:19:00.0 fail");
    last(machine).power.memory_temperature_c = fact(94);
    EXPECT_EQ(said(kNvidiaTemperatureCheck, machine), "");
}

TEST(NvidiaTemperature, ThresholdsThatAreTemperatures) {
    Snapshot machine = telling_t4();
    last(machine).power.temperature_c = fact(93);
    EXPECT_EQ(said(kNvidiaTemperatureCheck, machine), "nvidia.temperature.limit 0000:19:00.0 fail");
    last(machine).power.temperature_c = fact(92);
    EXPECT_EQ(said(kNvidiaTemperatureCheck, machine), "");
    // A margin (T.Limit -2) is no threshold, and absurd values are no temperature.
    first(machine).power.slowdown_c = last(machine).power.slowdown_c = fact(-2);
    EXPECT_EQ(said(kNvidiaTemperatureCheck, machine), "");
    first(machine).power.temperature_c = last(machine).power.temperature_c = fact(-2147483647);
    EXPECT_EQ(said(kNvidiaTemperatureCheck, machine), "telemetry.unread 0000:19:00.0 unknown");
}

TEST(NvidiaPower, HeldBelowTheDefault) {
    EXPECT_EQ(
        said_with(kNvidiaPowerCheck, [](NvidiaTelemetry& t) { t.power.limit_enforced_mw = number(629'000); }),
        "nvidia.power.limited 0000:19:00.0 warn");
    EXPECT_EQ(
        said_with(kNvidiaPowerCheck, [](NvidiaTelemetry& t) { t.power.limit_enforced_mw = number(630'000); }),
        "");
    EXPECT_EQ(said_with(kNvidiaPowerCheck,
                        [](NvidiaTelemetry& t) {
                            t.power.limit_enforced_mw = t.power.limit_default_mw = number(350'000);
                        }),
              "nvidia.power.board 0000:19:00.0 warn");
    for (const std::uint64_t absurd : {std::uint64_t{0}, UINT64_MAX}) {
        EXPECT_EQ(said_with(kNvidiaPowerCheck,
                            [&](NvidiaTelemetry& t) { t.power.limit_enforced_mw = number(absurd); }),
                  "telemetry.unread 0000:19:00.0 unknown");
    }
}

TEST(NvidiaClocks, OnlyADifferenceShowsThatSomebodySetOne) {
    EXPECT_EQ(
        said_with(kNvidiaClocksCheck, [](NvidiaTelemetry& t) { t.clocks.sm_application_mhz = fact(1200U); }),
        "nvidia.clocks.odd 0000:19:00.0 warn");
    Snapshot machine = telling_h100_x8();
    for (std::size_t i = 0; i < 8; ++i) {
        first(machine, i).clocks.sm_application_mhz = last(machine, i).clocks.sm_application_mhz =
            fact(1095U);
    }
    EXPECT_EQ(said(kNvidiaClocksCheck, machine), "");
}

TEST(NvidiaClocks, ASlowStateIsAFaultOnlyUnderLoad) {
    const auto slow = [](unsigned busy) {
        return [busy](NvidiaTelemetry& t) {
            t.clocks.pstate = fact(8U);
            t.power.gpu_busy_percent = fact(busy);
        };
    };
    EXPECT_EQ(said_with(kNvidiaClocksCheck, slow(99)), "nvidia.clocks.stuck 0000:19:00.0 warn");
    EXPECT_EQ(said_with(kNvidiaClocksCheck, slow(0)), "");
    Snapshot machine = with(slow(99));
    forget_second(machine);
    EXPECT_EQ(said(kNvidiaClocksCheck, machine), "");
}

}  // namespace
}  // namespace gpucheck
