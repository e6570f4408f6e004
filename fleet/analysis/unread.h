// What the rows of Fleet::rejected stand for: a node that sent nothing is no file that could not be read, and
// one row may stand for a million documents.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "fleet/model/fleet.h"

namespace gpucheck::fleet {

inline constexpr std::string_view kMissingNode = "is expected, and no report of it counts";
/// Behind the number, where one row stands for all of a file's.
inline constexpr std::string_view kManyRejected = " documents of it were rejected, ";

inline bool is_missing(const Rejected& row) {
    return row.why == kMissingNode;
}

/// How many inputs the row tells of.
inline std::size_t inputs_of(const Rejected& row) {
    const std::size_t digits = row.why.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string::npos || digits > 12 ||
        !std::string_view(row.why).substr(digits).starts_with(kManyRejected))
        return 1;
    return static_cast<std::size_t>(std::stoull(row.why.substr(0, digits)));
}

}  // namespace gpucheck::fleet
