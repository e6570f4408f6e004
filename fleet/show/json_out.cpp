// Writes JSON in pieces; see json_out.h.
#include "fleet/show/json_out.h"

#include <array>
#include <charconv>
#include <cmath>

#include "agent/report/escape.h"

namespace gpucheck::fleet {

JsonOut& JsonOut::key(std::string_view name) {
    separate();
    out_ += '"';
    out_ += name;
    out_ += "\": ";
    pending_ = false;
    return *this;
}

JsonOut& JsonOut::text(std::string_view value) {
    separate();
    report::append_json(out_, value);
    pending_ = true;
    return *this;
}

JsonOut& JsonOut::raw(std::string_view json) {
    separate();
    out_ += json;
    pending_ = true;
    return *this;
}

JsonOut& JsonOut::number(double value) {
    if (!std::isfinite(value)) return null();
    std::array<char, 40> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value == 0 ? 0.0 : value).ptr;
    return raw({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

JsonOut& JsonOut::count(std::size_t value) {
    return raw(std::to_string(value));
}

JsonOut& JsonOut::begin(char bracket) {
    separate();
    out_ += bracket;
    pending_ = false;
    return *this;
}

JsonOut& JsonOut::end(char bracket) {
    out_ += bracket;
    pending_ = true;
    return *this;
}

void JsonOut::flush(std::size_t more_than) {
    if (out_.size() <= more_than) return;
    alive_ = alive_ && sink_(out_);
    out_.clear();
}

void JsonOut::finish() {
    out_ += '\n';
    flush(0);
    pending_ = false;
}

}  // namespace gpucheck::fleet
