// Whether a summary still holds what it says it held: a file whose rejected nodes somebody cut out would else
// be a fleet that passes.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace gpucheck::fleet {

/// What was seen of one summary document, against its own "counts".
struct SummaryTally {
    std::size_t reports = 0, conflicting = 0, rejected = 0, nodes = 0;
    std::size_t sharing = 0;                 ///< rejected rows that are told again by "conflicting"
    std::array<std::size_t, 4> decisions{};  ///< of "nodes", in the order of kDecisions
    std::size_t times = 0;                   ///< "counts" was there
    std::string counts;                      ///< its text

    void decision(std::string_view name);
    /// A sentence without a subject; empty: they agree.
    std::string wrong() const;
};

}  // namespace gpucheck::fleet
