// Orders the version texts of kernels and drivers, so that 6.14 is newer than 6.8 and a truncated NVML
// version is not called a mismatch: both have condemned healthy machines.
#pragma once

#include <optional>
#include <string_view>

namespace gpucheck {

/// Negative, 0 or positive as `a` is older than, equal to or newer than `b`. Dotted numbers are compared as
/// numbers of any length ("570.86" < "570.133.20", missing parts are 0); then a release candidate is older
/// than its release ("6.14.0-rc3", "6.14.0-061400rc3-generic"); then the first number of the suffix counts
/// ("6.8.0-55-generic", none is 0). Other words of the suffix ("-azure", "+") do not. nullopt when either
/// does not start with a digit.
std::optional<int> compare_versions(std::string_view a, std::string_view b);

/// True when `prefix` is `full` cut at a dot, or the same version: "570.195" of "570.195.03" (NVML
/// truncates), but not "570.19".
bool version_is_prefix(std::string_view prefix, std::string_view full);

}  // namespace gpucheck
