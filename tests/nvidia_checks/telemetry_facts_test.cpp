// Absences and counters: the distinctions that every telemetry check rests on.
#include "checks/telemetry_facts.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/nvidia_checks/change.h"

namespace gpucheck {
namespace {

const Missing kNever{"", "not looked at"};

TEST(TelemetryFacts, OnlySomeAbsencesAreAnswers) {
    EXPECT_TRUE(not_offered({"NVML", "NOT_SUPPORTED"}));
    EXPECT_TRUE(not_offered({"NVML", "FUNCTION_NOT_FOUND"}));
    EXPECT_TRUE(not_offered({"NVML", "symbol absent"}));
    for (const char* why : {"NO_PERMISSION", "UNKNOWN", "GPU_IS_LOST", "did not return within 800 ms",
                            "not looked at", "not captured", "ENOENT", ""}) {
        EXPECT_FALSE(not_offered({"NVML", why})) << why;
        EXPECT_EQ(missing_fact("test", {}, "x", {"NVML", why}).code, "telemetry.unread") << why;
        EXPECT_EQ(missing_fact("test", {}, "x", {"NVML", why}).verdict, Verdict::unknown) << why;
    }
    EXPECT_EQ(missing_fact("test", {}, "x", {"NVML", "NOT_SUPPORTED"}).verdict, Verdict::not_applicable);
}

TEST(TelemetryFacts, CountersAreJudgedAsGrowth) {
    using Counter = Fact<std::uint64_t>;
    EXPECT_TRUE(growth(fact(std::uint64_t{5}), fact(std::uint64_t{9})).is(4U));
    // Reset or wrapped: at least what it shows now.
    EXPECT_TRUE(growth(fact(std::uint64_t{900}), fact(std::uint64_t{7})).is(7U));
    EXPECT_TRUE(growth(fact(std::numeric_limits<std::uint64_t>::max()), fact(std::uint64_t{0})).is(0U));
    EXPECT_EQ(growth(fact(std::uint64_t{5}), Counter(kNever)).why(), "one reading only");
    EXPECT_EQ(growth(fact(std::uint64_t{5}), Counter(Missing{"NVML", "GPU_IS_LOST"})).why(), "GPU_IS_LOST");
    EXPECT_FALSE(growth(Counter(Missing{"NVML", "UNKNOWN"}), fact(std::uint64_t{5})).known());
}

TEST(TelemetryFacts, TimeBetweenReadingsIsPositiveOrUnknown) {
    Snapshot machine = telling_h100_x8();
    Device& gpu = machine.gpus[0];
    EXPECT_TRUE(seconds_between(gpu).is(60.0));
    for (const double at : {0.5, 0.4, -1e308, std::numeric_limits<double>::quiet_NaN()}) {
        gpu.telemetry.last.at_s = fact(at);
        EXPECT_FALSE(seconds_between(gpu).known()) << at;
    }
    gpu.telemetry.last = Reading{};
    EXPECT_FALSE(read_twice(gpu));
}

TEST(TelemetryFacts, UnitsOfAContainerAreNotTheHosts) {
    Snapshot machine = telling_h100_x8();
    EXPECT_EQ(unit_state(machine.host, "nvidia-fabricmanager.service"), UnitState::running);
    EXPECT_EQ(unit_state(machine.host, "nvidia-imex.service"), UnitState::unknown);
    machine.host.container = fact("docker");
    EXPECT_EQ(unit_state(machine.host, "nvidia-fabricmanager.service"), UnitState::unknown);
}

}  // namespace
}  // namespace gpucheck
