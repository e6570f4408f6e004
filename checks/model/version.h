// Compares versions the way their makers count, so that kernel 6.8 is older than 6.14 and not newer, and a
// text that is no version never passes for one.
#pragma once

#include <optional>
#include <string_view>

namespace gpucheck {

/// <0, 0, >0 as `a` is older than, equal to, or newer than `b`: dotted numbers, missing ones count as 0, and
/// what follows them
/// ("-55-generic", "-2125197.24.04", "-default") is ignored, except that a release candidate ("-rc3") comes
/// before its release. nullopt when either does not begin with a number or has one that is absurdly long.
std::optional<int> compare_versions(std::string_view a, std::string_view b);

/// True when `prefix` is `version` cut at a dot, or equal to it: NVML prints 570.195 for 570.195.03.
bool version_is_prefix(std::string_view prefix, std::string_view version);

}  // namespace gpucheck
