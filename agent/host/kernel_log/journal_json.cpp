// Reads one record of `journalctl -o json` in place, without building a document: logs have millions of them,
// and a record that is cut off must still give up its message.
#include <charconv>

#include "agent/host/kernel_log/line.h"

namespace gpucheck::host {
namespace {

class Cursor {
  public:
    explicit Cursor(std::string_view text) : text_(text) {}
    bool done() const { return at_ >= text_.size(); }
    char peek() const { return done() ? '\0' : text_[at_]; }
    char next() { return done() ? '\0' : text_[at_++]; }
    void blanks() {
        while (!done() && (peek() == ' ' || peek() == '\t')) ++at_;
    }
    /// The raw inside of a string (escapes not decoded); a missing end quote ends it with the text.
    std::string_view raw_string() {
        const std::size_t begin = ++at_;
        while (!done() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
        const std::size_t end = at_ < text_.size() ? at_ : text_.size();
        if (!done()) ++at_;
        return text_.substr(begin, end - begin);
    }
    /// A number, array, object or word; returned raw.
    std::string_view raw_other() {
        const std::size_t begin = at_;
        int depth = 0;
        while (!done()) {
            const char c = peek();
            if (c == '"') {
                raw_string();
                continue;
            }
            if (c == '[' || c == '{') ++depth;
            if ((c == ']' || c == '}') && depth-- == 0) break;
            if (c == ',' && depth == 0) break;
            ++at_;
        }
        const std::size_t end = at_ < text_.size() ? at_ : text_.size();
        return text_.substr(begin, end - begin);
    }

  private:
    std::string_view text_;
    std::size_t at_ = 0;
};

void append_utf8(std::string& out, unsigned code) {
    if (code < 0x80) {
        out.push_back(static_cast<char>(code));
    } else if (code < 0x800) {
        out.push_back(static_cast<char>(0xc0U | (code >> 6)));
        out.push_back(static_cast<char>(0x80U | (code & 0x3fU)));
    } else {
        out.push_back(static_cast<char>(0xe0U | (code >> 12)));
        out.push_back(static_cast<char>(0x80U | ((code >> 6) & 0x3fU)));
        out.push_back(static_cast<char>(0x80U | (code & 0x3fU)));
    }
}

void unescape(std::string_view raw, std::string& out) {
    out.clear();
    for (std::size_t i = 0; i < raw.size(); ++i) {
        if (raw[i] != '\\' || i + 1 >= raw.size()) {
            out.push_back(raw[i]);
            continue;
        }
        const char c = raw[++i];
        if (c == 'u' && i + 4 < raw.size()) {
            unsigned code = 0;
            const auto parsed = std::from_chars(raw.data() + i + 1, raw.data() + i + 5, code, 16);
            if (parsed.ec == std::errc{} && parsed.ptr == raw.data() + i + 5) {
                append_utf8(out, code);
                i += 4;
                continue;
            }
        }
        out.push_back(c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' || c == 'f' ? ' ' : c);
    }
}

// A message that is not UTF-8 is printed as an array of byte values.
void bytes_of(std::string_view raw, std::string& out) {
    out.clear();
    unsigned value = 0;
    bool digits = false;
    for (const char c : raw) {
        if (c >= '0' && c <= '9' && value < 1000) {
            value = value * 10 + static_cast<unsigned>(c - '0');
            digits = true;
        } else if (digits) {
            out.push_back(static_cast<char>(value & 0xffU));
            value = 0;
            digits = false;
        }
    }
    if (digits) out.push_back(static_cast<char>(value & 0xffU));
}

std::int64_t microseconds(std::string_view text) {
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    return parsed.ec == std::errc{} && value >= 0 ? value : Stamp::kNone;
}

std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 1469598103934665603ULL;  // FNV-1a
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return hash | 1U;
}

}  // namespace

bool parse_journal_json(std::string_view raw, LogLine& line, std::string& scratch) {
    Cursor at(raw);
    if (at.next() != '{') return false;
    bool found = false;
    std::string_view transport, identifier;
    for (at.blanks(); !at.done() && at.peek() == '"'; at.blanks()) {
        const std::string_view key = at.raw_string();
        at.blanks();
        if (at.next() != ':') break;
        at.blanks();
        const bool quoted = at.peek() == '"';
        const std::string_view value = quoted ? at.raw_string() : at.raw_other();
        if (key == "MESSAGE") {
            found = true;
            quoted ? unescape(value, scratch) : bytes_of(value, scratch);
        } else if (key == "__REALTIME_TIMESTAMP") {
            line.stamp.wall_us = microseconds(value);
            line.stamp.zoned = line.stamp.wall_us != Stamp::kNone;
        } else if (key == "_SOURCE_MONOTONIC_TIMESTAMP" ||
                   (key == "__MONOTONIC_TIMESTAMP" && line.stamp.mono_us == Stamp::kNone)) {
            line.stamp.mono_us = microseconds(value);
        } else if (key == "_BOOT_ID") {
            line.boot_id = hash_of(value);
        } else if (key == "PRIORITY" && value.size() == 1 && value[0] >= '0' && value[0] <= '7') {
            line.level = value[0] - '0';
        } else if (key == "_TRANSPORT") {
            transport = value;
        } else if (key == "SYSLOG_IDENTIFIER") {
            identifier = value;
        }
        at.blanks();
        if (at.peek() == ',') at.next();
    }
    if (!found) return false;
    line.timed = true;
    line.message = scratch;
    if ((!transport.empty() && transport != "kernel") ||
        (transport.empty() && !identifier.empty() && identifier != "kernel")) {
        line.program = identifier.empty() ? transport : identifier;
    }
    return true;
}

}  // namespace gpucheck::host
