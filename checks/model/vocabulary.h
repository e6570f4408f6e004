// Names of an enum's values in one table, looked up both ways, so that no vocabulary has a spelling of its
// own in two places.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace gpucheck {

/// The name of `value`; "invalid" for a value outside the table.
template <class Enum, std::size_t N>
std::string_view name_in(const std::array<std::string_view, N>& names, Enum value) {
    const auto index = static_cast<std::size_t>(value);
    return index < N ? names[index] : std::string_view("invalid");
}

/// The value that is called `name`.
template <class Enum, std::size_t N>
std::optional<Enum> value_in(const std::array<std::string_view, N>& names, std::string_view name) {
    for (std::size_t i = 0; i < N; ++i) {
        if (names[i] == name) return static_cast<Enum>(i);
    }
    return std::nullopt;
}

}  // namespace gpucheck
