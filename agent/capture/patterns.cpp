// Shapes of identities; see patterns.h.
#include "agent/capture/patterns.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <string>

#include "agent/capture/pseudonyms.h"

namespace gpucheck::capture {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
char byte_at(std::string_view text, std::size_t i) {
    return i < text.size() ? text[i] : '\0';
}
char before(std::string_view text, std::size_t at) {
    return at == 0 ? '\0' : text[at - 1];
}

std::size_t hex_run(std::string_view text, std::size_t at) {
    std::size_t length = 0;
    while (is_hex(byte_at(text, at + length))) ++length;
    return length;
}

// The identifier in front of `at`, without the blanks and punctuation between.
std::string word_before(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end > 0 && std::string_view(" \t:=\"'(").find(text[end - 1]) != std::string_view::npos) --end;
    std::size_t start = end;
    while (start > 0 && end - start < 40 && (is_word_byte(text[start - 1]) || text[start - 1] == '_'))
        --start;
    return lower(text.substr(start, end - start));
}

// "version 1.2.3.4", "driver_version": "1.2.3.4", (>= 1.2.3.4): numbers of software.
bool names_a_version(std::string_view text, std::size_t at) {
    constexpr std::array<std::string_view, 14> kWords{
        "version", "ver",   "rev",  "revision", "firmware",  "fw",     "release",
        "driver",  "build", "bios", "ucode",    "microcode", "module", "rocm"};
    const std::string word = word_before(text, at);
    if (word == "v") return true;
    if (std::any_of(kWords.begin(), kWords.end(),
                    [&](std::string_view known) { return word.ends_with(known); }))
        return true;
    std::size_t i = at;
    while (i > 0 && text[i - 1] == ' ') --i;
    return i > 1 && text[i - 1] == '=' &&
           std::string_view(" (<>=").find(text[i - 2]) != std::string_view::npos;
}

}  // namespace

bool is_word_byte(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::size_t uuid_at(std::string_view text, std::size_t at) {
    constexpr std::array<std::size_t, 5> kGroups{8, 4, 4, 4, 12};
    if (is_word_byte(before(text, at))) return 0;
    std::size_t i = at;
    for (std::size_t group = 0; group < kGroups.size(); ++group) {
        if (group > 0 && byte_at(text, i++) != '-') return 0;
        if (hex_run(text, i) != kGroups[group]) return 0;
        i += kGroups[group];
    }
    const bool more =
        is_word_byte(byte_at(text, i)) || (byte_at(text, i) == '-' && is_hex(byte_at(text, i + 1)));
    return more ? 0 : i - at;
}

std::size_t mac_at(std::string_view text, std::size_t at) {
    const char separator = byte_at(text, at + 2);
    if ((separator != ':' && separator != '-') || is_word_byte(before(text, at)) ||
        before(text, at) == separator)
        return 0;
    std::size_t pairs = 0, i = at;
    bool letter = false;
    while (hex_run(text, i) == 2) {
        letter = letter || !is_digit(text[i]) || !is_digit(text[i + 1]);
        ++pairs;
        i += 2;
        if (byte_at(text, i) != separator || !is_hex(byte_at(text, i + 1))) break;
        ++i;
    }
    if (is_word_byte(byte_at(text, i)) || byte_at(text, i) == separator ||
        (i > at && text[i - 1] == separator))
        return 0;
    if (separator == '-' && !letter) return 0;  // a date
    return pairs == 6 || pairs == 7 || pairs == 8 || pairs == 20 ? i - at : 0;
}

std::size_t guid_at(std::string_view text, std::size_t at) {
    if (is_word_byte(before(text, at)) || before(text, at) == ':') return 0;
    std::size_t i = at;
    for (int group = 0; group < 4; ++group) {
        if (group > 0 && byte_at(text, i++) != ':') return 0;
        if (hex_run(text, i) != 4) return 0;
        i += 4;
    }
    return is_word_byte(byte_at(text, i)) || byte_at(text, i) == ':' ? 0 : i - at;
}

std::size_t ipv4_at(std::string_view text, std::size_t at) {
    const char front = before(text, at);
    if (!is_digit(byte_at(text, at)) || is_word_byte(front) || front == '.' || front == '-' || front == '_' ||
        front == '~')
        return 0;
    std::size_t i = at;
    for (int part = 0; part < 4; ++part) {
        if (part > 0 && byte_at(text, i++) != '.') return 0;
        std::size_t length = 0;
        unsigned value = 0;
        while (length < 4 && is_digit(byte_at(text, i + length)))
            value = value * 10 + static_cast<unsigned>(text[i + length++] - '0');
        if (length == 0 || length > 3 || value > 255 || (length > 1 && text[i] == '0'))
            return 0;  // VBIOS 96.00.74.00
        i += length;
    }
    const char back = byte_at(text, i), after = byte_at(text, i + 1);
    if (is_word_byte(back) || back == '_' || back == '+' || back == '~') return 0;
    if ((back == '.' || back == '-') && is_word_byte(after)) return 0;  // 1.2.3.4.5, 1.2.3.4-1ubuntu
    return names_a_version(text, at) ? 0 : i - at;
}

std::size_t ipv6_at(std::string_view text, std::size_t at) {
    const char front = before(text, at);
    if (is_word_byte(front) || front == ':' || front == '.') return 0;
    std::size_t i = at;
    while (is_hex(byte_at(text, i)) || byte_at(text, i) == ':') ++i;
    while (i > at + 1 && text[i - 1] == ':' && text[i - 2] != ':') --i;  // "address 2001:db8::1: reached"
    if (i - at < 3 || i - at > 39 || is_word_byte(byte_at(text, i)) ||
        (byte_at(text, i) == '.' && is_digit(byte_at(text, i + 1)))) {
        return 0;
    }
    const std::string candidate(text.substr(at, i - at));
    const bool digit = std::any_of(candidate.begin(), candidate.end(), is_digit);
    const bool letter_or_long = candidate.size() > 6 ||
                                candidate.find_first_of("abcdefABCDEF") != std::string::npos ||
                                candidate == "::1";
    in6_addr address{};
    if (!digit || !letter_or_long || ::inet_pton(AF_INET6, candidate.c_str(), &address) != 1) return 0;
    return i - at;
}

std::size_t email_at(std::string_view text, std::size_t at) {
    const auto is_local = [](char c) {
        return is_word_byte(c) || std::string_view("._%+-").find(c) != std::string_view::npos;
    };
    if (!is_word_byte(byte_at(text, at)) || is_local(before(text, at))) return 0;
    std::size_t i = at;
    while (i < text.size() && i - at < 64 && is_local(text[i])) ++i;
    if (byte_at(text, i) != '@') return 0;
    const std::size_t domain = ++i;
    while (i < text.size() && (is_word_byte(text[i]) || text[i] == '.' || text[i] == '-')) ++i;
    while (i > domain && !is_word_byte(text[i - 1])) --i;
    const std::string_view name = text.substr(domain, i - domain);
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return 0;
    const std::string_view last = name.substr(dot + 1);
    constexpr std::array<std::string_view, 10> kUnits{"service", "socket", "slice",  "scope",     "mount",
                                                      "timer",   "target", "device", "automount", "path"};
    if (last.size() < 2 || std::any_of(last.begin(), last.end(), is_digit)) return 0;
    return std::find(kUnits.begin(), kUnits.end(), last) != kUnits.end() ? 0 : i - at;
}

}  // namespace gpucheck::capture
