// What counts as dangerous in text, once for all formats; see escape.h.
#include "agent/report/escape.h"

#include <array>
#include <cstdint>
#include <cstdio>

#include "checks/json/utf8.h"

namespace gpucheck::report {
namespace {

struct Range {
    char32_t first, last;
};
// C0 and C1 controls (ECMA-48 escapes), then what hides or reorders text (Unicode bidirectional controls,
// joiners, separators, byte order mark, interlinear marks, tags), then noncharacters, which XML 1.0 forbids
// in part.
constexpr std::array kUnsafe{
    Range{0x00, 0x1f},       Range{0x7f, 0x9f},        Range{0xad, 0xad},     Range{0x061c, 0x061c},
    Range{0x180e, 0x180e},   Range{0x200b, 0x200f},    Range{0x2028, 0x202e}, Range{0x2060, 0x206f},
    Range{0xfdd0, 0xfdef},   Range{0xfeff, 0xfeff},    Range{0xfff9, 0xfffb}, Range{0xfffe, 0xffff},
    Range{0xe0000, 0xe0fff}, Range{0xf0000, 0x10ffff},
};

bool unsafe(char32_t point) {
    if (point >= 0x20 && point < 0x7f) return false;
    for (const Range& range : kUnsafe) {
        if (point >= range.first && point <= range.last) return true;
    }
    return (point & 0xfffe) == 0xfffe;
}

std::string hex(const char* format, unsigned value) {
    std::array<char, 16> buffer{};
    const int length = std::snprintf(buffer.data(), buffer.size(), format, value);
    return {buffer.data(), static_cast<std::size_t>(length)};
}

std::string cut_note(std::size_t bytes) {
    return "... (" + std::to_string(bytes) + " bytes)";
}

// Calls `good` with each harmless sequence and `bad` with the code point of each other one (a byte that is no
// UTF-8: length 0), until `max_bytes` of input are used. True when the text was cut.
template <class Good, class Bad>
bool walk(std::string_view text, std::size_t max_bytes, Good good, Bad bad) {
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t length = utf8_length(text, at);
        const std::size_t step = length == 0 ? 1 : length;
        if (at + step > max_bytes) return true;
        const char32_t point =
            length == 0 ? static_cast<unsigned char>(text[at]) : utf8_decode(text, at, length);
        if (length != 0 && !unsafe(point)) {
            good(text.substr(at, length));
        } else {
            bad(point, length);
        }
        at += step;
    }
    return false;
}

std::string replaced(const std::string& text, char from, std::string_view to) {
    std::string result;
    for (const char c : text) {
        if (c == from) {
            result += to;
        } else {
            result += c;
        }
    }
    return result;
}

}  // namespace

std::string plain(std::string_view text, std::size_t max_bytes) {
    std::string out;
    const bool was_cut = walk(
        text, max_bytes, [&](std::string_view sequence) { out += sequence; },
        [&](char32_t point, std::size_t length) {
            if (point == '\t' || point == '\n' || point == '\r' || point == '\v' || point == '\f') {
                out += ' ';
            } else {
                out +=
                    hex(length <= 1 || point < 0x100 ? "\\x%02x" : "\\u{%x}", static_cast<unsigned>(point));
            }
        });
    return was_cut ? out + cut_note(text.size()) : out;
}

std::string markup(std::string_view text, std::size_t max_bytes) {
    std::string out;
    for (const char c : plain(text, max_bytes)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string label(std::string_view text, std::size_t max_bytes) {
    return replaced(replaced(plain(text, max_bytes), '\\', "\\\\"), '"', "\\\"");
}

void append_json(std::string& out, std::string_view text, std::size_t max_bytes) {
    const auto escaped = [&](char32_t point, std::size_t length) {
        if (length == 0) {
            out += "\xef\xbf\xbd";
        } else if (point == '\n') {
            out += "\\n";
        } else if (point == '\t') {
            out += "\\t";
        } else if (point > 0xffff) {
            const char32_t rest = point - 0x10000;
            out += hex("\\u%04x", static_cast<unsigned>(0xd800 + (rest >> 10)));
            out += hex("\\u%04x", static_cast<unsigned>(0xdc00 + (rest & 0x3ff)));
        } else {
            out += hex("\\u%04x", static_cast<unsigned>(point));
        }
    };
    out += '"';
    const bool was_cut = walk(
        text, max_bytes,
        [&](std::string_view sequence) {
            if (sequence == "\"" || sequence == "\\") out += '\\';
            out += sequence;
        },
        escaped);
    if (was_cut) out += cut_note(text.size());
    out += '"';
}

std::size_t columns(std::string_view text) {
    std::size_t count = 0;
    for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0U) != 0x80U ? 1 : 0;
    return count;
}

std::string cut(std::string_view text, std::size_t width) {
    if (columns(text) <= width) return std::string(text);
    const std::size_t keep = width > 2 ? width - 2 : 0;
    std::size_t at = 0;
    for (std::size_t seen = 0; at < text.size(); ++at) {
        if ((static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80U && seen++ == keep) break;
    }
    return std::string(text.substr(0, at)) + std::string("..").substr(0, width < 2 ? width : 2);
}

}  // namespace gpucheck::report
