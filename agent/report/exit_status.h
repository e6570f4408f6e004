// The exit status is the only part of a report that a boot hook reads: "could not look" must never exit like
// "fine".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "checks/model/verdict.h"

namespace gpucheck {

// What no verdict exits with; numbers of sysexits.h.
inline constexpr int kUsage = 64;         ///< EX_USAGE: wrong command line or unusable input
inline constexpr int kSoftware = 70;      ///< EX_SOFTWARE: gpucheck itself broke
inline constexpr int kNotDelivered = 75;  ///< EX_TEMPFAIL: a report is kept in the spool, not delivered

}  // namespace gpucheck

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
