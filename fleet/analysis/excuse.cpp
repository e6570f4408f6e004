// Rehearsals, signatures and dates; see excuse.h.
#include "fleet/analysis/excuse.h"

#include <cstdint>

#include "agent/report/report_id.h"

namespace gpucheck::fleet {
namespace {

bool is_rehearsal(const NodeReport& report, const Policy& policy) {
    return report.simulated || report.injected || (!policy.accept_unverified && !report.verified);
}

}  // namespace

Clock::Clock(const Fleet& fleet, const Policy& policy) : now(policy.now) {
    if (!now.empty()) now_s = report::unix_seconds(now);
    for (const NodeReport& report : fleet.reports) {
        if (is_rehearsal(report, policy) || !wrong(report).empty()) continue;
        const auto created_s = report::unix_seconds(report.created);
        if (!newest_s || *created_s > *newest_s) newest_s = created_s;
    }
}

std::string Clock::wrong(const NodeReport& report) const {
    constexpr std::int64_t kTolerance = 3600;    // clocks differ a little
    constexpr std::string_view kFirst = "2025";  // no machine was checked before there was a gpucheck
    const auto created_s = report::unix_seconds(report.created);
    if (!created_s) return "its time '" + report.created + "' cannot be read";
    if (report.created < kFirst) return "its date " + report.created + " is that of a clock that was not set";
    if (now_s && *created_s > *now_s + kTolerance)
        return "its date " + report.created + " is later than now, which is " + now;
    return {};
}

Policy of_its_day(const Fleet& fleet, Policy policy) {
    const Clock clock(fleet, policy);
    if (clock.newest_s) policy.now = report::rfc3339_utc(*clock.newest_s);
    return policy;
}

Excuse excuse_of(const NodeReport& report, const Policy& policy, const Clock& clock) {
    if (report.simulated)
        return {"simulated",
                "its report is of a recorded machine or fake drivers: it says nothing about this hardware"};
    if (report.injected)
        return {"injected", "a fault was injected on purpose: a rehearsal says nothing about this hardware"};
    if (!policy.accept_unverified && !report.verified)
        return {"unverified",
                "its signature was not checked against a trusted key, which the policy demands"};
    if (const std::string wrong = clock.wrong(report); !wrong.empty())
        return {"date", wrong + ": nobody knows how old the report is"};
    const std::optional<std::int64_t> until_s = clock.now_s ? clock.now_s : clock.newest_s;
    if (policy.max_age_hours <= 0 || !until_s) return {};
    if (static_cast<double>(*until_s - *report::unix_seconds(report.created)) <= policy.max_age_hours * 3600)
        return {};
    return {"stale", "its report is of " + report.created + ", and older than the " +
                         std::to_string(static_cast<long long>(policy.max_age_hours)) +
                         " hours that the policy allows"};
}

}  // namespace gpucheck::fleet
