// Splits a version into dotted numbers, a release-candidate mark and a build number; see version.h.
#include "checks/model/version.h"

#include <cstddef>

namespace gpucheck {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Removes and returns the digits that `text` starts with, without leading zeros ("" for 0): numbers of any
// length compare without overflow.
std::string_view take_number(std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && is_digit(text[end])) ++end;
    std::string_view digits = text.substr(0, end);
    text.remove_prefix(end);
    while (!digits.empty() && digits.front() == '0') digits.remove_prefix(1);
    return digits;
}

int order(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    const int sign = a.compare(b);
    return sign < 0 ? -1 : (sign > 0 ? 1 : 0);
}

bool starts_with_digit(std::string_view text) {
    return !text.empty() && is_digit(text.front());
}

// Drops the dot before a further number; false when the dotted part ends here.
bool next_part(std::string_view& text) {
    if (text.size() < 2 || text[0] != '.' || !is_digit(text[1])) return false;
    text.remove_prefix(1);
    return true;
}

struct Suffix {
    bool candidate = false;  // "rc" and a number
    std::string_view candidate_number;
    std::string_view build;  // first number before any "rc"
};

Suffix suffix_of(std::string_view text) {
    Suffix suffix;
    bool have_build = false;
    while (!text.empty()) {
        if (is_digit(text.front())) {
            const std::string_view number = take_number(text);
            if (!have_build) suffix.build = number;
            have_build = true;
            if (!(text.size() > 2 && text.starts_with("rc") && is_digit(text[2]))) continue;
        }
        if (is_letter(text.front())) {
            const bool is_candidate = text.size() > 2 && text.starts_with("rc") && is_digit(text[2]);
            if (is_candidate) {
                text.remove_prefix(2);
                suffix.candidate = true;
                suffix.candidate_number = take_number(text);
                return suffix;
            }
            while (!text.empty() && is_letter(text.front())) text.remove_prefix(1);
            continue;
        }
        text.remove_prefix(1);
    }
    return suffix;
}

}  // namespace

std::optional<int> compare_versions(std::string_view a, std::string_view b) {
    if (!starts_with_digit(a) || !starts_with_digit(b)) return std::nullopt;
    bool more_a = true, more_b = true;
    while (more_a || more_b) {
        const std::string_view left = more_a ? take_number(a) : std::string_view();
        const std::string_view right = more_b ? take_number(b) : std::string_view();
        if (const int sign = order(left, right); sign != 0) return sign;
        more_a = more_a && next_part(a);
        more_b = more_b && next_part(b);
    }
    const Suffix left = suffix_of(a), right = suffix_of(b);
    if (left.candidate != right.candidate) return left.candidate ? -1 : 1;
    if (const int sign = order(left.candidate_number, right.candidate_number); sign != 0) return sign;
    return order(left.build, right.build);
}

bool version_is_prefix(std::string_view prefix, std::string_view full) {
    if (!starts_with_digit(prefix) || !starts_with_digit(full)) return false;
    while (true) {
        if (order(take_number(prefix), take_number(full)) != 0) return false;
        if (prefix.empty()) return full.empty() || full.front() == '.';
        if (!next_part(prefix)) return prefix == full;
        if (!next_part(full)) return false;
    }
}

}  // namespace gpucheck
