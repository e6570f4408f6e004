// Healthy machines whose experiments ran, with plausible rates; tests change one number and expect one
// finding.
#pragma once

#include <string>
#include <string_view>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {

/// telling_h100_x8() after a boot profile; figures of the board as gpus.json has them.
Snapshot burnt_h100_x8();
/// telling_mi300x_x8() the same.
Snapshot burnt_mi300x_x8();
/// That machine with its first GPU alone.
Snapshot alone(Snapshot machine);

/// The result of one experiment of one GPU; aborts the test when there is none.
ExperimentResult& result_of(Device& gpu, std::string_view experiment, std::string_view variant);
/// Sets its rate: all samples within one percent of it.
void set_rate(Device& gpu, std::string_view experiment, std::string_view variant, double rate);
/// Changes every result of a GPU.
template <class Change>
void each_result(Device& gpu, Change change) {
    std::vector<ExperimentResult> results = *gpu.burn_in.results;
    for (ExperimentResult& result : results) change(result);
    gpu.burn_in.results = Fact<std::vector<ExperimentResult>>(std::move(results), "experiments");
}

/// What the only complaint of a check says.
std::string observed_by(const Check& check, const Snapshot& machine);
std::string expected_by(const Check& check, const Snapshot& machine);

}  // namespace gpucheck
