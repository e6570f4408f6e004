// Well-formed UTF-8 by the table of RFC 3629, section 4; see utf8.h.
#include "checks/json/utf8.h"

namespace gpucheck {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

// Bytes of a sequence by its first byte, and the range its second byte must lie in.
struct Lead {
    std::size_t length;
    unsigned second_min, second_max;
};

Lead lead_of(unsigned first) {
    if (first < 0x80) return {1, 0, 0};
    if (first < 0xc2) return {0, 0, 0};
    if (first <= 0xdf) return {2, 0x80, 0xbf};
    if (first == 0xe0) return {3, 0xa0, 0xbf};
    if (first == 0xed) return {3, 0x80, 0x9f};
    if (first <= 0xef) return {3, 0x80, 0xbf};
    if (first == 0xf0) return {4, 0x90, 0xbf};
    if (first <= 0xf3) return {4, 0x80, 0xbf};
    if (first == 0xf4) return {4, 0x80, 0x8f};
    return {0, 0, 0};
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) {
    if (at >= text.size()) return 0;
    const Lead lead = lead_of(byte_at(text, at));
    if (lead.length <= 1) return lead.length;
    const unsigned second = byte_at(text, at + 1);
    if (second < lead.second_min || second > lead.second_max) return 0;
    for (std::size_t i = 2; i < lead.length; ++i) {
        if ((byte_at(text, at + i) & 0xc0U) != 0x80U) return 0;
    }
    return lead.length;
}

char32_t utf8_decode(std::string_view text, std::size_t at, std::size_t length) {
    const unsigned first = byte_at(text, at);
    if (length <= 1) return first;
    char32_t point = first & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) point = (point << 6) | (byte_at(text, at + i) & 0x3fU);
    return point;
}

bool is_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = utf8_length(text, at);
        if (length == 0) return false;
        at += length;
    }
    return true;
}

}  // namespace gpucheck
