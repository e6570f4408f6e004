// One run as data: what every renderer (text, JSON, JUnit, Prometheus, Nagios, HTML) starts from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checks/model/check.h"

namespace gpucheck::report {

/// One check of a run; also those that did not apply, and those that were not run: verdict unknown, no
/// findings, and the reason in `result.reason`.
struct CheckLine {
    CheckResult result;
    double duration_ms = 0;
};

/// What tokens cost on this machine, made ready by those who know the estimator.
struct Cost {
    std::vector<std::string> rows;        ///< cost[]: JSON, one line each
    std::vector<std::string> shortfalls;  ///< sentences: what is slow, in money
    std::vector<std::string> notes;       ///< what the figures rest on
    std::vector<std::string> lines;       ///< for people
    std::string missing;                  ///< why there are no rows
};

/// How long the run waited for the drivers before it judged them, and for what.
struct Readiness {
    struct Change {
        double at_s = 0;                  ///< since the start of the wait
        std::string hurdle, cause, text;  ///< what was missing, why, and both in one line
    };
    double waited_s = 0, limit_s = 0;
    bool ready = false;           ///< everything was there
    bool timed_out = false;       ///< the limit ran out
    bool under_way = false;       ///< somebody was still at work on what was missing
    std::vector<Change> changes;  ///< of state, in order; the last one is how it ended
};

struct Report {
    std::string report_id;  ///< UUIDv7
    std::string created;    ///< RFC 3339 UTC
    std::string tool_version;
    Profile profile = Profile::quick;
    double duration_s = 0;
    bool simulated = false;  ///< a recorded machine, fake drivers or a replaced root
    std::string injected;    ///< fault injected on purpose; empty for none
    std::string machine;     ///< folder of the recorded machine; empty when live
    Verdict verdict = Verdict::unknown;
    Snapshot snapshot;
    std::vector<CheckLine> checks;
    Cost cost;
    std::optional<Readiness> readiness;  ///< nullopt: the run did not wait
};

}  // namespace gpucheck::report
