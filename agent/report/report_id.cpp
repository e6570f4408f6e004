// UUIDs and times; see report_id.h.
#include "agent/report/report_id.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace gpucheck::report {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

// Neither call waits for the pool: GRND_INSECURE is Linux 5.6, so older kernels are asked through
// /dev/urandom.
bool random_bytes(std::array<std::uint8_t, 10>& bytes) {
    const auto size = static_cast<ssize_t>(bytes.size());
    if (::getrandom(bytes.data(), bytes.size(), GRND_NONBLOCK) == size) return true;
    const int fd = ::open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    ::close(fd);
    return got == size;
}

// The last resort, in a root without /dev/urandom: clocks and the process differ between any two reports of a
// machine.
void clock_bytes(std::array<std::uint8_t, 10>& bytes) {
    auto state = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    state ^= static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) << 20;
    state ^= static_cast<std::uint64_t>(::getpid()) << 44;
    for (std::uint8_t& byte : bytes) {
        state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth, MMIX
        byte = static_cast<std::uint8_t>(state >> 56);
    }
}

bool two_digits(std::string_view text, std::size_t at, unsigned limit, unsigned& out) {
    out = 0;
    for (std::size_t i = at; i < at + 2; ++i) {
        if (i >= text.size() || text[i] < '0' || text[i] > '9') return false;
        out = out * 10 + static_cast<unsigned>(text[i] - '0');
    }
    return out <= limit;
}

// The zone after the seconds: "Z" or "+05:30", as seconds to take away.
std::optional<std::int64_t> offset_of(std::string_view zone) {
    if (zone == "Z" || zone == "z") return 0;
    unsigned hours = 0, minutes = 0;
    if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':') return std::nullopt;
    if (!two_digits(zone, 1, 23, hours) || !two_digits(zone, 4, 59, minutes)) return std::nullopt;
    const std::int64_t seconds = std::int64_t{hours} * 3600 + std::int64_t{minutes} * 60;
    return zone[0] == '+' ? seconds : -seconds;
}

}  // namespace

std::string uuid_v7(std::uint64_t unix_ms, const std::array<std::uint8_t, 10>& random) {
    std::array<std::uint8_t, 16> bytes{};
    for (std::size_t i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(unix_ms >> (40 - 8 * i));
    std::copy(random.begin(), random.end(), bytes.begin() + 6);
    bytes[6] = static_cast<std::uint8_t>(0x70U | (bytes[6] & 0x0fU));  // version 7
    bytes[8] = static_cast<std::uint8_t>(0x80U | (bytes[8] & 0x3fU));  // variant 10
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += kDigits[bytes[i] >> 4];
        text += kDigits[bytes[i] & 15];
    }
    return text;
}

std::string new_report_id() {
    std::array<std::uint8_t, 10> random{};
    if (!random_bytes(random)) clock_bytes(random);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    return uuid_v7(ms < 0 ? 0 : static_cast<std::uint64_t>(ms), random);
}

bool is_report_id(std::string_view id) {
    constexpr std::string_view kForm = "xxxxxxxx-xxxx-7xxx-vxxx-xxxxxxxxxxxx";
    if (id.size() != kForm.size()) return false;
    for (std::size_t i = 0; i < id.size(); ++i) {
        const char c = id[i];
        const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        const bool variant = c == '8' || c == '9' || c == 'a' || c == 'b';
        const bool fits = kForm[i] == 'x' ? hex : kForm[i] == 'v' ? variant : c == kForm[i];
        if (!fits) return false;
    }
    return true;
}

std::string rfc3339_utc(std::int64_t unix_seconds) {
    constexpr std::int64_t kYear0 = -62167219200, kYear9999 = 253402300799;
    const std::int64_t held = std::clamp(unix_seconds, kYear0, kYear9999);
    const std::chrono::sys_seconds when{std::chrono::seconds(held)};
    const auto day = std::chrono::floor<days>(when);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(when - day);
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()));
    return buffer;
}

std::string rfc3339_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return rfc3339_utc(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

std::optional<std::int64_t> unix_seconds(std::string_view text) {
    unsigned century = 0, year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
    if (text.size() < 20 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') ||
        text[13] != ':' || text[16] != ':') {
        return std::nullopt;
    }
    if (!two_digits(text, 0, 99, century) || !two_digits(text, 2, 99, year) ||
        !two_digits(text, 5, 12, month) || !two_digits(text, 8, 31, day) || !two_digits(text, 11, 23, hour) ||
        !two_digits(text, 14, 59, minute) || !two_digits(text, 17, 60, second)) {
        return std::nullopt;
    }
    std::size_t zone = 19;
    if (text[zone] == '.') {
        while (++zone < text.size() && text[zone] >= '0' && text[zone] <= '9') continue;
        if (zone == 20) return std::nullopt;
    }
    const std::optional<std::int64_t> offset = offset_of(text.substr(zone));
    const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(century * 100 + year)),
                                           std::chrono::month(month), std::chrono::day(day)};
    if (!offset || !date.ok()) return std::nullopt;
    const std::int64_t days_since = sys_days(date).time_since_epoch().count();
    return days_since * 86400 + std::int64_t{hour} * 3600 + std::int64_t{minute} * 60 + second - *offset;
}

}  // namespace gpucheck::report
