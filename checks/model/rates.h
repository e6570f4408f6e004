// What each measured number is called, once for the report, the cost model and the checks: a rate that is
// compared with a figure of another test condemns healthy GPUs.
#pragma once

#include <string_view>
#include <vector>

#include "checks/model/measurement.h"

namespace gpucheck {

/// One number of one GPU alone, under its name with the unit: "memory_copy_gb_s", "bf16_tflops" (memory to
/// memory, the experiment gemm), "matrix_bf16_tflops" (operands in registers).
struct MeasuredRate {
    std::string_view metric;  ///< points to a literal
    const Quantity* quantity = nullptr;
    const ExperimentResult* result = nullptr;
};

/// The name of a quantity of `result`; empty for what has none, such as a copy between GPUs.
std::string_view metric_of(const ExperimentResult& result, const Quantity& quantity);

/// It ran to its end, was timed, and every value was looked at and right: only such a time means anything.
bool is_sound(const ExperimentResult& result);

/// The sound ones of the results, in their order. They point into `results`.
std::vector<MeasuredRate> sound_rates(const std::vector<ExperimentResult>& results);

/// Every name that metric_of gives.
std::vector<std::string_view> metric_names();

}  // namespace gpucheck
