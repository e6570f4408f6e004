// Finds a GPU whose launches are slow or do not happen: an empty kernel to time, and one that leaves a mark.
#include "kernels/results.h"

namespace gpucheck::kernels {

GPU_KERNEL(1024) launch_empty() {}

/// Every thread adds one: the host knows how many there were.
GPU_KERNEL(1024) launch_mark(CheckResult* result) {
    atomic_add(&result->checked, u64{1});
    if (thread_index() != 0) return;
    const u32 unit = unit_id();
    if (unit < kUnits)
        atomic_add(&result->units[unit].done, 1u);
    else
        atomic_add(&result->outside_units, 1u);
}

}  // namespace gpucheck::kernels
