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

std::optional<double> seconds_of(const std::string& time) {
    // "2026-11-30T21:44:06Z", "2026-11-30T21:44:06.5+01:00"
    constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
    if (time.size() < kShape.size() + 1 || time.size() > 40) return std::nullopt;
    const auto digit = [&](std::size_t at) { return time[at] >= '0' && time[at] <= '9'; };
    for (std::size_t at = 0; at < kShape.size(); ++at) {
        if (kShape[at] == 'd' ? !digit(at) : time[at] != kShape[at]) return std::nullopt;
    }
    const auto number = [&](std::size_t at, std::size_t digits) {
        int value = 0;
        for (std::size_t i = 0; i < digits; ++i) value = value * 10 + (time[at + i] - '0');
        return value;
    };
    std::size_t at = kShape.size();
    double fraction = 0;
    if (time[at] == '.') {
        for (double scale = 0.1; ++at < time.size() && digit(at); scale /= 10)
            fraction += scale * (time[at] - '0');
    }
    double offset_s = 0;
    if (at + 6 == time.size() && (time[at] == '+' || time[at] == '-') && digit(at + 1) && digit(at + 2) &&
        time[at + 3] == ':' && digit(at + 4) && digit(at + 5)) {
        offset_s = (time[at] == '+' ? 60.0 : -60.0) * (number(at + 1, 2) * 60 + number(at + 4, 2));
    } else if (at + 1 != time.size() || time[at] != 'Z') {
        return std::nullopt;
    }
    const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
    if (month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
    // Days since 1970 in the proleptic Gregorian calendar: years begin in March, so that leap days come last.
    const int y = month <= 2 ? year - 1 : year;
    const int era_day = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const double days = 365.0 * y + y / 4 - y / 100 + y / 400 + era_day - 719468;
    return days * 86400 + number(11, 2) * 3600 + number(14, 2) * 60 + number(17, 2) + fraction - offset_s;
}

Clock::Clock(const Fleet& fleet, const Policy& policy) : now(policy.now) {
    if (!now.empty()) now_s = seconds_of(now);
    for (const NodeReport& report : fleet.reports) {
        if (is_rehearsal(report, policy) || !wrong(report).empty()) continue;
        const auto created_s = seconds_of(report.created);
        if (!newest_s || *created_s > *newest_s) newest_s = created_s;
    }
}

std::string Clock::wrong(const NodeReport& report) const {
    constexpr double kTolerance = 3600;          // clocks differ a little
    constexpr std::string_view kFirst = "2025";  // no machine was checked before there was a gpucheck
    const auto created_s = seconds_of(report.created);
    if (!created_s) return "its time '" + report.created + "' cannot be read";
    if (report.created < kFirst) return "its date " + report.created + " is that of a clock that was not set";
    if (now_s && *created_s > *now_s + kTolerance)
        return "its date " + report.created + " is later than now, which is " + now;
    return {};
}

Policy of_its_day(const Fleet& fleet, Policy policy) {
    const Clock clock(fleet, policy);
    if (clock.newest_s) policy.now = report::rfc3339_utc(static_cast<std::int64_t>(*clock.newest_s));
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
    const std::optional<double> until_s = clock.now_s ? clock.now_s : clock.newest_s;
    if (policy.max_age_hours <= 0 || !until_s) return {};
    if (*until_s - *seconds_of(report.created) <= policy.max_age_hours * 3600) return {};
    return {"stale", "its report is of " + report.created + ", and older than the " +
                         std::to_string(static_cast<long long>(policy.max_age_hours)) +
                         " hours that the policy allows"};
}

}  // namespace gpucheck::fleet
