// What is text and what may reach a terminal: log lines are written by strangers, and a terminal obeys
// control bytes.
#include <array>

#include "agent/host/kernel_log/line.h"

namespace gpucheck::host {
namespace {

// Length and value of the well-formed UTF-8 sequence at text[i]; length 0 when there is none.
std::size_t decode(std::string_view text, std::size_t i, unsigned& code) {
    const auto byte = [&](std::size_t k) -> unsigned {
        return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U;
    };
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80    ? 1
                               : first >= 0xf0 ? 4
                               : first >= 0xe0 ? 3
                               : first >= 0xc2 ? 2
                                               : 0;
    if (length == 0 || first > 0xf4) return 0;
    if (length == 1) {
        code = first;
        return 1;
    }
    code = first & (0xffU >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
        if ((byte(i + k) & 0xc0U) != 0x80) return 0;
        code = (code << 6U) | (byte(i + k) & 0x3fU);
    }
    constexpr std::array<unsigned, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
    if (code < kSmallest.at(length) || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
    return length;
}

bool obeyed(unsigned code) {
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || (code >= 0x200e && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

}  // namespace

bool looks_like_text(std::string_view bytes) {
    bool visible = false;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 && byte != '\t' && byte != '\r' && byte != 0x1b) return false;
        visible = visible || byte > 0x20;
    }
    return visible;
}

std::string printable(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        unsigned code = 0;
        const std::size_t length = decode(text, i, code);
        if (length != 0 && !obeyed(code)) {
            out.append(text.substr(i, length));
            i += length;
            continue;
        }
        for (std::size_t k = 0; k < (length == 0 ? 1 : length); ++k, ++i) {
            const auto byte = static_cast<unsigned char>(text[i]);
            out += "\\x";
            out.push_back(kHex[byte >> 4U]);
            out.push_back(kHex[byte & 15U]);
        }
    }
    return out;
}

}  // namespace gpucheck::host
