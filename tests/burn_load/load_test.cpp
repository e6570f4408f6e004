// Moments under load add up to shares with their causes, deltas of counters, and a link seen during copies
// alone.
#include <gtest/gtest.h>

#include <limits>

#include "agent/burn_in_load.h"

namespace gpucheck {
namespace {

using U64 = std::uint64_t;

template <class T>
Fact<T> is(T value) {
    return Fact<T>(std::move(value), "test");
}

double share_of(const LoadSamples& load, const std::string& cause) {
    for (const CauseShare& each : load.throttled_by) {
        if (each.cause == cause) return each.share;
    }
    return -1;
}

TEST(LoadHistory, QuantitiesAndTheirReasons) {
    LoadHistory history;
    for (const double watts : {100.0, 600.0, 300.0, std::numeric_limits<double>::quiet_NaN()}) {
        LoadSample sample;
        sample.power_w = is(watts);
        sample.temperature_c = Missing{"nvmlDeviceGetTemperature", "NOT_SUPPORTED"};
        history.add(sample);
    }
    const LoadSamples load = history.summary(0.2);
    EXPECT_TRUE(load.samples.is(4U));
    EXPECT_EQ(load.power_w->median, 300);
    EXPECT_EQ(load.power_w->max, 600);
    EXPECT_EQ(load.power_w->samples, 3U);
    EXPECT_EQ(load.temperature_c.why(), "NOT_SUPPORTED");
    EXPECT_EQ(LoadHistory().summary(0).power_w.why(), "no sample");
}

TEST(LoadHistory, NvmlReasonsBySample) {
    LoadHistory history;
    for (const U64 mask : {U64{0x1}, U64{0x4}, U64{0x4 | 0x40 | 0x8}, U64{0x84}, U64{0}}) {
        LoadSample sample;
        sample.throttle_mask = is(mask);
        history.add(sample);
    }
    const LoadSamples load = history.summary(1);
    EXPECT_TRUE(load.throttle_mask.is(0xcdU));
    EXPECT_EQ(*load.throttled_share, 0.4);
    EXPECT_EQ(share_of(load, "sw_power_cap"), 0.6);
    EXPECT_EQ(share_of(load, "hw_thermal_slowdown"), 0.2);
    EXPECT_EQ(share_of(load, "hw_power_brake"), 0.2);
    EXPECT_EQ(share_of(load, "gpu_idle"), 0.2);
    EXPECT_EQ(share_of(load, "sw_thermal_slowdown"), -1);
}

LoadSample residency(U64 total, U64 ppt, U64 thermal) {
    LoadSample sample;
    sample.residency.accumulation_counter = is(total);
    sample.residency.ppt = is(ppt);
    sample.residency.socket_thermal = is(thermal);
    sample.residency.hbm_thermal = Missing{"gpu_metrics", "not available"};
    return sample;
}

TEST(LoadHistory, AmdResidenciesAreShares) {
    LoadHistory history;
    history.add(residency(1000, 50, 7));  // a lifetime's totals are no throttling of this run
    history.add(residency(1500, 450, 7));
    history.add(residency(2000, 850, 57));
    LoadSamples load = history.summary(1);
    EXPECT_EQ(share_of(load, "ppt"), 0.8);
    EXPECT_EQ(share_of(load, "socket_thermal"), 0.05);
    EXPECT_EQ(share_of(load, "hbm_thermal"), -1);
    EXPECT_EQ(*load.throttled_share, 0.05);
    EXPECT_FALSE(load.throttle_mask.known());

    LoadHistory wrapped;  // the firmware's totals are 32 bits wide
    wrapped.add(residency(4294967200, 0, 4294967290));
    wrapped.add(residency(104, 0, 4));
    EXPECT_EQ(*wrapped.summary(1).throttled_share, 0.05);

    LoadHistory still;
    still.add(residency(1000, 0, 0));
    still.add(residency(1000, 0, 0));
    EXPECT_FALSE(still.summary(1).throttled_share.known());
}

TEST(LoadHistory, Mi200BitsAreCounted) {
    LoadHistory history;
    for (const U64 bits : {U64{1}, U64{1} << 33, U64{1} << 46, U64{0}}) {
        LoadSample sample;
        sample.residency.accumulation_counter = Missing{"gpu_metrics", "not in layout 1.3"};
        sample.residency.independent_throttle_status = is(bits);
        history.add(sample);
    }
    const LoadSamples load = history.summary(1);
    EXPECT_EQ(*load.throttled_share, 0.5);
    EXPECT_EQ(share_of(load, "power_limit"), 0.25);
    EXPECT_EQ(share_of(load, "thermal"), 0.25);
    EXPECT_EQ(share_of(load, "prochot"), 0.25);
}

TEST(LoadHistory, NoReasonIsToldWithItsOwnWords) {
    LoadHistory amd;
    LoadSample sample;
    sample.residency.accumulation_counter = Missing{"gpu_metrics", "not in layout 1.5"};
    amd.add(sample);
    EXPECT_EQ(amd.summary(1).throttled_share.why(), "not in layout 1.5");
    LoadHistory nvidia;
    sample = LoadSample{};
    sample.throttle_mask = Missing{"nvmlDeviceGetCurrentClocksEventReasons", "GPU_IS_LOST"};
    nvidia.add(sample);
    EXPECT_EQ(nvidia.summary(1).throttled_share.why(), "GPU_IS_LOST");
}

LoadSample link(bool copying, U64 generation, U64 width) {
    LoadSample sample;
    sample.copying = copying;
    sample.link_generation = is(generation);
    sample.link_width = is(width);
    return sample;
}

TEST(LoadHistory, TheLinkCountsDuringCopiesAlone) {
    LoadHistory history;
    history.add(link(false, 6, 16));
    EXPECT_FALSE(history.summary(1).link_generation_max.known());
    history.add(link(true, 1, 4));  // waking up
    history.add(link(true, 5, 16));
    history.add(link(true, 5, 8));
    history.add(link(true, 1, 1));  // resting between two copies
    history.add(link(false, 5, 2));
    const LoadSamples load = history.summary(1);
    EXPECT_TRUE(load.copy_samples.is(4U));
    EXPECT_TRUE(load.link_generation_max.is(5U));
    EXPECT_TRUE(load.link_width_min.is(8U));
}

TEST(LoadHistory, ErrorsAreCountedFromTheFirstReading) {
    LoadHistory history;
    for (const U64 count : {U64{7}, U64{7}, U64{12}}) {
        LoadSample sample;
        sample.ecc_corrected = is(count);
        sample.ecc_uncorrected = Missing{"nvmlDeviceGetTotalEccErrors", "NOT_SUPPORTED"};
        history.add(sample);
        sample = LoadSample{};
        sample.ecc_read = false;  // not asked at this moment
        history.add(sample);
    }
    EXPECT_TRUE(history.summary(1).ecc_corrected.is(5U));
    EXPECT_EQ(history.summary(1).ecc_uncorrected.why(), "NOT_SUPPORTED");
}

TEST(LoadHistory, BusyIsAShareOfWhatIsKnown) {
    LoadHistory history;
    for (const int at_work : {1, 0, 1, 1, -1}) {
        LoadSample sample;
        sample.busy = at_work < 0 ? Fact<bool>(Missing{"gpu_busy_percent", "EBUSY"}) : is(at_work == 1);
        sample.power_limit_w = is(700.0 - at_work);
        history.add(sample);
    }
    EXPECT_EQ(*history.summary(1).busy_share, 0.75);
    EXPECT_EQ(*history.summary(1).power_limit_w, 699);
}

}  // namespace
}  // namespace gpucheck
