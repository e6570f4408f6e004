// What an answer means for a report: delivered, once more later, or never. A wrong "never" loses a verdict, a
// wrong "once more" keeps thousands of machines knocking at a receiver that is down.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "providers/http/http.h"

namespace gpucheck::delivery {

enum class Fate : std::uint8_t {
    accepted,  ///< 2xx
    later,     ///< network errors, 3xx, 408, 425, 429, 5xx
    rejected,  ///< other 4xx: the same bytes would be refused again
};

struct Decision {
    Fate fate = Fate::later;
    std::int64_t wait_s = 0;        ///< later: not before this many seconds
    bool receiver_is_down = false;  ///< later: others need not try either (no answer, 429, 503)
    std::string last;               ///< "201", "503", "timeout": fits a file name
    std::string detail;             ///< for people; no header's value, no body
};

inline constexpr std::int64_t kFirstWait_s = 15;
inline constexpr std::int64_t kLongestBackoff_s = 3600;
inline constexpr std::int64_t kLongestRetryAfter_s = 6 * 3600;

/// `attempts`: how often it was tried before this answer. `dice`: from 0 to 1, so that a fleet that lost its
/// receiver at one moment does not come back at one moment.
Decision decide(const http::Outcome& outcome, unsigned attempts, std::int64_t now_s, double dice);

/// Doubles from 15 s to an hour; half of it is fixed, half by `dice`.
std::int64_t backoff_s(unsigned attempts, double dice);

/// Retry-After (RFC 9110, 10.2.3): seconds, or a date in one of the three forms of 5.6.7. Seconds from now, 0
/// to kLongestRetryAfter_s; nullopt for anything else.
std::optional<std::int64_t> retry_after_s(std::string_view value, std::int64_t now_s);

/// A time to wait for that lies further off than any that we set: the clock was set back.
bool is_due(std::int64_t next_try_s, std::int64_t now_s);

}  // namespace gpucheck::delivery
