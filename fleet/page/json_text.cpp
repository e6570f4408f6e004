// Numbers and strings of machines as JSON without one character that a browser could take for markup.
#include "fleet/page/json_text.h"

#include <charconv>
#include <cmath>

#include "agent/report/escape.h"

namespace gpucheck::fleet {

void JsonText::separate() {
    if (comma_) out_ += ',';
    comma_ = true;
}

void JsonText::open(char bracket) {
    separate();
    out_ += bracket;
    comma_ = false;
}

void JsonText::close(char bracket) {
    out_ += bracket;
    comma_ = true;
}

void JsonText::key(std::string_view ours) {
    text(ours);
    out_ += ':';
    comma_ = false;
}

void JsonText::text(std::string_view theirs, std::size_t max_bytes) {
    separate();
    out_ += '"';
    // `plain` leaves no control, bidirectional or zero-width character and no line separator (U+2028), and
    // valid UTF-8 alone.
    for (const char c : report::plain(theirs, max_bytes)) {
        switch (c) {
            case '"':
                out_ += "\\\"";
                break;
            case '\\':
                out_ += "\\\\";
                break;
            case '<':
                out_ += "\\u003c";
                break;  // HTML 4.12.1.3: "<!--", "<script" and "</script"
            case '>':
                out_ += "\\u003e";
                break;
            case '&':
                out_ += "\\u0026";
                break;
            default:
                out_ += c;
        }
    }
    out_ += '"';
}

void JsonText::whole(std::int64_t number) {
    separate();
    char digits[24];
    out_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void JsonText::number(double value) {
    separate();
    const std::string digits = short_number(value);
    out_ += digits.empty() ? "null" : digits;
}

void JsonText::yes_no(bool value) {
    separate();
    out_ += value ? "true" : "false";
}

void JsonText::null() {
    separate();
    out_ += "null";
}

void JsonText::wholes(std::string_view name, std::span<const std::int64_t> column) {
    key(name);
    open('[');
    for (const std::int64_t value : column) whole(value);
    close(']');
}

void JsonText::numbers(std::string_view name, std::span<const double> column) {
    key(name);
    open('[');
    for (const double value : column) number(value);
    close(']');
}

void JsonText::texts(std::string_view name, std::span<const std::string> column, std::size_t max_bytes) {
    key(name);
    open('[');
    for (const std::string& value : column) text(value, max_bytes);
    close(']');
}

std::string short_number(double value) {
    if (!std::isfinite(value)) return {};
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 5);
    return {digits, end.ptr};
}

std::int64_t TextTable::number(std::string_view text) {
    const auto [at, fresh] =
        numbers_.try_emplace(std::string(text), static_cast<std::int64_t>(texts_.size()));
    if (fresh) texts_.emplace_back(text);
    return at->second;
}

}  // namespace gpucheck::fleet
