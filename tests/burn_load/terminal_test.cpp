// The progress of each GPU: the newest of each kind, and trouble that stays.
#include <gtest/gtest.h>

#include "agent/burn_in_terminal.h"

namespace gpucheck {
namespace {

ExperimentResult result(const char* experiment, const char* variant, double rate, const char* unit) {
    ExperimentResult made;
    made.experiment = experiment;
    made.variant = variant;
    made.ran = made.timed = Fact<bool>(true, "test");
    made.quantities = {{variant, unit, rate, rate, rate, 3}};
    return made;
}

TEST(BurnInTerminal, ShowsTheNewestOfEachKind) {
    GpuProgress gpu;
    EXPECT_EQ(gpu.text(), "starting");
    gpu.take({"matrix", nullptr, nullptr});
    const ExperimentResult matrix = result("matrix", "bf16", 612.4, "TFLOP/s");
    gpu.take({"", &matrix, nullptr});
    LoadSamples load;
    load.power_w = Fact<Quantity>({"power", "W", 500, 90, 641, 20}, "test");
    load.temperature_c = Fact<Quantity>({"temperature", "C", 50, 40, 61, 20}, "test");
    gpu.take({"", nullptr, &load});
    const ExperimentResult copy = result("memory_stream", "copy", 3120.4, "GB/s");
    gpu.take({"", &copy, nullptr});
    EXPECT_EQ(gpu.text(), "memory_stream copy 612 TFLOP/s 3120 GB/s 641 W 61 C");
}

TEST(BurnInTerminal, NoNumberOfARunWithoutTimeAndTroubleStays) {
    GpuProgress gpu;
    ExperimentResult untimed = result("matrix", "bf16", 0.001, "TFLOP/s");
    untimed.timed = Fact<bool>(false, "settings");
    gpu.take({"", &untimed, nullptr});
    EXPECT_EQ(gpu.text(), "matrix bf16");
    ExperimentResult wrong = result("matrix", "f16", 600, "TFLOP/s");
    wrong.mismatches = Fact<std::uint64_t>(1, "counted");
    gpu.take({"", &wrong, nullptr});
    gpu.take({"host_link", nullptr, nullptr});
    EXPECT_EQ(gpu.text(), "host_link 600 TFLOP/s [matrix f16 WRONG]");
}

TEST(BurnInTerminal, LinesFitTheScreen) {
    EXPECT_EQ(drawn({}, 80, 24), "");
    EXPECT_EQ(drawn({"abcdef", "gh"}, 5, 24), "\r\x1b[Kabcd\n\r\x1b[Kgh\n\x1b[2A\r");
    EXPECT_EQ(drawn({"a", "b", "c"}, 80, 3), "\r\x1b[Ka\n\r\x1b[Kb\n\x1b[2A\r");
    EXPECT_EQ(drawn({"abc"}, 0, 0), "\r\x1b[Ka\n\x1b[1A\r");
}

}  // namespace
}  // namespace gpucheck
