// Throttling: heat by the time it took, the power brake as a warning, ordinary reasons as nothing.
#include <gtest/gtest.h>

#include "tests/nvidia_checks/change.h"

namespace gpucheck {
namespace {

template <class Change>
std::string said_at_the_end(Change change) {
    Snapshot machine = telling_h100_x8();
    change(last(machine).clocks);
    return said(kNvidiaThrottleCheck, machine);
}

std::string said_of_bits(std::uint64_t bits, bool twice) {
    Snapshot machine = with([&](NvidiaTelemetry& t) {
        t.clocks.event_reasons = number(bits);
        for (auto* timer : {&t.clocks.thermal_ns, &t.clocks.sw_thermal_ns, &t.clocks.hw_thermal_ns,
                            &t.clocks.power_brake_ns}) {
            *timer = Missing{"NVML", "NOT_SUPPORTED"};
        }
    });
    if (!twice) forget_second(machine);
    return said(kNvidiaThrottleCheck, machine);
}

TEST(NvidiaThrottle, TimeDecides) {
    // 1 % of 60 s.
    EXPECT_EQ(said_at_the_end([](NvClocks& c) { c.sw_thermal_ns = number(7'600'000'000); }),
              "nvidia.throttle.thermal 0000:19:00.0 fail");
    EXPECT_EQ(said_at_the_end([](NvClocks& c) { c.sw_thermal_ns = number(7'590'000'000); }), "");
    EXPECT_EQ(said_at_the_end([](NvClocks& c) { c.power_brake_ns = number(35'000'000'000); }),
              "nvidia.throttle.power_brake 0000:19:00.0 warn");
    EXPECT_EQ(said_at_the_end([](NvClocks& c) { c.power_cap_ns = number(59'000'000'000); }), "");
    // Two thermal counters are one finding; more time than the run lasted is no time.
    EXPECT_EQ(said_at_the_end([](NvClocks& c) {
                  c.sw_thermal_ns = c.hw_thermal_ns = c.thermal_ns = number(37'000'000'000);
              }),
              "nvidia.throttle.thermal 0000:19:00.0 fail");
    EXPECT_EQ(said_at_the_end([](NvClocks& c) { c.hw_thermal_ns = number(UINT64_MAX); }), "");
}

TEST(NvidiaThrottle, ABitThatTheCountersDeny) {
    EXPECT_EQ(said_with(kNvidiaThrottleCheck,
                        [](NvidiaTelemetry& t) { t.clocks.event_reasons = number(0x20 | 0x80 | 0x8); }),
              "");
}

TEST(NvidiaThrottle, BitsAloneWarn) {
    EXPECT_EQ(said_of_bits(0x40, false), "nvidia.throttle.thermal 0000:19:00.0 warn");
    EXPECT_EQ(said_of_bits(0x88, false), "nvidia.throttle.power_brake 0000:19:00.0 warn");
    EXPECT_EQ(said_of_bits(0x8, false), "");
    EXPECT_EQ(said_of_bits(0x8, true), "nvidia.throttle.slowdown 0000:19:00.0 warn");
    for (const std::uint64_t ordinary : {0x1, 0x2, 0x4, 0x5, 0x10, 0x100, 0x117}) {
        EXPECT_EQ(said_of_bits(ordinary, true), "") << ordinary;
    }
}

TEST(NvidiaThrottle, UnsupportedBitsAreIgnoredAndUnknownOnesAreUnknown) {
    Snapshot machine = with([](NvidiaTelemetry& t) {
        t.clocks.event_reasons = number(0x88);
        t.clocks.event_reasons_supported = number(0x5);
        t.clocks.power_brake_ns = Missing{"NVML", "NOT_SUPPORTED"};
    });
    EXPECT_EQ(said(kNvidiaThrottleCheck, machine), "");
    machine = with([](NvidiaTelemetry& t) { t.clocks = {}; });
    EXPECT_EQ(said(kNvidiaThrottleCheck, machine), "telemetry.unread 0000:19:00.0 unknown");
}

}  // namespace
}  // namespace gpucheck
