// Which way each measurement is good, and which are no speed at all: a GPU that draws less power is not a
// slow one.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpucheck::fleet {

struct Direction {
    bool judged = false;
    bool more_is_better = true;
};

/// Rates (GB/s, TFLOP/s, TOP/s) are better when they are more; times (launch_us, *_ms) when they are less.
/// Power, temperature, capacity and whatever is not known are shown and not judged.
Direction direction_of(std::string_view metric);

/// Nothing runs at no speed, nor in no time: a zero, a negative number and one too small for its format (not
/// normal, IEEE 754) come from a measurement that failed.
bool is_speed(float value);

/// What a measurement says something about: launch latency alone says nothing of memory or matrix units.
enum class Aspect { memory, arithmetic, host_link, other };
constexpr std::size_t kAspects = 4;
Aspect aspect_of(std::string_view metric);

/// `pattern` is a metric's name, "*" for all, or has one "*" at its beginning or its end.
bool metric_matches(std::string_view pattern, std::string_view metric);
/// `pattern` is a code, or a prefix with ".*" at its end.
bool code_matches(std::string_view pattern, std::string_view code);

}  // namespace gpucheck::fleet
