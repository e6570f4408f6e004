// Prices as numbers and dates; see price.h.
#include "providers/price.h"

#include <charconv>
#include <cmath>
#include <optional>

namespace gpucheck::providers {
namespace {

constexpr double kLeastUsd = 0.001, kMostUsd = 100'000;

struct Date {
    int year = 0, month = 0, day = 0;
};

std::optional<int> digits(std::string_view text) {
    int value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

std::optional<Date> date_from(std::string_view text) {
    if (text.size() > 10) text = text.substr(0, 10);  // of an RFC 3339 time
    if ((text.size() != 10 && text.size() != 7) || text[4] != '-' || (text.size() == 10 && text[7] != '-'))
        return std::nullopt;
    const auto year = digits(text.substr(0, 4)), month = digits(text.substr(5, 2));
    const auto day = text.size() == 10 ? digits(text.substr(8, 2)) : std::optional(28);
    if (!year || !month || !day || *year < 1970 || *month < 1 || *month > 12 || *day < 1 || *day > 31)
        return std::nullopt;
    return Date{*year, *month, *day};
}

// Days since 1970-01-01 of the Gregorian calendar: years that begin in March have their leap day at the end.
long day_number(Date date) {
    const long year = date.month <= 2 ? date.year - 1 : date.year;
    const long era = year / 400, of_era = year % 400;
    const long month = (date.month + 9) % 12;
    const long of_year = (153 * month + 2) / 5 + date.day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

}  // namespace

Fact<long> days_between(std::string_view from, std::string_view to) {
    const auto first = date_from(from), second = date_from(to);
    if (!first || !second) return Missing{"date", "malformed: no date"};
    return Fact<long>(day_number(*second) - day_number(*first), "date");
}

Fact<HourlyPrice> price_of(double instance_usd, const Fact<unsigned>& gpus, std::string_view market,
                           const std::string& as_of, bool stale, const std::string& source) {
    if (!std::isfinite(instance_usd) || instance_usd < kLeastUsd)
        return Missing{source, "no price: zero or less is unknown, not free"};
    if (instance_usd > kMostUsd) return Missing{source, "no price: more than an instance can cost"};
    HourlyPrice price;
    price.instance_usd = Fact<double>(instance_usd, source);
    if (!gpus.known()) {
        price.gpu_usd = Missing{gpus.source(), "the type's number of GPUs is not known: " + gpus.why()};
    } else if (*gpus == 0) {
        price.gpu_usd = Missing{gpus.source(), "the type has no GPU"};
    } else {
        price.gpu_usd = Fact<double>(instance_usd / *gpus, source);
    }
    if (market.empty()) {
        price.market = Missing{source, "not told"};
    } else {
        price.market = Fact<std::string>(std::string(market), source);
    }
    if (as_of.empty()) {
        price.as_of = Missing{source, "not told"};
        price.stale = Missing{source, "not told"};
    } else {
        price.as_of = Fact<std::string>(as_of, source);
        price.stale = Fact<bool>(stale, source);
    }
    return Fact<HourlyPrice>(std::move(price), source);
}

}  // namespace gpucheck::providers
