// One answer to "what does a token cost here": the estimate with its operating point, method, basis, band and
// price, because a dollar figure without them has no meaning.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checks/cost/money.h"

namespace gpucheck::cost {

/// Where on the curve of throughput against interactivity.
enum class Point : std::uint8_t {
    single_user,  ///< one request at a time
    interactive,  ///< the most requests with at least `kInteractiveTokens` a second for each user
    maximum,      ///< as many requests as fit
    fixed,        ///< the concurrency somebody asked for
};
std::string_view name_of(Point point);
inline constexpr double kInteractiveTokens = 30;

enum class Method : std::uint8_t { analytic, reference_scaled };
std::string_view name_of(Method method);

/// A published result.
struct ReferenceRow {
    std::string board, model, scenario;  ///< "offline", "server", "interactive"
    Precision precision = Precision::fp8;
    double tokens_per_s_per_gpu = 0;
    unsigned n_gpus = 0;
    std::optional<double> isl, osl;  ///< without both the row cannot be compared with anything
    std::string engine, round, submitter, source, as_of;
};

/// Tokens per second between which about `coverage` of real servers lie.
struct Band {
    double low = 0, high = 0, coverage = 0.9;
    double factor = 1;  ///< low = value / factor, high = value * factor
};

struct Quote {
    const LlmModel* model = nullptr;
    const MeasuredMachine* machine = nullptr;
    Workload load;  ///< with the concurrency of the point
    Point point = Point::fixed;
    std::optional<Estimate> estimate;
    std::optional<Refusal> refusal;  ///< set when there is no estimate
    Method method = Method::analytic;
    const ReferenceRow* reference = nullptr;  ///< reference_scaled only
    bool weights_only_stored = false;         ///< the hardware lacks the format of the weights
    Band band;
    Price price;
    double utilization = 1;
    UsdPerMillion usd;  ///< at utilisation 1
    UsdPerMillion usd_at_utilization;
    std::optional<double> gpu_tokens_per_joule;
    std::vector<std::string> warnings;

    double replicas() const;  ///< groups that the instance has room for
    double tokens_per_s_per_gpu() const { return estimate ? estimate->tokens_per_s / load.group : 0; }
    double tokens_per_s_instance() const { return estimate ? estimate->tokens_per_s * replicas() : 0; }
};

/// What a quote is made from. Pointers must outlive the quote.
struct QuoteRequest {
    const LlmModel* model = nullptr;
    const MeasuredMachine* machine = nullptr;
    const MeasuredMachine* healthy = nullptr;  ///< rates behind reference rows; null: none known
    std::vector<const ReferenceRow*> references;
    Workload load;
    Point point = Point::fixed;
    Price price;
    double utilization = 1;
    std::string today;                 ///< "2026-11-30"
    std::string scenario = "offline";  ///< of the reference rows to use
};

/// Finds the point, estimates, scales a published row where one fits, and prices.
Quote quote(const QuoteRequest& request);

/// The load with the concurrency of `point`; a Refusal when nothing reaches it.
std::variant<Workload, Refusal> load_at(Point point, const LlmModel& model, const MeasuredMachine& machine,
                                        Workload load);

/// Groups worth having: the smallest of 1, 2, 4, 8 that leaves room for `kRoomyRequests` requests, or else
/// the largest that fits at all; nullopt when none does.
std::optional<unsigned> smallest_group(const LlmModel& model, const MeasuredMachine& machine, Workload load);
inline constexpr double kRoomyRequests = 32;

/// Factor of the band of an analytic estimate.
double analytic_band(bool mixture, Basis basis);
/// Factor of the band of a scaled row, by its age; `stale` says whether to warn.
double reference_band(const ReferenceRow& row, const std::string& today, bool& stale);

}  // namespace gpucheck::cost
