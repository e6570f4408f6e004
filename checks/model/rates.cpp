// Names of measured numbers; see rates.h.
#include "checks/model/rates.h"

#include <array>
#include <cmath>

namespace gpucheck {
namespace {

using namespace std::string_view_literals;

struct Name {
    std::string_view experiment, variant, metric;
};
// The number formats as the experiments spell them. FP8 and FP6 have two each: E4M3 is the one that inference
// engines multiply with, and the one of published figures.
constexpr std::array kNames{
    Name{"memory_stream"sv, "read"sv, "memory_read_gb_s"sv},
    Name{"memory_stream"sv, "write"sv, "memory_write_gb_s"sv},
    Name{"memory_stream"sv, "copy"sv, "memory_copy_gb_s"sv},
    Name{"memory_stream"sv, "triad"sv, "memory_triad_gb_s"sv},
    Name{"matrix"sv, "f64"sv, "matrix_fp64_tflops"sv},
    Name{"matrix"sv, "tf32"sv, "matrix_tf32_tflops"sv},
    Name{"matrix"sv, "f16"sv, "matrix_fp16_tflops"sv},
    Name{"matrix"sv, "bf16"sv, "matrix_bf16_tflops"sv},
    Name{"matrix"sv, "e4m3"sv, "matrix_fp8_tflops"sv},
    Name{"matrix"sv, "e5m2"sv, "matrix_fp8_e5m2_tflops"sv},
    Name{"matrix"sv, "i8"sv, "matrix_int8_tops"sv},
    Name{"matrix"sv, "e2m3"sv, "matrix_fp6_tflops"sv},
    Name{"matrix"sv, "e3m2"sv, "matrix_fp6_e3m2_tflops"sv},
    Name{"matrix"sv, "e2m1"sv, "matrix_fp4_tflops"sv},
    // Hopper's own instructions beside mma.sync: another way to the same units, and another rate.
    Name{"matrix"sv, "tf32 wgmma"sv, "matrix_wgmma_tf32_tflops"sv},
    Name{"matrix"sv, "f16 wgmma"sv, "matrix_wgmma_fp16_tflops"sv},
    Name{"matrix"sv, "bf16 wgmma"sv, "matrix_wgmma_bf16_tflops"sv},
    Name{"matrix"sv, "e4m3 wgmma"sv, "matrix_wgmma_fp8_tflops"sv},
    Name{"matrix"sv, "e5m2 wgmma"sv, "matrix_wgmma_fp8_e5m2_tflops"sv},
    Name{"matrix"sv, "i8 wgmma"sv, "matrix_wgmma_int8_tops"sv},
    Name{"gemm"sv, "f64"sv, "fp64_tflops"sv},
    Name{"gemm"sv, "tf32"sv, "tf32_tflops"sv},
    Name{"gemm"sv, "f16"sv, "fp16_tflops"sv},
    Name{"gemm"sv, "bf16"sv, "bf16_tflops"sv},
    Name{"gemm"sv, "e4m3"sv, "fp8_tflops"sv},
    Name{"gemm"sv, "e5m2"sv, "fp8_e5m2_tflops"sv},
    Name{"gemm"sv, "i8"sv, "int8_tops"sv},
    Name{"gemm"sv, "e2m3"sv, "fp6_tflops"sv},
    Name{"gemm"sv, "e3m2"sv, "fp6_e3m2_tflops"sv},
    Name{"gemm"sv, "e2m1"sv, "fp4_tflops"sv},
    Name{"host_link"sv, "h2d"sv, "host_link_h2d_gb_s"sv},
    Name{"host_link"sv, "d2h"sv, "host_link_d2h_gb_s"sv},
    Name{"host_link"sv, "both"sv, "host_link_both_gb_s"sv},
    Name{"launch"sv, ""sv, "launch_us"sv},
};

/// The unit at the end of a metric's name, as quantities spell it.
std::string_view unit_of(std::string_view metric) {
    if (metric.ends_with("_gb_s")) return "GB/s";
    if (metric.ends_with("_tflops")) return "TFLOP/s";
    return metric.ends_with("_tops") ? "TOP/s" : "us";
}

}  // namespace

std::string_view metric_of(const ExperimentResult& result, const Quantity& quantity) {
    if (!result.peer.empty()) return {};
    // An experiment may tell other numbers beside its rate, such as a library's.
    const bool its_rate = result.experiment == "launch" || quantity.name == "rate" ||
                          std::string_view(result.variant).starts_with(quantity.name);
    if (!its_rate) return {};
    for (const Name& name : kNames) {
        if (name.experiment != result.experiment || name.variant != result.variant) continue;
        const std::string_view unit = unit_of(name.metric);
        // Integer products are told as operations or as floating-point ones: the number is the same.
        const bool same = quantity.unit == unit || (unit == "TOP/s" && quantity.unit == "TFLOP/s");
        return same ? name.metric : std::string_view();
    }
    return {};
}

std::vector<std::string_view> metric_names() {
    std::vector<std::string_view> names;
    for (const Name& name : kNames) names.push_back(name.metric);
    return names;
}

bool is_sound(const ExperimentResult& result) {
    return result.ran.is(true) && result.timed.is(true) && result.values_checked.known() &&
           result.values_expected.is(*result.values_checked) &&
           (!result.mismatches.known() || *result.mismatches == 0);
}

std::vector<MeasuredRate> sound_rates(const std::vector<ExperimentResult>& results) {
    std::vector<MeasuredRate> rates;
    for (const ExperimentResult& result : results) {
        if (!is_sound(result)) continue;
        for (const Quantity& quantity : result.quantities) {
            const std::string_view metric = metric_of(result, quantity);
            if (metric.empty() || !std::isfinite(quantity.median) || quantity.median <= 0) continue;
            rates.push_back({metric, &quantity, &result});
        }
    }
    return rates;
}

}  // namespace gpucheck
