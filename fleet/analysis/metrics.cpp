// Units at the end of names tell what they are; see metrics.h.
#include "fleet/analysis/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpucheck::fleet {

Direction direction_of(std::string_view metric) {
    constexpr std::array<std::string_view, 4> kRates{"_gb_s", "_tflops", "_tops", "_gbit_s"};
    constexpr std::array<std::string_view, 3> kTimes{"_us", "_ms", "_ns"};
    const auto ends = [&](std::string_view unit) { return metric.ends_with(unit); };
    if (std::any_of(kRates.begin(), kRates.end(), ends)) return {true, true};
    if (std::any_of(kTimes.begin(), kTimes.end(), ends)) return {true, false};
    return {};
}

bool is_speed(float value) {
    return std::isnormal(value) && value > 0;
}

Aspect aspect_of(std::string_view metric) {
    if (!direction_of(metric).judged) return Aspect::other;
    if (metric.starts_with("memory_")) return Aspect::memory;
    if (metric.starts_with("host_link_")) return Aspect::host_link;
    return metric.ends_with("_tflops") || metric.ends_with("_tops") ? Aspect::arithmetic : Aspect::other;
}

bool metric_matches(std::string_view pattern, std::string_view metric) {
    if (pattern == "*") return true;
    if (pattern.ends_with('*')) return metric.starts_with(pattern.substr(0, pattern.size() - 1));
    if (pattern.starts_with('*')) return metric.ends_with(pattern.substr(1));
    return pattern == metric;
}

bool code_matches(std::string_view pattern, std::string_view code) {
    if (!pattern.ends_with(".*")) return pattern == code;
    return code.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace gpucheck::fleet
