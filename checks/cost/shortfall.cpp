// Shortfalls in tokens and dollars; see shortfall.h.
#include "checks/cost/shortfall.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace gpucheck::cost {
namespace {

// The rate of `part` that counts for these weights.
std::optional<double>* rate_of(Part part, MeasuredMachine& machine, const Workload& load) {
    if (part == Part::bandwidth) return &machine.bandwidth_bytes_s;
    if (part == Part::capacity) return &machine.capacity_bytes;
    if (load.weights == Precision::fp8 && machine.has_fp8 == true) return &machine.fp8_flop_s;
    if (load.weights != Precision::fp16 && load.weights != Precision::fp8 && machine.has_fp4 == true) {
        return &machine.fp4_flop_s;
    }
    return &machine.fp16_flop_s;
}

std::optional<double> tokens_of(const LlmModel& model, const MeasuredMachine& machine, const Workload& load) {
    const Outcome outcome = estimate(model, machine, load);
    const Estimate* made = std::get_if<Estimate>(&outcome);
    return made != nullptr ? std::optional(made->tokens_per_s) : std::nullopt;
}

std::string percent(double fraction) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), std::abs(fraction) < 0.0095 ? "%.1f %%" : "%.0f %%",
                  fraction * 100);
    return text.data();
}

const char* words(Part part) {
    return part == Part::bandwidth ? "HBM bandwidth" : part == Part::matrix ? "Matrix rate" : "Memory";
}

}  // namespace

std::string three_digits(double value) {
    std::array<char, 64> text{};
    const double size = std::abs(value);
    if (!std::isfinite(value)) return "-";
    if (size >= 1e9 || (size > 0 && size < 1e-4)) {
        std::snprintf(text.data(), text.size(), "%.3g", value);
    } else if (size >= 1000) {
        const double step = std::pow(10, std::floor(std::log10(size)) - 2);
        std::snprintf(text.data(), text.size(), "%.0f", std::round(value / step) * step);
    } else {
        const int decimals = size <= 0 ? 0 : std::max(0, 2 - static_cast<int>(std::floor(std::log10(size))));
        std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
    }
    return text.data();
}

std::string count_words(double value) {
    std::array<char, 64> text{};
    const bool whole = std::abs(value) < 1e15 && std::floor(value) == value;
    std::snprintf(text.data(), text.size(), whole ? "%.0f" : "%.4g", value);
    return text.data();
}

std::optional<double> elasticity(Part part, const LlmModel& model, const MeasuredMachine& machine,
                                 const Workload& load) {
    MeasuredMachine less = machine;
    std::optional<double>* rate = rate_of(part, less, load);
    if (!*rate) return std::nullopt;
    **rate *= 0.9;
    const auto full = tokens_of(model, machine, load), reduced = tokens_of(model, less, load);
    if (!full || !reduced) return std::nullopt;
    return std::log(*reduced / *full) / std::log(0.9);
}

std::optional<Shortfall> shortfall(Part part, const LlmModel& model, const MeasuredMachine& measured,
                                   const MeasuredMachine& healthy, const Workload& load,
                                   std::optional<double> usd_gpu_hour) {
    if (measured.board.empty() || measured.board != healthy.board) return std::nullopt;
    MeasuredMachine mended = measured, reference = healthy;
    std::optional<double>* ours = rate_of(part, mended, load);
    const std::optional<double> theirs = *rate_of(part, reference, load);
    if (!*ours || !theirs || !(*theirs > 0)) return std::nullopt;
    Shortfall result;
    result.part = part;
    result.ratio = **ours / *theirs;
    if (!(result.ratio > 0 && result.ratio < 1 - kRepeatability)) return std::nullopt;
    *ours = theirs;
    const auto now = tokens_of(model, measured, load), then = tokens_of(model, mended, load);
    if (!now || !then) return std::nullopt;
    result.tokens_ratio = *now / *then;
    result.elasticity = std::log(result.tokens_ratio) / std::log(result.ratio);
    if (const auto price = usable_price(usd_gpu_hour)) {
        result.usd_per_m_output = *price * load.group / 3600 * 1e6 * (1 / *now - 1 / *then);
        result.usd_per_month = *price * measured.gpus * kHoursPerMonth * (1 - result.tokens_ratio);
    }
    return result;
}

std::string sentence(const Shortfall& s, const LlmModel& model, const MeasuredMachine& machine,
                     const Workload& load) {
    std::string text =
        std::string(words(s.part)) + " at " + percent(s.ratio) + " of a healthy " + machine.board_name + ": ";
    const double lost = 1 - s.tokens_ratio;
    const std::string where = " on " + model.key + " at " + count_words(load.concurrency) +
                              (load.concurrency > 1 ? " users" : " user");
    if (lost < 0.0005) return text + "no fewer tokens/s" + where + ", which other parts limit.";
    text += "about " + percent(lost) + " fewer tokens/s" + where + " (" + three_digits(s.ratio) + "^" +
            three_digits(s.elasticity) + ")";
    if (!s.usd_per_m_output)
        return text + ", and each token dearer by " + percent(1 / s.tokens_ratio - 1) + ".";
    return text + ", so " + three_digits(*s.usd_per_m_output) + " USD more per million output tokens, and " +
           three_digits(*s.usd_per_month) + " USD a month on this instance.";
}

}  // namespace gpucheck::cost
