// Finds the embedded image that fits a GPU, or says what would be needed: a GPU without one is not tested,
// and the report must say so instead of passing it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "checks/model/board.h"
#include "checks/model/fact.h"
#include "kernels/matrix_shapes.h"

namespace gpucheck::kernels {

struct Image {
    std::string bytes;         // a code object, a cubin, or PTX text
    std::string architecture;  // what it was built for: "gfx942", "sm_80", "compute_89"
    bool compiled_on_arrival;  // PTX, which the driver compiles
    Target target;             // which matrix instructions its kernels use

    bool operator==(const Image&) const = default;
};

/// `architecture` as the driver names it: "gfx942:sramecc+:xnack-", or "sm_90" made of the compute
/// capability. `kernel_source` is the file's name without .gpu.cpp: memory_stream, memory_pattern, matrix,
/// launch, gemm; matrix_native for the instructions of that architecture alone. The Missing's `why` tells
/// what would be needed.
Fact<Image> find_image(Vendor vendor, std::string_view architecture, std::string_view kernel_source);

/// Which matrix instructions the kernels for an architecture use; none if it has no matrix image.
Target target_of(Vendor vendor, std::string_view architecture);

/// What an NVIDIA architecture has beside those: wgmma on sm_90, formats below FP8 on sm_120; else none.
Target native_target(std::string_view architecture);

/// One row of what was, or could not be, built.
struct ImageRow {
    Vendor vendor;
    std::string_view architecture, kernel_source;
    std::string_view packed;    // as embedded, maybe compressed; empty if absent
    std::string_view obstacle;  // why it is absent
};

std::span<const ImageRow> all_images();

}  // namespace gpucheck::kernels
