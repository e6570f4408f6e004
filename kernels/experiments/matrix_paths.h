// The ways in which an architecture's matrix units are reached: a rate or a verdict means nothing without
// saying which of them ran.
#pragma once

#include <string>

#include "kernels/experiments/experiments.h"

namespace gpucheck::experiments {

struct MatrixPath {
    std::string name;    ///< "mma", "wgmma", "f8f6f4", as matrix.path names it
    std::string image;   ///< "matrix", "matrix_native"
    std::string prefix;  ///< of the kernels' names: "matrix_", "wgmma_"
    kernels::Target target = kernels::Target::none;
};

/// One data type, which the path has.
ExperimentResult run_matrix_type(Bench& bench, kernels::MatrixType type, const MatrixPath& path);

const char* name_of_type(kernels::MatrixType type);
/// "bf16"; "bf16 wgmma" for a second way to do the same.
std::string variant_of(const MatrixPath& path, kernels::MatrixType type);
/// What ran, for a reader who knows what the architecture could do: "mma.sync (legacy path: not wgmma)".
std::string instructions_of(const MatrixPath& path, const std::string& architecture,
                            kernels::MatrixType type);

/// Whether ptxas makes FP16 instructions of this FP8: right or wrong is still told, but the rate is not
/// FP8's.
bool is_done_by_fp16(const MatrixPath& path, const std::string& architecture, kernels::MatrixType type);

/// Wrong values of a path that no hardware has proven yet may be our kernel's fault: they are told, and the
/// result is no verdict on the GPU. Its rate is dropped.
void disown(const MatrixPath& path, ExperimentResult& result);

}  // namespace gpucheck::experiments
