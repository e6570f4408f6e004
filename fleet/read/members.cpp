// Values out of hostile JSON; see members.h.
#include "fleet/read/members.h"

#include <cmath>
#include <limits>

namespace gpucheck::fleet {

std::string Place::path() const {
    std::string text = up != nullptr ? up->path() : std::string();
    if (!text.empty() && !name.empty()) text += '.';
    text += name;
    if (index >= 0) text += '[' + std::to_string(index) + ']';
    return text;
}

void Flaw::say(const Place& place, std::string_view member, std::string_view why) {
    if (!what_.empty()) return;
    what_ = place.path();
    if (!what_.empty() && !member.empty()) what_ += '.';
    what_ += member;
    if (what_.empty()) what_ = "the document";
    what_ += ' ';
    what_ += why;
}

std::string_view text_of(dom::element element, std::size_t most, const Place& place, std::string_view member,
                         Flaw& flaw) {
    std::string_view text;
    if (element.get(text) != simdjson::SUCCESS) {
        flaw.say(place, member, "is not a text");
        return {};
    }
    if (text.size() > most) {
        flaw.say(place, member,
                 "has " + std::to_string(text.size()) + " bytes, more than " + std::to_string(most));
        return {};
    }
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            flaw.say(place, member, "holds a control character (byte " + std::to_string(byte) + ")");
            return {};
        }
    }
    return text;
}

float amount_of(dom::element element, const Place& place, std::string_view member, Flaw& flaw) {
    double value = 0;
    if (!element.is_number() || element.get(value) != simdjson::SUCCESS) {
        flaw.say(place, member, "is not a number");
        return 0;
    }
    if (!(value >= 0)) {
        flaw.say(place, member, "is negative");
        return 0;
    }
    if (value > static_cast<double>(std::numeric_limits<float>::max())) {
        flaw.say(place, member, "is too large for a measurement");
        return 0;
    }
    // Minus zero is zero: it would print as another number.
    return value == 0 ? 0.0F : static_cast<float>(value);
}

int count_of(dom::element element, const Place& place, std::string_view member, Flaw& flaw) {
    constexpr std::int64_t kMost = 1'000'000;
    std::int64_t value = 0;
    if (element.get(value) != simdjson::SUCCESS || value < 0 || value > kMost) {
        flaw.say(place, member, "is not a count");
        return -1;
    }
    return static_cast<int>(value);
}

}  // namespace gpucheck::fleet
