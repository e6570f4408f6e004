// Dotted version numbers; see version.h.
#include "checks/model/version.h"

#include <charconv>
#include <cstdint>

namespace gpucheck {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Takes the next number off `text`; 0 when there is none left. Numbers too large for 64 bits become the
/// largest.
std::uint64_t take_number(std::string_view& text) {
    if (text.empty() || !is_digit(text.front())) {
        text = {};
        return 0;
    }
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc::result_out_of_range) number = UINT64_MAX;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty() && text.front() == '.') {
        text.remove_prefix(1);
    } else {
        text = {};
    }
    return number;
}

}  // namespace

std::optional<int> compare_versions(std::string_view left, std::string_view right) {
    if (left.empty() || right.empty() || !is_digit(left.front()) || !is_digit(right.front()))
        return std::nullopt;
    while (!left.empty() || !right.empty()) {
        const std::uint64_t a = take_number(left);
        const std::uint64_t b = take_number(right);
        if (a != b) return a < b ? -1 : 1;
    }
    return 0;
}

bool version_is_prefix(std::string_view shorter, std::string_view longer) {
    if (shorter.empty() || !longer.starts_with(shorter)) return false;
    return longer.size() == shorter.size() || longer[shorter.size()] == '.';
}

}  // namespace gpucheck
