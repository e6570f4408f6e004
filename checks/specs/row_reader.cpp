// Typed, bounded access to JSON members; see row_reader.h. No accessor here can throw: types are tested
// first.
#include "checks/specs/row_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gpucheck {
namespace {

constexpr std::size_t kLongestText = 500;
constexpr double kSmallestFigure = 1e-3, kLargestFigure = 1e7;

std::string in_quotes(std::string_view text) {
    std::string quoted(1, '\'');
    quoted.append(text.substr(0, 60));
    quoted += '\'';
    return quoted;
}

}  // namespace

void RowReader::complain(std::string_view what) {
    if (!error_.empty()) return;
    error_ = file_ + ": ";
    if (!row_.empty()) error_ += row_ + ": ";
    error_ += what;
}

const Json* RowReader::member(const Json& object, std::string_view key) {
    if (!object.is_object()) return nullptr;
    for (const auto& [name, value] : object.get_ref<const Json::object_t&>()) {
        if (name == key) return &value;
    }
    return nullptr;
}

bool RowReader::object(const Json& value, std::string_view name,
                       std::initializer_list<std::string_view> allowed) {
    if (!value.is_object()) {
        complain(std::string(name) + " is not an object");
        return false;
    }
    for (const auto& [key, unused] : value.get_ref<const Json::object_t&>()) {
        if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
            complain("unknown field " + in_quotes(key) + " in " + std::string(name));
            return false;
        }
    }
    return true;
}

const Json* RowReader::array(const Json& object, std::string_view key) {
    const Json* found = member(object, key);
    if (found == nullptr || found->is_array()) return found;
    complain(std::string(key) + " is not an array");
    return nullptr;
}

const Json* RowReader::group(const Json& parent, std::string_view key,
                             std::initializer_list<std::string_view> allowed) {
    const Json* found = member(parent, key);
    return found != nullptr && object(*found, key, allowed) ? found : nullptr;
}

std::optional<std::string> RowReader::optional_text(const Json& object, std::string_view key) {
    const Json* found = member(object, key);
    if (found == nullptr) return std::nullopt;
    if (!found->is_string()) {
        complain(std::string(key) + " is not a text");
        return std::nullopt;
    }
    const std::string& text = found->get_ref<const std::string&>();
    if (text.empty() || text.size() > kLongestText) {
        complain(std::string(key) + " is empty or longer than 500 characters");
        return std::nullopt;
    }
    if (std::any_of(text.begin(), text.end(),
                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
        complain(std::string(key) + " has control characters");
        return std::nullopt;
    }
    return text;
}

std::string RowReader::text(const Json& object, std::string_view key) {
    if (auto found = optional_text(object, key)) return std::move(*found);
    complain(std::string(key) + " is missing");
    return {};
}

std::optional<std::uint64_t> RowReader::whole(const Json& object, std::string_view key, std::uint64_t min,
                                              std::uint64_t max) {
    const Json* found = member(object, key);
    if (found == nullptr) return std::nullopt;
    if (found->is_number_unsigned()) {
        const auto value = found->get<std::uint64_t>();
        if (value >= min && value <= max) return value;
    }
    complain(std::string(key) + " is not a whole number from " + std::to_string(min) + " to " +
             std::to_string(max));
    return std::nullopt;
}

std::optional<double> RowReader::number(const Json& object, std::string_view key, double min, double max) {
    const Json* found = member(object, key);
    if (found == nullptr) return std::nullopt;
    if (found->is_number()) {
        const auto value = found->get<double>();
        if (std::isfinite(value) && value >= min && value <= max) return value;
    }
    complain(std::string(key) + " is not a number in its range");
    return std::nullopt;
}

std::optional<Figure> RowReader::figure(const Json& object, std::string_view key) {
    const Json* found = member(object, key);
    if (found == nullptr) return std::nullopt;
    const auto valid = [](const Json& value) {
        if (!value.is_number()) return false;
        const auto number = value.get<double>();
        return std::isfinite(number) && number >= kSmallestFigure && number <= kLargestFigure;
    };
    if (valid(*found)) return Figure{found->get<double>(), found->get<double>()};
    if (found->is_array() && found->size() == 2 && valid((*found)[0]) && valid((*found)[1])) {
        const Figure range{(*found)[0].get<double>(), (*found)[1].get<double>()};
        if (range.low <= range.high) return range;
    }
    complain(std::string(key) + " is neither a positive number nor a range [low, high]");
    return std::nullopt;
}

bool RowReader::flag(const Json& object, std::string_view key) {
    const Json* found = member(object, key);
    if (found == nullptr) return false;
    if (found->is_boolean()) return found->get<bool>();
    complain(std::string(key) + " is not true or false");
    return false;
}

std::optional<std::uint16_t> RowReader::hex16_text(std::string_view text) {
    std::uint16_t value = 0;
    const char* end = text.data() + text.size();
    const bool lower = std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'F'; });
    const auto result = std::from_chars(text.data(), end, value, 16);
    if (text.size() == 4 && lower && result.ec == std::errc{} && result.ptr == end) return value;
    complain(in_quotes(text) + " is not an id of 4 lower-case hexadecimal digits");
    return std::nullopt;
}

std::uint16_t RowReader::hex16(const Json& object, std::string_view key) {
    return hex16_text(text(object, key)).value_or(std::uint16_t{0});
}

}  // namespace gpucheck
