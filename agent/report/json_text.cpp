// Indentation, separators and numbers of JSON; see json_text.h.
#include "agent/report/json_text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "agent/report/escape.h"

namespace gpucheck::report {

void JsonText::newline() {
    out_ += '\n';
    out_.append(filled_.size() * 2, ' ');
}

void JsonText::separate() {
    if (after_key_) {
        after_key_ = false;
        return;
    }
    if (filled_.empty()) return;
    if (filled_.back()) out_ += ',';
    filled_.back() = true;
    newline();
}

JsonText& JsonText::open(char bracket) {
    separate();
    out_ += bracket;
    filled_.push_back(false);
    return *this;
}

JsonText& JsonText::close(char bracket) {
    const bool had_members = !filled_.empty() && filled_.back();
    if (!filled_.empty()) filled_.pop_back();
    if (had_members) newline();
    out_ += bracket;
    return *this;
}

JsonText& JsonText::key(std::string_view name) {
    separate();
    append_json(out_, name);
    out_ += ": ";
    after_key_ = true;
    return *this;
}

JsonText& JsonText::text(std::string_view value) {
    separate();
    append_json(out_, value);
    return *this;
}

JsonText& JsonText::number(std::uint64_t value) {
    separate();
    out_ += std::to_string(value);
    return *this;
}

JsonText& JsonText::integer(std::int64_t value) {
    separate();
    out_ += std::to_string(value);
    return *this;
}

JsonText& JsonText::decimal(double value, int decimals) {
    if (!std::isfinite(value)) return null();
    separate();
    const double scale = std::pow(10.0, decimals);
    double rounded = std::abs(value) < 1e12 ? std::round(value * scale) / scale : value;
    if (rounded == 0) rounded = 0;  // no "-0"
    std::array<char, 40> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), rounded).ptr;
    out_.append(buffer.data(), end);
    return *this;
}

JsonText& JsonText::flag(bool value) {
    separate();
    out_ += value ? "true" : "false";
    return *this;
}

JsonText& JsonText::null() {
    separate();
    out_ += "null";
    return *this;
}

JsonText& JsonText::ready(std::string_view json) {
    separate();
    out_ += json;
    return *this;
}

std::string JsonText::take() {
    out_ += '\n';
    return std::move(out_);
}

void FactObject::text(std::string_view name, const Fact<std::string>& value) {
    fact(name, value, [](JsonText& json, const std::string& text) { json.text(text); });
}

void FactObject::number(std::string_view name, const Fact<std::uint64_t>& value) {
    fact(name, value, [](JsonText& json, std::uint64_t number) { json.number(number); });
}

void FactObject::number(std::string_view name, const Fact<unsigned>& value) {
    fact(name, value, [](JsonText& json, unsigned number) { json.number(number); });
}

void FactObject::flag(std::string_view name, const Fact<bool>& value) {
    fact(name, value, [](JsonText& json, bool flag) { json.flag(flag); });
}

void FactObject::end() {
    json_.key("missing").begin_object();
    for (const auto& [name, missing] : missing_) {
        json_.key(name).begin_object();
        json_.key("why").text(missing.why);
        json_.key("source").text_or_null(missing.source);
        json_.end_object();
    }
    json_.end_object();
    json_.end_object();
}

}  // namespace gpucheck::report
