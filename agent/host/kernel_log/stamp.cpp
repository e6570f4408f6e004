// Reads and prints the clocks of kernel logs; see stamp.h. No locale, no libc calendar: a hostile date must
// not reach either.
#include "agent/host/kernel_log/stamp.h"

#include <array>
#include <cstdio>

namespace gpucheck::host {
namespace {

constexpr std::int64_t kSecond = 1000000;
constexpr std::int64_t kDay = 86400 * kSecond;
constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kWeekdays{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Days since 1970-01-01 of a proleptic Gregorian date (H. Hinnant's days_from_civil).
std::int64_t days_of(std::int64_t year, unsigned month, unsigned day) {
    year -= month <= 2 ? 1 : 0;
    const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
    const auto year_of_era = static_cast<unsigned>(year - era * 400);
    const unsigned day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    const unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + static_cast<std::int64_t>(day_of_era) - 719468;
}

void civil_of(std::int64_t days, std::int64_t& year, unsigned& month, unsigned& day) {
    days += 719468;
    const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    const auto day_of_era = static_cast<unsigned>(days - era * 146097);
    const unsigned year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const unsigned shifted = (5 * day_of_year + 2) / 153;
    day = day_of_year - (153 * shifted + 2) / 5 + 1;
    month = shifted < 10 ? shifted + 3 : shifted - 9;
    year = static_cast<std::int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0);
}

bool take_number(std::string_view& text, std::size_t min_digits, std::size_t max_digits, unsigned& value) {
    std::size_t length = 0;
    value = 0;
    while (length < text.size() && length < max_digits && is_digit(text[length])) {
        value = value * 10 + static_cast<unsigned>(text[length] - '0');
        ++length;
    }
    if (length < min_digits) return false;
    text.remove_prefix(length);
    return true;
}

bool take(std::string_view& text, char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
}

void take_blanks(std::string_view& text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

template <std::size_t N>
bool take_name(std::string_view& text, const std::array<std::string_view, N>& names, unsigned& index) {
    for (index = 0; index < N; ++index) {
        if (text.starts_with(names[index])) {
            text.remove_prefix(names[index].size());
            return true;
        }
    }
    return false;
}

// Up to six digits after a "." or ","; further digits are dropped.
std::int64_t take_fraction(std::string_view& text, bool* comma) {
    if (text.size() < 2 || (text[0] != '.' && text[0] != ',') || !is_digit(text[1])) return 0;
    if (comma != nullptr) *comma = text[0] == ',';
    text.remove_prefix(1);
    std::int64_t value = 0;
    std::size_t digits = 0;
    while (!text.empty() && is_digit(text.front())) {
        if (digits < 6) {
            value = value * 10 + (text.front() - '0');
            ++digits;
        }
        text.remove_prefix(1);
    }
    for (; digits < 6; ++digits) value *= 10;
    return value;
}

// "hh:mm:ss" with an optional fraction, as microseconds of the day.
bool take_clock(std::string_view& text, std::int64_t& microseconds, bool* comma) {
    unsigned hour = 0, minute = 0, second = 0;
    std::string_view rest = text;
    if (!take_number(rest, 2, 2, hour) || !take(rest, ':') || !take_number(rest, 2, 2, minute)) return false;
    if (!take(rest, ':') || !take_number(rest, 2, 2, second) || hour > 23 || minute > 59 || second > 60)
        return false;
    microseconds = (static_cast<std::int64_t>(hour) * 3600 + minute * 60 + second) * kSecond +
                   take_fraction(rest, comma);
    text = rest;
    return true;
}

void take_zone(std::string_view& text, Stamp& stamp) {
    if (take(text, 'Z')) {
        stamp.zoned = true;
        return;
    }
    std::string_view rest = text;
    if (rest.empty() || (rest[0] != '+' && rest[0] != '-')) return;
    const int sign = rest[0] == '-' ? -1 : 1;
    rest.remove_prefix(1);
    unsigned hours = 0, minutes = 0;
    if (!take_number(rest, 2, 2, hours)) return;
    take(rest, ':');
    if (!take_number(rest, 2, 2, minutes) || hours > 23 || minutes > 59) return;
    stamp.zoned = true;
    stamp.zone_min = static_cast<std::int16_t>(sign * static_cast<int>(hours * 60 + minutes));
    text = rest;
}

bool valid_date(unsigned year, unsigned month, unsigned day) {
    return year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

}  // namespace

std::string Stamp::text() const {
    std::array<char, 64> buffer{};
    if (wall_us != kNone) {
        std::int64_t year = 0;
        unsigned month = 1, day = 1;
        const std::int64_t days = wall_us >= 0 ? wall_us / kDay : (wall_us - kDay + 1) / kDay;
        const auto seconds = static_cast<unsigned>((wall_us - days * kDay) / kSecond);
        civil_of(days, year, month, day);
        const unsigned hour = seconds / 3600, minute = seconds / 60 % 60, second = seconds % 60;
        if (yearless) {
            std::snprintf(buffer.data(), buffer.size(), "%s %2u %02u:%02u:%02u", kMonths.at(month - 1).data(),
                          day, hour, minute, second);
            return buffer.data();
        }
        int length = std::snprintf(buffer.data(), buffer.size(), "%04lld-%02u-%02uT%02u:%02u:%02u",
                                   static_cast<long long>(year), month, day, hour, minute, second);
        std::string out(buffer.data(), static_cast<std::size_t>(length));
        if (!zoned) return out;
        if (zone_min == 0) return out + "Z";
        const unsigned offset = static_cast<unsigned>(zone_min < 0 ? -zone_min : zone_min);
        length = std::snprintf(buffer.data(), buffer.size(), "%c%02u:%02u", zone_min < 0 ? '-' : '+',
                               offset / 60, offset % 60);
        return out.append(buffer.data(), static_cast<std::size_t>(length));
    }
    if (mono_us == kNone) return {};
    const int length =
        std::snprintf(buffer.data(), buffer.size(), "%lld.%06lld", static_cast<long long>(mono_us / kSecond),
                      static_cast<long long>(mono_us % kSecond));
    return std::string(buffer.data(), static_cast<std::size_t>(length));
}

std::optional<double> seconds_between(const Stamp& a, const Stamp& b) {
    if (a.mono_us != Stamp::kNone && b.mono_us != Stamp::kNone) {
        return static_cast<double>(b.mono_us - a.mono_us) / kSecond;
    }
    if (a.wall_us == Stamp::kNone || b.wall_us == Stamp::kNone || a.yearless != b.yearless)
        return std::nullopt;
    const std::int64_t zone = (static_cast<std::int64_t>(a.zone_min) - b.zone_min) * 60 * kSecond;
    std::int64_t apart = b.wall_us - a.wall_us + (a.zoned && b.zoned ? zone : 0);
    if (a.yearless && apart < -180 * kDay) apart += 366 * kDay;  // December to January
    return static_cast<double>(apart) / kSecond;
}

bool read_seconds(std::string_view& text, std::int64_t& microseconds) {
    std::string_view rest = text;
    take_blanks(rest);
    unsigned whole = 0;
    if (!take_number(rest, 1, 9, whole)) return false;
    if (rest.size() < 2 || rest[0] != '.' || !is_digit(rest[1])) return false;
    microseconds = static_cast<std::int64_t>(whole) * kSecond + take_fraction(rest, nullptr);
    text = rest;
    return true;
}

bool read_iso(std::string_view& text, Stamp& stamp, bool* comma) {
    std::string_view rest = text;
    unsigned year = 0, month = 0, day = 0;
    if (!take_number(rest, 4, 4, year) || !take(rest, '-') || !take_number(rest, 2, 2, month)) return false;
    if (!take(rest, '-') || !take_number(rest, 2, 2, day) || !valid_date(year, month, day)) return false;
    if (!take(rest, 'T') && !take(rest, ' ')) return false;
    std::int64_t clock = 0;
    if (!take_clock(rest, clock, comma)) return false;
    stamp.wall_us = days_of(year, month, day) * kDay + clock;
    stamp.yearless = false;
    take_zone(rest, stamp);
    text = rest;
    return true;
}

bool read_calendar(std::string_view& text, Stamp& stamp) {
    std::string_view rest = text;
    unsigned weekday = 0, month = 0, day = 0, year = 1972;
    std::int64_t clock = 0;
    if (take_name(rest, kWeekdays, weekday)) {
        if (!take(rest, ' ')) return false;
        if (!rest.empty() && is_digit(rest.front())) {  // short-full
            if (!read_iso(rest, stamp, nullptr)) return false;
            std::string_view zone = rest;
            take_blanks(zone);
            std::size_t letters = 0;
            while (letters < zone.size() && letters < 6 && zone[letters] >= 'A' && zone[letters] <= 'Z')
                ++letters;
            if (letters >= 2) {
                stamp.zoned = stamp.zoned || zone.substr(0, letters) == "UTC";
                rest = zone.substr(letters);
            }
            text = rest;
            return true;
        }
    }
    if (!take_name(rest, kMonths, month) || !take(rest, ' ')) return false;
    take_blanks(rest);
    if (!take_number(rest, 1, 2, day) || !take(rest, ' ')) return false;
    bool yearless = true;
    std::string_view ahead = rest;
    if (take_number(ahead, 4, 4, year) && take(ahead, ' ')) {  // "Mar 11 2025 04:51:37"
        rest = ahead;
        yearless = false;
    } else {
        year = 1972;
    }
    if (!take_clock(rest, clock, nullptr)) return false;
    ahead = rest;
    if (yearless && take(ahead, ' ') && take_number(ahead, 4, 4, year) &&
        (ahead.empty() || ahead[0] == ']')) {
        rest = ahead;  // "Feb 23 16:24:18 2025]"
        yearless = false;
    } else if (yearless) {
        year = 1972;
    }
    if (!valid_date(year, month + 1, day)) return false;
    stamp.wall_us = days_of(year, month + 1, day) * kDay + clock;
    stamp.yearless = yearless;
    text = rest;
    return true;
}

}  // namespace gpucheck::host
