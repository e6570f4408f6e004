// The kernels as compiled for the host, by name: what the tests and the fake driver libraries run instead of
// an image.
#pragma once

#include <span>
#include <string_view>

#include "kernels/host_execution.h"
#include "kernels/matrix_shapes.h"

namespace gpucheck::kernels {

/// Null when the architecture has no such kernel. The vector kernels are the same for all.
const HostKernel* find_host_kernel(Target target, std::string_view name);

/// All matrix kernels of an architecture.
std::span<const HostKernel> host_matrix_kernels(Target target);

}  // namespace gpucheck::kernels
