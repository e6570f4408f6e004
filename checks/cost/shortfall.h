// What a slow part costs: a GPU at 91 % of its bandwidth is a curiosity until it reads "so many dollars a
// month".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "checks/cost/money.h"

namespace gpucheck::cost {

/// The part of the machine that is slower than a healthy one of its kind.
enum class Part : std::uint8_t { bandwidth, matrix, capacity };

struct Shortfall {
    Part part = Part::bandwidth;
    double ratio = 1;         ///< measured / healthy
    double elasticity = 0;    ///< d ln(tokens/s) / d ln(part) at this point
    double tokens_ratio = 1;  ///< tokens/s with this part as measured / with it healthy, the rest as measured
    std::optional<double> usd_per_m_output;  ///< more per million output tokens
    std::optional<double> usd_per_month;     ///< of the whole instance, paid for tokens that do not come
};

/// d ln(tokens/s) / d ln(part), from the model with the part at 90 %; nullopt when the model refuses.
std::optional<double> elasticity(Part part, const LlmModel& model, const MeasuredMachine& machine,
                                 const Workload& load);

/// nullopt when either is unknown, when the boards differ, or when the part is not slower by more than a
/// benchmark repeats to (1 %).
std::optional<Shortfall> shortfall(Part part, const LlmModel& model, const MeasuredMachine& measured,
                                   const MeasuredMachine& healthy, const Workload& load,
                                   std::optional<double> usd_gpu_hour);
inline constexpr double kRepeatability = 0.01;
inline constexpr double kHoursPerMonth = 730;

/// "HBM bandwidth at 91 % of a healthy AMD Instinct MI300X: about 5 % fewer tokens/s ..."; every number from
/// the arguments.
std::string sentence(const Shortfall& shortfall, const LlmModel& model, const MeasuredMachine& machine,
                     const Workload& load);

/// Three significant digits: more would suggest accuracy that is not there. "0.00114", "12.3", "4210".
std::string three_digits(double value);
/// A count: "8192", "32", and "113.4" where it is none.
std::string count_words(double value);

}  // namespace gpucheck::cost
