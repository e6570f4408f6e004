// Decodes amdgpu's gpu_metrics, whose layout changes with the kernel: read with the wrong offsets it turns a
// healthy GPU into a hot one, and a throttled one into a healthy one.
#pragma once

#include <string>
#include <string_view>

#include "checks/model/amd_telemetry.h"
#include "checks/model/fact.h"

namespace gpucheck::vendor {

/// No layout of kgd_pp_interface.h is longer than 3,872 bytes; 1.9 grows with its attributes.
inline constexpr std::size_t kMaxGpuMetrics = std::size_t{16} * 1024;

/// Layouts 1.3 to 1.9, keyed on size, format and content revision. All-ones of a field's width is Missing
/// "not available"; a field that the layout does not have is Missing "not in layout 1.4"; an unknown layout
/// or too few bytes make everything Missing. `source` is the file.
AmdMetrics parse_gpu_metrics(std::string_view bytes, const std::string& source);

/// Makes every fact of `part` (a struct with fields(), or a Fact) this Missing.
template <class T>
void make_missing(T& part, const Missing& missing) {
    if constexpr (HasFields<T>) {
        T::fields([&](const auto&... field) { (make_missing(part.*field.member, missing), ...); });
    } else {
        part = missing;
    }
}

}  // namespace gpucheck::vendor
