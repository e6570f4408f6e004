// A burn-in of fake GPUs, small enough for a test.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "agent/burn_in.h"
#include "tests/fake/compute_scenario.h"

namespace gpucheck::test {

inline BurnInOptions small_burn_in(const std::string& experiments) {
    BurnInOptions options;
    options.libraries.driver_dir = GPUCHECK_FAKE_DRIVER;
    options.settings.simulated = true;
    EXPECT_EQ(experiments::apply(experiments::kSimulationSizes, options.settings), "");
    EXPECT_EQ(experiments::apply("pattern.bytes=1MiB,matrix.reps=0,launch.reps=3,gemm.reps=0", options.settings), "");
    EXPECT_EQ(experiments::apply(experiments, options.settings), "");
    options.budget = std::chrono::seconds(100);
    options.find_image = fake_image;
    return options;
}

inline Device device_at(const std::string& bdf, Vendor vendor) {
    Device device;
    device.bdf = *Bdf::parse(bdf);
    device.vendor = vendor;
    return device;
}

/// What is not as it should be, one line each: empty for a healthy GPU.
inline std::string complaints(const Device& device) {
    std::string text;
    const std::string who = device.bdf.str() + " ";
    if (!device.burn_in.results.known()) return who + device.burn_in.results.why() + "\n";
    for (const ExperimentResult& result : *device.burn_in.results) {
        const std::string what = who + result.experiment + " " + result.variant + ": ";
        if (!result.ran.known()) {
            text += what + result.ran.why() + "\n";
            continue;
        }
        if (result.mismatches.known() && *result.mismatches != 0) text += what + "wrong\n";
        if (result.values_checked.known() && !result.values_expected.is(*result.values_checked))
            text += what + "not all checked\n";
        if (result.units_tested.known() && !result.units_total.is(*result.units_tested))
            text += what + "not all units\n";
    }
    return text;
}

inline const ExperimentResult* find_result(const Device& device, std::string_view experiment,
                                           std::string_view variant) {
    if (!device.burn_in.results.known()) return nullptr;
    for (const ExperimentResult& result : *device.burn_in.results) {
        if (result.experiment == experiment && result.variant == variant) return &result;
    }
    return nullptr;
}

}  // namespace gpucheck::test
