// One run as data: what every renderer (text, JSON, JUnit, Prometheus, Nagios, HTML) starts from.
#pragma once

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
};

}  // namespace gpucheck::report
