// The exit status is the only part of a report that a boot hook reads: "could not look" must never exit like
// "fine".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "checks/model/verdict.h"

namespace gpucheck::report {

enum class ExitMap : std::uint8_t {
    standard,  ///< 0 pass or warn, 1 fail, 2 unknown
    nagios,    ///< 0 pass, 1 warn, 2 fail, 3 unknown (Monitoring Plugins Development Guidelines)
    npd,  ///< 0 pass or warn, 1 fail, 2 unknown: OK, NonOK, Unknown of node-problem-detector's custom plugins
};
std::string_view name_of(ExitMap map);
std::optional<ExitMap> exit_map_from(std::string_view name);

/// A run in which nothing applied exits like unknown.
int exit_status(Verdict verdict, ExitMap map);

}  // namespace gpucheck::report
