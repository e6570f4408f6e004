// Which reports are no evidence about hardware: rehearsals, what nobody signed, and dates that cannot be
// true. One machine whose clock says 2099 must not be the newest for years, nor make all others old.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fleet/model/policy.h"

namespace gpucheck::fleet {

/// What dates are held against.
struct Clock {
    Clock(const Fleet& fleet, const Policy& policy);
    /// Why the report's date cannot be believed; empty: it can.
    std::string wrong(const NodeReport& report) const;

    std::string now;                    ///< empty: nobody asked a clock
    std::optional<std::int64_t> now_s;  ///< seconds since 1970
    std::optional<std::int64_t>
        newest_s;  ///< of the reports that are no rehearsal and whose dates can be believed
};

/// The policy as on the day of the newest report whose date can be believed: what is compared with today may
/// be old.
Policy of_its_day(const Fleet& fleet, Policy policy);

/// Why a report is no evidence about hardware; rule empty: it is.
struct Excuse {
    std::string rule, text;
};
Excuse excuse_of(const NodeReport& report, const Policy& policy, const Clock& clock);

}  // namespace gpucheck::fleet
