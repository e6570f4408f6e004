// Compares driver and library versions, so that "570.195" is not taken for another driver than "570.195.03"
// and "6.9" not for a newer one than "6.14".
#pragma once

#include <optional>
#include <string_view>

namespace gpucheck {

/// Compares dotted numbers ("6.8.0-55-generic", "570.133.20") number by number: -1, 0 or 1. A suffix after
/// the first character that is neither digit nor dot is ignored; missing numbers count as 0. nullopt when
/// either does not begin with a digit.
std::optional<int> compare_versions(std::string_view left, std::string_view right);

/// True when `longer` continues `shorter` at a dot or is equal to it: NVML prints 570.195 for 570.195.03.
bool version_is_prefix(std::string_view shorter, std::string_view longer);

}  // namespace gpucheck
