// Answers and waiting times; see retry.h.
#include "providers/delivery/retry.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>

namespace gpucheck::delivery {
namespace {

// What a waiting client adds to Retry-After, so that a fleet does not come back in one second.
constexpr double kSpread = 0.1;

constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Words and numbers of a date, split at blanks, commas and dashes; at most six.
std::optional<std::array<std::string, 6>> words_of(std::string_view text) {
    std::array<std::string, 6> words;
    std::size_t count = 0;
    bool inside = false;
    for (const char c : text) {
        const bool splits = c == ' ' || c == ',' || c == '-';
        if (splits) {
            inside = false;
            continue;
        }
        if (!inside && count == words.size()) return std::nullopt;
        if (!inside) ++count;
        inside = true;
        words[count - 1] += c;
    }
    return words;
}

std::optional<int> number(std::string_view text, std::size_t most_digits) {
    if (text.empty() || text.size() > most_digits) return std::nullopt;
    int value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + (c - '0');
    }
    return value;
}

bool set_clock(std::string_view text, std::tm& when) {
    if (text.size() != 8 || text[2] != ':' || text[5] != ':') return false;
    const auto hour = number(text.substr(0, 2), 2), minute = number(text.substr(3, 2), 2),
               second = number(text.substr(6, 2), 2);
    if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60) return false;
    when.tm_hour = *hour;
    when.tm_min = *minute;
    when.tm_sec = *second;
    return true;
}

bool set_day(std::string_view day, std::string_view month, std::string_view year, std::tm& when) {
    const auto named = std::find(kMonths.begin(), kMonths.end(), month);
    const auto of_month = number(day, 2);
    auto full = number(year, 4);
    if (named == kMonths.end() || !of_month || *of_month < 1 || *of_month > 31 || !full) return false;
    if (year.size() == 2) *full += *full < 70 ? 2000 : 1900;
    when.tm_mday = *of_month;
    when.tm_mon = static_cast<int>(named - kMonths.begin());
    when.tm_year = *full - 1900;
    return true;
}

// "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994". By hand,
// because strptime(3) reads the names of the locale.
std::optional<std::int64_t> http_date(std::string_view text) {
    const auto words = words_of(text);
    if (!words) return std::nullopt;
    const auto& [weekday, a, b, c, d, e] = *words;
    std::tm when{};
    const bool asctime = !a.empty() && std::isalpha(static_cast<unsigned char>(a[0])) != 0;
    const bool read = asctime ? set_day(b, a, d, when) && set_clock(c, when) && e.empty()
                              : set_day(a, b, c, when) && set_clock(d, when) && e == "GMT";
    if (!read || weekday.size() < 3) return std::nullopt;
    return static_cast<std::int64_t>(::timegm(&when));
}

bool transient(int status) {
    return status < 400 || status == 408 || status == 425 || status == 429 || status >= 500;
}

std::string sentence(int status) {
    if (status >= 300 && status < 400)
        return "a redirect, which is not followed: a token must not go elsewhere";
    if (status == 401 || status == 403) return "the token is missing, wrong or not allowed to report";
    if (status == 404 || status == 405) return "nothing takes reports at this path";
    if (status == 409) return "another report has this id";
    if (status == 413) return "the report is larger than the receiver takes";
    if (status == 429) return "the receiver asks to come less often";
    if (status >= 500) return "the receiver has a fault";
    return "the receiver refused it";
}

}  // namespace

std::int64_t backoff_s(unsigned attempts, double dice) {
    constexpr unsigned kDoublings = 8;  // 15 s * 2^8 is more than an hour
    const std::int64_t whole = std::min(kLongestBackoff_s, kFirstWait_s << std::min(attempts, kDoublings));
    return whole / 2 + static_cast<std::int64_t>(static_cast<double>(whole) / 2 * std::clamp(dice, 0.0, 1.0));
}

std::optional<std::int64_t> retry_after_s(std::string_view value, std::int64_t now_s) {
    const bool digits = !value.empty() &&
                        std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (digits) {
        const auto seconds = number(value, 9);
        return seconds ? std::min<std::int64_t>(*seconds, kLongestRetryAfter_s) : kLongestRetryAfter_s;
    }
    const std::optional<std::int64_t> date = http_date(value);
    if (!date) return std::nullopt;
    return std::clamp<std::int64_t>(*date - now_s, 0, kLongestRetryAfter_s);
}

Decision decide(const http::Outcome& outcome, unsigned attempts, std::int64_t now_s, double dice) {
    Decision decision;
    decision.wait_s = backoff_s(attempts, dice);
    if (const auto* failed = std::get_if<http::Failed>(&outcome)) {
        decision.receiver_is_down = true;
        decision.last = http::name_of(failed->failure);
        decision.detail = failed->detail;
        return decision;
    }
    const auto& response = *std::get_if<http::Response>(&outcome);
    decision.last = std::to_string(response.status);
    if (response.status >= 200 && response.status < 300) {
        decision.fate = Fate::accepted;
        return decision;
    }
    decision.detail = sentence(response.status);
    if (!transient(response.status)) {
        decision.fate = Fate::rejected;
        return decision;
    }
    decision.receiver_is_down = response.status == 429 || response.status == 503 || response.status < 400;
    if (const auto asked = retry_after_s(response.header("retry-after"), now_s)) {
        decision.wait_s = std::max<std::int64_t>(
            1, *asked + static_cast<std::int64_t>(static_cast<double>(*asked) * kSpread * dice));
    }
    return decision;
}

bool is_due(std::int64_t next_try_s, std::int64_t now_s) {
    constexpr std::int64_t kFurthest = kLongestRetryAfter_s + kLongestRetryAfter_s / 10 + 60;
    return next_try_s <= now_s || next_try_s > now_s + kFurthest;
}

}  // namespace gpucheck::delivery
