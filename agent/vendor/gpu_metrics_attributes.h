// gpu_metrics 1.9, the layout that describes itself: a list of attributes of which later kernels have more.
#pragma once

#include <string>
#include <string_view>

#include "checks/model/amd_telemetry.h"

namespace gpucheck::vendor {

/// Stores the attributes that we know and skips the others; returns what is wrong ("truncated: ..."), or
/// nothing.
std::string read_attributes(std::string_view bytes, const std::string& source, AmdMetrics& metrics);

}  // namespace gpucheck::vendor
