// When a log line was written, in whichever clock the log prints, so that bursts and recoveries are ordered
// rightly.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace gpucheck::host {

/// A line may carry the monotonic clock, a wall clock, both, or none.
struct Stamp {
    static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
    std::int64_t mono_us = kNone;  ///< since boot
    std::int64_t wall_us = kNone;  ///< since 1970 in the zone of the log
    std::int16_t zone_min = 0;     ///< offset from UTC, when `zoned`
    bool zoned = false;
    bool yearless = false;  ///< syslog prints no year: 1972 stands in, a leap year

    bool known() const { return mono_us != kNone || wall_us != kNone; }
    /// RFC 3339 as far as known, "Jan 14 06:20:11" without a year, else seconds since boot; "" when not
    /// known.
    std::string text() const;
};

/// Seconds from `a` to `b` in a clock that both have; nullopt when they share none.
std::optional<double> seconds_between(const Stamp& a, const Stamp& b);

// Each parser reads one spelling at the start of `text`, and on success removes it and sets its part of
// `stamp`.

/// "  217.004331" as inside the brackets of dmesg.
bool read_seconds(std::string_view& text, std::int64_t& microseconds);
/// "2025-01-21T04:41:44,283302+00:00", with "." or ",", "Z", "+0000", or no zone; a blank instead of T.
bool read_iso(std::string_view& text, Stamp& stamp, bool* comma);
/// "Sun Feb 23 16:24:18 2025" (ctime), "Jan 14 06:20:11[.123456]" (syslog), "Mar 11 2025 04:51:37" (fabric
/// manager), "Tue 2025-01-14 06:20:11 UTC" (journalctl short-full).
bool read_calendar(std::string_view& text, Stamp& stamp);

}  // namespace gpucheck::host
