// Who a report is and when it was made: two reports of one machine must never be taken for one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpucheck::report {

/// A UUID of version 7 (RFC 9562, 5.7): 48 bits of milliseconds since 1970, then random bits.
std::string uuid_v7(std::uint64_t unix_ms, const std::array<std::uint8_t, 10>& random);
/// One for now, with bits of getrandom(2). It never waits and never fails: at boot the kernel's pool may not
/// be ready, and a report must be delivered all the same. Ids are unique, not secret.
std::string new_report_id();
/// The form of such an id, in lower case. Any other id is nobody's report, and may be a path or a query.
bool is_report_id(std::string_view id);

/// "2026-11-30T10:00:00Z". Years outside 0 to 9999 are held at the end they left.
std::string rfc3339_utc(std::int64_t unix_seconds);
/// Now, by the wall clock.
std::string rfc3339_now();
/// Seconds since 1970 of an RFC 3339 time; fractions are cut off, offsets applied. nullopt for anything else.
std::optional<std::int64_t> unix_seconds(std::string_view rfc3339);

}  // namespace gpucheck::report
