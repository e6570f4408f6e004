// From tokens per second and a price to dollars per token, and back: a table whose price, speed and cost do
// not agree has misled people by a factor of 158.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checks/cost/estimator.h"

namespace gpucheck::cost {

/// What one GPU costs for one hour. Unknown is unknown: never 0.
struct Price {
    std::optional<double> usd_gpu_hour;
    std::string source, as_of;  ///< "--price"; "2026-07" or "2026-07-14", empty: now
    std::string market;         ///< "rental", "owned", "unknown"
};

/// A price that can be divided by; nullopt for unknown, zero, negative, NaN, and for more than 1e6 USD an
/// hour.
std::optional<double> usable_price(std::optional<double> usd_gpu_hour);

/// Prices outside are more likely those of a whole instance or in cents.
inline constexpr double kLeastLikelyUsd = 0.3, kMostLikelyUsd = 15;

/// USD per token, not per million; nullopt when one of the three is unusable. 3.2 USD/h at 780 tokens/s is
/// 1.1396e-6.
std::optional<double> usd_per_token(std::optional<double> usd_gpu_hour, double tokens_per_s_per_gpu,
                                    double utilization = 1);

/// USD per million tokens; all null without a price.
struct UsdPerMillion {
    std::optional<double> input, output;
    std::optional<double> blended;  ///< all cost charged to output tokens
};
/// `utilization`: fraction of the hour that produces tokens, in (0, 1].
UsdPerMillion usd_per_million(const Estimate& estimate, const Workload& load,
                              std::optional<double> usd_gpu_hour, double utilization = 1);

/// Owning instead of renting. What has no value has no default.
struct Ownership {
    std::optional<double> capex_usd_per_gpu, years, availability;  ///< availability in (0, 1]
    std::optional<double> kw_per_gpu;  ///< provisioned, with host and network; times `pue`
    std::optional<double> usd_per_kwh;
    std::optional<double> load;  ///< mean power / provisioned power, in (0, 1]; not the utilisation
    double pue = 1;              ///< 1: cooling is in kw_per_gpu
    double software_usd_gpu_hour = 0, other_usd_gpu_hour = 0;
};
struct OwnershipCost {
    std::optional<double> electricity_usd_gpu_hour;  ///< null without kW, load or price of energy
    std::optional<double> capital_usd_gpu_hour;      ///< null without price, years and availability
    std::optional<double> usd_gpu_hour;              ///< null unless both are known
};
OwnershipCost cost_of_owning(const Ownership& owned);

/// A row of somebody's table.
struct Claim {
    double usd_gpu_hour = 0, tokens_per_s = 0, usd_per_token = 0;
};
struct ClaimVerdict {
    std::optional<double> usd_per_token;  ///< what price and speed give; nullopt: no number to compare
    double factor = 0;                    ///< claimed / computed
    bool agrees = false;                  ///< within 2 %
};
inline constexpr double kClaimTolerance = 0.02;
ClaimVerdict check_claim(const Claim& claim);

/// Whole days from `as_of` ("2026-07" counts from its first day) to `today` ("2026-11-30"); nullopt when one
/// is no date.
std::optional<long> days_between(const std::string& as_of, const std::string& today);
inline constexpr long kStalePriceDays = 90;

}  // namespace gpucheck::cost
