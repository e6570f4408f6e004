// Dollars per token; see money.h.
#include "checks/cost/money.h"

#include <cmath>

namespace gpucheck::cost {
namespace {

constexpr double kHour = 3600, kMillion = 1e6, kHoursPerYear = 8760;
constexpr double kMostUsd = 1e6;

bool positive(std::optional<double> value, double most) {
    return value && *value > 0 && *value <= most;  // false for NaN and infinity
}

std::optional<int> digits(const std::string& text, std::size_t from, std::size_t count) {
    int value = 0;
    for (std::size_t i = from; i < from + count; ++i) {
        if (i >= text.size() || text[i] < '0' || text[i] > '9') return std::nullopt;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

// Days since 1970-01-01 of the proleptic Gregorian calendar; a month counts from its first day.
std::optional<long> day_number(const std::string& date) {
    if (date.size() != 7 && date.size() != 10) return std::nullopt;
    const auto year = digits(date, 0, 4), month = digits(date, 5, 2);
    const auto day = date.size() == 10 ? digits(date, 8, 2) : std::optional(1);
    if (!year || !month || !day || date[4] != '-' || (date.size() == 10 && date[7] != '-'))
        return std::nullopt;
    if (*month < 1 || *month > 12 || *day < 1 || *day > 31) return std::nullopt;
    const long y = *month <= 2 ? *year - 1 : *year;
    const long shifted = *month > 2 ? *month - 3 : *month + 9;  // March is the first month
    const long of_year = (153 * shifted + 2) / 5 + *day - 1;
    return y * 365 + y / 4 - y / 100 + y / 400 + of_year - 719468;
}

}  // namespace

std::optional<double> usable_price(std::optional<double> usd_gpu_hour) {
    return positive(usd_gpu_hour, kMostUsd) ? usd_gpu_hour : std::nullopt;
}

std::optional<double> usd_per_token(std::optional<double> usd_gpu_hour, double tokens_per_s_per_gpu,
                                    double utilization) {
    const auto price = usable_price(usd_gpu_hour);
    if (!price || !positive(tokens_per_s_per_gpu, 1e30) || !positive(utilization, 1)) return std::nullopt;
    return *price / kHour / tokens_per_s_per_gpu / utilization;
}

UsdPerMillion usd_per_million(const Estimate& estimate, const Workload& load,
                              std::optional<double> usd_gpu_hour, double utilization) {
    const auto price = usable_price(usd_gpu_hour);
    if (!price || !positive(utilization, 1)) return {};
    const double usd_s = *price * load.group / kHour / utilization;
    return {usd_s * estimate.prefill_s / load.isl * kMillion,
            usd_s * estimate.step_s / estimate.batch * kMillion, usd_s / estimate.tokens_per_s * kMillion};
}

OwnershipCost cost_of_owning(const Ownership& owned) {
    OwnershipCost cost;
    if (positive(owned.kw_per_gpu, 1e3) && positive(owned.load, 1) && positive(owned.usd_per_kwh, 1e3) &&
        owned.pue >= 1 && owned.pue <= 10) {
        cost.electricity_usd_gpu_hour = *owned.kw_per_gpu * owned.pue * *owned.load * *owned.usd_per_kwh;
    }
    if (positive(owned.capex_usd_per_gpu, 1e9) && positive(owned.years, 100) &&
        positive(owned.availability, 1)) {
        cost.capital_usd_gpu_hour =
            *owned.capex_usd_per_gpu / (kHoursPerYear * *owned.years * *owned.availability);
    }
    const double rest = owned.software_usd_gpu_hour + owned.other_usd_gpu_hour;
    if (cost.electricity_usd_gpu_hour && cost.capital_usd_gpu_hour && rest >= 0 && rest <= kMostUsd) {
        cost.usd_gpu_hour = *cost.capital_usd_gpu_hour + *cost.electricity_usd_gpu_hour + rest;
    }
    return cost;
}

ClaimVerdict check_claim(const Claim& claim) {
    ClaimVerdict verdict;
    verdict.usd_per_token = usd_per_token(claim.usd_gpu_hour, claim.tokens_per_s);
    if (!verdict.usd_per_token || !positive(claim.usd_per_token, 1e9)) return {};
    verdict.factor = claim.usd_per_token / *verdict.usd_per_token;
    verdict.agrees = std::abs(verdict.factor - 1) <= kClaimTolerance;
    return verdict;
}

std::optional<long> days_between(const std::string& as_of, const std::string& today) {
    const auto from = day_number(as_of), to = day_number(today);
    if (!from || !to) return std::nullopt;
    return *to - *from;
}

}  // namespace gpucheck::cost
