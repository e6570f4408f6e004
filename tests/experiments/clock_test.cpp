// A simulated clock: the rates that the experiments report are those that the scenario declares, so that a
// check of speed can be tried on machines that nobody has.
#include "tests/experiments/fake_burn_in.h"

namespace gpucheck {
namespace {

using test::device_at;
using test::find_result;

const nlohmann::json kClock = {{"memory_gb_s", 3000},
                               {"to_device_gb_s", 50},
                               {"to_host_gb_s", 40},
                               {"peer_gb_s", 300},
                               {"matrix_tflops", {{"bf16", 800}, {"i8", 1600}}}};

double rate(const Device& gpu, const char* experiment, const char* variant) {
    const ExperimentResult* result = find_result(gpu, experiment, variant);
    if (result == nullptr || result->quantities.empty() || !result->timed.is(true)) return 0;
    return result->quantities.front().median;
}

TEST(SimulatedClock, RatesAreTheDeclaredOnesAndASlowGpuIsSlow) {
    for (const std::string architecture : {"sm_90", "gfx942"}) {
        test::ComputeScenario scenario;
        scenario.gpu("0000:19:00.0", architecture).with("clock", kClock);
        scenario.gpu("0000:29:00.0", architecture).with("clock", kClock).with("rate", 0.5);
        scenario.gpu("0000:39:00.0", architecture)
            .with("clock", kClock)
            .with("rate", {{"memory", 0.8}, {"matrix", 0.25}, {"to_host", 0.1}});
        scenario.write();
        Snapshot machine;
        const Vendor vendor = architecture.starts_with("gfx") ? Vendor::amd : Vendor::nvidia;
        for (const char* bdf : {"0000:19:00.0", "0000:29:00.0", "0000:39:00.0"})
            machine.gpus.push_back(device_at(bdf, vendor));
        run_burn_in(test::small_burn_in("timed=1,matrix.reps=2,matrix.types=bf16+i8"), machine);
        const Device &well = machine.gpus[0], &slow = machine.gpus[1], &partly = machine.gpus[2];
        for (const char* variant : {"read", "write", "copy", "triad"}) {
            EXPECT_NEAR(rate(well, "memory_stream", variant), 3000, 1) << variant;
            EXPECT_NEAR(rate(slow, "memory_stream", variant), 1500, 1) << variant;
            EXPECT_NEAR(rate(partly, "memory_stream", variant), 2400, 1) << variant;
        }
        EXPECT_NEAR(rate(well, "matrix", "bf16"), 800, 1) << architecture;
        EXPECT_NEAR(rate(well, "matrix", "i8"), 1600, 1);
        EXPECT_NEAR(rate(partly, "matrix", "bf16"), 200, 1);
        EXPECT_NEAR(rate(well, "host_link", "h2d"), 50, 0.1);
        EXPECT_NEAR(rate(well, "host_link", "d2h"), 40, 0.1);
        EXPECT_NEAR(rate(well, "host_link", "both"), 80, 0.1);  // both take what the slower one takes
        EXPECT_NEAR(rate(partly, "host_link", "d2h"), 4, 0.1);
        EXPECT_NEAR(rate(well, "peer", "direct"), 300, 1);
        EXPECT_NEAR(rate(slow, "peer", "direct"), 150, 1);
    }
}

TEST(SimulatedClock, DeviationsAreTheSameEveryTime) {
    nlohmann::json clock = kClock;
    clock["jitter"] = 0.01;
    test::ComputeScenario scenario;
    scenario.gpu("0000:19:00.0", "sm_90").with("clock", clock).write();
    double first = 0;
    for (int run = 0; run < 2; ++run) {
        Snapshot machine;
        machine.gpus.push_back(device_at("0000:19:00.0", Vendor::nvidia));
        run_burn_in(test::small_burn_in("stream,timed=1,stream.reps=20"), machine);
        const ExperimentResult* read = find_result(machine.gpus[0], "memory_stream", "read");
        ASSERT_NE(read, nullptr);
        const Quantity& quantity = read->quantities.front();
        EXPECT_LT(quantity.min, quantity.max);
        EXPECT_NEAR(quantity.min, 3000, 31);
        EXPECT_NEAR(quantity.max, 3000, 31);
        if (run > 0) {
            EXPECT_EQ(quantity.median, first);
        }
        first = quantity.median;
    }
}

/// Near-miss: nobody said that these times count.
TEST(SimulatedClock, TimesDoNotCountUnasked) {
    test::ComputeScenario scenario;
    scenario.gpu("0000:19:00.0", "sm_90").with("clock", kClock).write();
    Snapshot machine;
    machine.gpus.push_back(device_at("0000:19:00.0", Vendor::nvidia));
    run_burn_in(test::small_burn_in("stream"), machine);
    EXPECT_TRUE(find_result(machine.gpus[0], "memory_stream", "read")->timed.is(false));
}

}  // namespace
}  // namespace gpucheck
