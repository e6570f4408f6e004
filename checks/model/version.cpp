// Dotted versions; see version.h.
#include "checks/model/version.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace gpucheck {
namespace {

constexpr std::size_t kMaxParts = 8;

struct Parsed {
    std::array<std::uint64_t, kMaxParts> parts{};
    std::optional<std::uint64_t> candidate;  // N of -rcN
};

std::optional<Parsed> parse(std::string_view text) {
    Parsed result;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (std::size_t i = 0; i < kMaxParts; ++i) {
        const auto [next, error] = std::from_chars(at, end, result.parts[i]);
        if (error != std::errc{}) {
            if (i == 0 || error == std::errc::result_out_of_range) return std::nullopt;
            break;  // "570." or "6.x": the numbers before it count
        }
        at = next;
        if (at == end || *at != '.') break;
        ++at;
    }
    const std::string_view rest(at, static_cast<std::size_t>(end - at));
    const std::size_t rc = rest.find("-rc");
    if (rc != std::string_view::npos) {
        std::uint64_t number = 0;
        const char* digits = rest.data() + rc + 3;
        if (std::from_chars(digits, end, number).ec == std::errc{}) result.candidate = number;
    }
    return result;
}

}  // namespace

std::optional<int> compare_versions(std::string_view a, std::string_view b) {
    const auto left = parse(a);
    const auto right = parse(b);
    if (!left || !right) return std::nullopt;
    if (left->parts != right->parts) return left->parts < right->parts ? -1 : 1;
    if (left->candidate == right->candidate) return 0;
    if (!left->candidate) return 1;
    if (!right->candidate) return -1;
    return *left->candidate < *right->candidate ? -1 : 1;
}

bool version_is_prefix(std::string_view prefix, std::string_view version) {
    if (prefix.empty() || !version.starts_with(prefix)) return false;
    return version.size() == prefix.size() || version[prefix.size()] == '.';
}

}  // namespace gpucheck
