// Peels the containers off a kernel-log line; see line.h. Each prefix is removed when it is recognised and
// left alone when not, in any order, because the same line often wears several (syslog around dmesg, grep's
// line numbers around both).
#include "agent/host/kernel_log/line.h"

#include <array>
#include <cstring>

#include "checks/model/bdf.h"

namespace gpucheck::host {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_name(char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.' || c == '/' || c == '@';
}

void skip_blanks(std::string_view& text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

std::size_t digits_at(std::string_view text, std::size_t at) {
    std::size_t length = 0;
    while (at + length < text.size() && is_digit(text[at + length])) ++length;
    return length;
}

// Removes "ESC [ ... letter" and other escape sequences.
std::string_view without_colours(std::string_view raw, std::string& scratch) {
    if (std::memchr(raw.data(), 0x1b, raw.size()) == nullptr) return raw;
    scratch.clear();
    for (std::size_t i = 0; i < raw.size(); ++i) {
        if (raw[i] != 0x1b) {
            scratch.push_back(raw[i]);
            continue;
        }
        if (i + 1 < raw.size() && raw[i + 1] == '[') {
            i += 2;
            while (i < raw.size() && !(raw[i] >= 0x40 && raw[i] <= 0x7e)) ++i;
        } else if (i + 1 < raw.size() && raw[i + 1] == '(') {
            i += 2;
        }
    }
    return scratch;
}

// Tags that are the kernel's own first word, for logs whose "kernel:" was cut out.
bool is_kernel_word(std::string_view tag) {
    return tag == "NVRM" || tag == "amdgpu" || tag == "nvidia" || tag == "DMAR" || tag == "AMD-Vi" ||
           tag.starts_with("nvidia-nv");
}

struct Peeler {
    LogLine line;
    std::string_view text;
    bool kernel_tag = false;  ///< "kernel:" was seen: the words are the kernel's whatever the priority says
    bool foreign_facility = false;
    bool kmsg = false;
    bool wall = false, comma = false, rfc5424 = false, host_tried = false;

    void priority(unsigned value) {
        line.level = static_cast<int>(value & 7U);
        foreign_facility = (value >> 3U) != 0;
        line.timed = true;
    }
    bool prio_brackets();
    bool kmsg_record();
    bool bracket();
    bool facility_words();
    bool wall_clock();
    bool grep_number();
    bool host_and_tag();
    bool rfc5424_fields();
    void run();
};

// "<6>", "<30>", and RFC 5424's "<6>1 ".
bool Peeler::prio_brackets() {
    const std::size_t length = digits_at(text, 1);
    if (text[0] != '<' || length == 0 || length > 4 || text.size() <= length + 1 || text[length + 1] != '>')
        return false;
    unsigned value = 0;
    for (std::size_t i = 1; i <= length; ++i) value = value * 10 + static_cast<unsigned>(text[i] - '0');
    priority(value);
    text.remove_prefix(length + 2);
    if (text.size() > 2 && text[0] == '1' && text[1] == ' ' && is_digit(text[2])) {
        rfc5424 = true;
        text.remove_prefix(2);
    }
    return true;
}

// "6,1234,5678901,-;words" (Linux Documentation/ABI/testing/dev-kmsg).
bool Peeler::kmsg_record() {
    if (!is_digit(text[0])) return false;
    std::array<std::uint64_t, 3> numbers{};
    std::size_t at = 0;
    for (std::uint64_t& number : numbers) {
        const std::size_t length = digits_at(text, at);
        if (length == 0 || length > 18 || at + length >= text.size() || text[at + length] != ',')
            return false;
        for (std::size_t i = 0; i < length; ++i)
            number = number * 10 + static_cast<std::uint64_t>(text[at + i] - '0');
        at += length + 1;
    }
    const std::size_t semicolon = text.find(';', at);
    if (semicolon == std::string_view::npos || semicolon - at > 64) return false;
    priority(static_cast<unsigned>(numbers[0] & 0xffffU));
    line.stamp.mono_us = static_cast<std::int64_t>(numbers[2]);
    text.remove_prefix(semicolon + 1);
    kmsg = true;
    return true;
}

// "[  12.345678]", "[   12.3 <    0.1>]", "[  T123]", "[ C12]", "[Sun Feb 23 16:24:18 2025]", "[Feb23
// 16:24]", "[  +0.000123]",
// "[ERROR]", "[tid 1584]".
bool Peeler::bracket() {
    if (text[0] != '[') return false;
    const std::size_t close = text.substr(0, 48).find(']');
    if (close == std::string_view::npos) return false;
    std::string_view inside = text.substr(1, close - 1);
    std::string_view trimmed = inside;
    skip_blanks(trimmed);
    Stamp stamp = line.stamp;
    bool known = false;
    std::int64_t seconds = 0;
    std::string_view probe = trimmed;
    if (read_seconds(probe, seconds)) {
        skip_blanks(probe);
        known = probe.empty() || probe.front() == '<';
        if (known) stamp.mono_us = seconds;
    } else if (trimmed.size() >= 2 && (trimmed[0] == 'T' || trimmed[0] == 'C') &&
               digits_at(trimmed, 1) == trimmed.size() - 1) {
        known = line.timed;  // printk's caller id stands after the time
    } else if (trimmed.starts_with("+") && trimmed.find('.') != std::string_view::npos &&
               digits_at(trimmed, 1) > 0) {
        known = true;
    } else if (line.fabric_manager) {
        constexpr std::array<std::string_view, 6> kLevels{"FATAL",   "CRITICAL", "ERROR",
                                                          "WARNING", "INFO",     "DEBUG"};
        constexpr std::array<int, 6> kNumbers{1, 2, 3, 4, 6, 7};
        known = trimmed.starts_with("tid ");
        for (std::size_t i = 0; i < kLevels.size(); ++i) {
            if (trimmed != kLevels.at(i)) continue;
            line.level = kNumbers.at(i);
            known = true;
        }
    } else {
        probe = trimmed;
        known = read_calendar(probe, stamp) && probe.empty();
        // Month first and a year: only the fabric manager writes it so; ctime begins with the weekday.
        if (known && is_letter(trimmed[0]) && !stamp.yearless &&
            (is_digit(trimmed[4]) || is_digit(trimmed[5]))) {
            line.fabric_manager = true;
        }
        if (!known && trimmed.size() >= 11 && trimmed.size() <= 12 && is_letter(trimmed[0]) &&
            digits_at(trimmed, 3) > 0) {
            known = trimmed[trimmed.size() - 3] == ':';  // dmesg -e: "Jan14 06:20"
        }
        probe = trimmed;
        if (!known) known = read_iso(probe, stamp, nullptr) && probe.empty();
    }
    if (!known) return false;
    line.stamp = stamp;
    line.timed = true;
    text.remove_prefix(close + 1);
    return true;
}

// dmesg --decode: "kern  :warn  : ".
bool Peeler::facility_words() {
    std::size_t end = 0;
    while (end < text.size() && end < 8 && is_letter(text[end])) ++end;
    const std::string_view facility = text.substr(0, end);
    std::size_t colon = end;
    while (colon < text.size() && text[colon] == ' ') ++colon;
    if (end < 3 || colon >= text.size() || text[colon] != ':') return false;
    constexpr std::array<std::string_view, 8> kLevels{"emerg", "alert",  "crit", "err",
                                                      "warn",  "notice", "info", "debug"};
    const std::string_view rest = text.substr(colon + 1);
    for (std::size_t i = 0; i < kLevels.size(); ++i) {
        if (!rest.starts_with(kLevels.at(i))) continue;
        std::size_t after = kLevels.at(i).size();
        while (after < rest.size() && rest[after] == ' ') ++after;
        if (after >= rest.size() || rest[after] != ':') continue;
        line.level = static_cast<int>(i);
        foreign_facility = facility != "kern";
        line.timed = true;
        text = rest.substr(after + 1);
        return true;
    }
    return false;
}

bool Peeler::wall_clock() {
    if (wall) return false;
    if (is_digit(text[0])) {
        if (read_iso(text, line.stamp, &comma)) {
            wall = line.timed = true;
            return true;
        }
        std::string_view probe = text;  // journalctl -o short-unix: "1736835611.770412 host kernel:"
        std::int64_t seconds = 0;
        const std::size_t length = digits_at(text, 0);
        if (length != 10 && length != 9) return false;
        if (length == 10) probe.remove_prefix(1);
        if (!read_seconds(probe, seconds) || probe.empty() || probe[0] != ' ') return false;
        line.stamp.wall_us =
            seconds + (length == 10 ? static_cast<std::int64_t>(text[0] - '0') * 1000000000000000 : 0);
        line.stamp.zoned = true;
        wall = line.timed = true;
        text = probe;
        return true;
    }
    if (!is_letter(text[0]) || !read_calendar(text, line.stamp)) return false;
    wall = line.timed = true;
    return true;
}

// grep -n: "123:[   12.3]", also "kern.log:123:".
bool Peeler::grep_number() {
    if (line.timed) return false;
    const std::size_t length = digits_at(text, 0);
    if (length == 0 || length > 10 || length + 1 >= text.size() || text[length] != ':') return false;
    const char after = text[length + 1];
    std::string_view word = text.substr(0, text.find(' '));
    while (!word.empty() && word.back() == ':') word.remove_suffix(1);
    if (Bdf::parse(word)) return false;
    if (after != '[' && after != '<' && !is_letter(after) && !is_digit(after) && after != ' ') return false;
    text.remove_prefix(length + 1);
    return true;
}

// "node7 kernel: ", "node7 nvidia-persistenced[812]: ", "kernel: ".
bool Peeler::host_and_tag() {
    if (host_tried || !(is_letter(text[0]) || is_digit(text[0]))) return false;
    host_tried = true;
    if (text.starts_with("kernel: ") || text == "kernel:") {
        kernel_tag = true;
        text.remove_prefix(7);
        return true;
    }
    std::size_t host = 0;
    while (host < text.size() && host < 255 && (is_name(text[host]) || text[host] == ':')) ++host;
    if (host == 0 || host >= text.size() || text[host] != ' ' || text[host - 1] == ':') return false;
    std::string_view rest = text.substr(host + 1);
    skip_blanks(rest);
    if (rest.starts_with("kernel:") || rest.starts_with("kernel[")) {
        const std::size_t colon = rest.find(':');
        kernel_tag = true;
        text = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
        return true;
    }
    if (!wall || comma) return false;  // dmesg's own iso form has a comma and no host
    std::size_t tag = 0;
    while (tag < rest.size() && tag < 64 && is_name(rest[tag])) ++tag;
    if (tag == 0 || is_digit(rest[0]) || rest.substr(0, tag) == "kfd") return false;
    if (is_kernel_word(rest.substr(0, tag))) {
        text = rest;
        return true;
    }
    std::size_t end = tag;
    if (end < rest.size() && rest[end] == '[')
        end = rest.find(']', end) == std::string_view::npos ? end : rest.find(']', end) + 1;
    if (end >= rest.size() || rest[end] != ':') return false;
    line.program = rest.substr(0, tag);
    text = rest.substr(end + 1);
    return true;
}

// After the time: HOST APP PROCID MSGID STRUCTURED-DATA MSG.
bool Peeler::rfc5424_fields() {
    rfc5424 = false;
    host_tried = true;
    std::string_view rest = text;
    std::array<std::string_view, 4> fields{};
    for (std::string_view& field : fields) {
        skip_blanks(rest);
        const std::size_t end = rest.find(' ');
        if (end == std::string_view::npos) return false;
        field = rest.substr(0, end);
        rest.remove_prefix(end);
    }
    skip_blanks(rest);
    if (rest.starts_with("-")) {
        rest.remove_prefix(1);
    } else if (rest.starts_with("[")) {
        const std::size_t end = rest.find("] ");
        if (end == std::string_view::npos) return false;
        rest.remove_prefix(end + 1);
    } else {
        return false;
    }
    if (fields[1] == "kernel") {
        kernel_tag = true;
    } else {
        line.program = fields[1];
    }
    text = rest;
    return true;
}

void Peeler::run() {
    for (int step = 0; step < 10; ++step) {
        skip_blanks(text);
        if (text.empty()) return;
        if (rfc5424 && wall) {
            if (!rfc5424_fields()) return;
            continue;
        }
        const char c = text.front();
        bool peeled = false;
        if (c == '<') peeled = prio_brackets();
        if (c == '[') peeled = bracket();
        if (is_digit(c)) peeled = kmsg_record() || wall_clock() || grep_number();
        if (is_letter(c) && !peeled) peeled = (!line.timed && facility_words()) || wall_clock();
        if (!peeled) peeled = host_and_tag();
        if (!peeled) return;
    }
}

// /dev/kmsg writes control bytes, line feeds of multi-line reports among them, as \xHH.
std::string_view decode_kmsg(std::string_view text, std::string& scratch) {
    if (text.find("\\x") == std::string_view::npos) return text;
    const auto value = [](char c) -> unsigned {
        return is_digit(c) ? static_cast<unsigned>(c - '0') : static_cast<unsigned>((c | 0x20) - 'a' + 10);
    };
    const auto is_hex = [](char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); };
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x' && is_hex(text[i + 2]) &&
            is_hex(text[i + 3])) {
            decoded.push_back(static_cast<char>(value(text[i + 2]) * 16 + value(text[i + 3])));
            i += 3;
        } else {
            decoded.push_back(text[i]);
        }
    }
    scratch = std::move(decoded);
    return scratch;
}

// A program's tag inside the ring buffer: "systemd[1]: ", and audit records, which quote what users typed.
std::string_view inner_program(std::string_view message) {
    if (message.starts_with("audit:")) return "audit";
    std::size_t tag = 0;
    while (tag < message.size() && tag < 40 && is_name(message[tag])) ++tag;
    if (tag == 0 || tag >= message.size() || message[tag] != '[') return {};
    const std::size_t digits = digits_at(message, tag + 1);
    const std::size_t end = tag + 1 + digits;
    if (digits == 0 || !message.substr(end).starts_with("]: ")) return {};
    return message.substr(0, tag);
}

}  // namespace

LogLine parse_line(std::string_view raw, std::string& scratch) {
    while (!raw.empty() && (raw.back() == '\r' || raw.back() == ' ' || raw.back() == '\t'))
        raw.remove_suffix(1);
    if (raw.starts_with("\xef\xbb\xbf")) raw.remove_prefix(3);
    LogLine line;
    if (raw.starts_with("{\"") || raw.starts_with("{ \"")) {
        if (parse_journal_json(raw, line, scratch)) return line;
    }
    if (raw.starts_with("-- Boot ") || raw.starts_with("-- Reboot")) {
        line.boot_marker = true;
        return line;
    }
    if (raw.size() > 1 && raw[0] == ' ' && raw[1] >= 'A' && raw[1] <= 'Z' && raw.find('=') < 24 &&
        raw.find(' ', 1) > raw.find('=')) {
        line.continuation = true;
        return line;
    }
    if (raw.starts_with("Panic#") || raw.starts_with("Oops#")) {
        line.part_header = true;
        return line;
    }
    Peeler peeler;
    peeler.text = without_colours(raw, scratch);
    peeler.run();
    std::string_view text = peeler.text;
    if (!peeler.line.timed && !peeler.kernel_tag) {
        // An unknown wrapper: the kernel's tag still tells where its words begin.
        const std::size_t tag = text.substr(0, 512).find(" kernel: ");
        if (tag != std::string_view::npos) {
            peeler.text = text.substr(tag + 9);
            peeler.kernel_tag = true;
            peeler.run();
            text = peeler.text;
        }
    }
    line = peeler.line;
    skip_blanks(text);
    if (peeler.kmsg) text = decode_kmsg(text, scratch);
    line.message = text;
    if (line.program.empty()) line.program = inner_program(text);
    if (line.program.empty() && peeler.foreign_facility && !peeler.kernel_tag) line.program = "user";
    return line;
}

}  // namespace gpucheck::host
