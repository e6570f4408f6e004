// Delivers what waits: fails first, within a time limit, without knocking at a receiver that is down once for
// each report.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "providers/delivery/spool.h"
#include "providers/http/http.h"

namespace gpucheck::delivery {

struct FlushOptions {
    std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max();
    bool now = false;                     ///< also what is to be tried later
    bool rejected = false;                ///< also what was refused
    std::string only;                     ///< this report id; empty: all
    std::vector<Sink> sinks;              ///< as configured today: they win over what an entry remembers
    std::function<std::int64_t()> now_s;  ///< seconds since 1970
    std::function<double()> dice;         ///< 0 to 1
    /// Headers that prove to a sink with `prove_identity` who speaks, made anew for each try, or why there
    /// are none: the report is delivered all the same.
    std::function<std::variant<std::vector<http::Header>, std::string>(const Entry&)> proof;
};

struct FlushResult {
    std::size_t delivered = 0;
    std::size_t failed = 0;    ///< tried, kept for later
    std::size_t rejected = 0;  ///< refused for good just now
    std::size_t damaged = 0;
    std::size_t waiting =
        0;  ///< not tried: not due, receiver down, no time left, or taken by another process
    std::vector<std::string> told;  ///< one sentence for each receiver and kind of trouble
    std::size_t undelivered() const { return failed + rejected + damaged + waiting; }
};

FlushResult flush(Spool& spool, http::Client& client, const FlushOptions& options);

}  // namespace gpucheck::delivery
