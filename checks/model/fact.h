// A value that was read, or the reason why it was not; never a default. Everything gpucheck says rests on
// this type: a check cannot take "could not look" for zero.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace gpucheck {

/// Why a value is not known. `why` is an errno name ("ENOENT", "EACCES"), or a phrase ("not captured",
/// "malformed: 'abc'", "not looked at").
struct Missing {
    std::string source;  ///< where we looked, e.g. "/sys/bus/pci/devices/0000:83:00.0/current_link_speed"
    std::string why;

    bool operator==(const Missing&) const = default;
};

/// A value and its source, or a Missing. There is deliberately no value_or().
template <class T>
class Fact {
  public:
    using value_type = T;

    Fact() : state_(Missing{"", "not looked at"}) {}
    Fact(Missing missing) : state_(std::move(missing)) {}  // NOLINT: a Missing is a Fact of any type
    Fact(T value, std::string source) : state_(Known{std::move(value), std::move(source)}) {}

    bool known() const { return std::holds_alternative<Known>(state_); }
    /// The kernel says that the thing is not there, as opposed to "we could not look".
    bool absent() const { return !known() && std::get_if<Missing>(&state_)->why == "ENOENT"; }

    /// The value; call only when known().
    const T& value() const {
        const Known* known = std::get_if<Known>(&state_);
        if (known == nullptr) std::abort();
        return known->value;
    }
    const T& operator*() const { return value(); }
    const T* operator->() const { return &value(); }
    /// True when known and equal to `other`.
    template <class U>
    bool is(const U& other) const {
        return known() && value() == other;
    }

    const std::string& source() const {
        const Known* known = std::get_if<Known>(&state_);
        return known != nullptr ? known->source : std::get_if<Missing>(&state_)->source;
    }
    /// Why it is missing; empty when known.
    std::string why() const { return known() ? std::string() : std::get_if<Missing>(&state_)->why; }
    /// The Missing; call only when !known().
    const Missing& missing() const {
        const Missing* missing = std::get_if<Missing>(&state_);
        if (missing == nullptr) std::abort();
        return *missing;
    }

    bool operator==(const Fact&) const = default;

  private:
    struct Known {
        T value;
        std::string source;
        bool operator==(const Known&) const = default;
    };
    std::variant<Known, Missing> state_;
};

/// Applies `convert` (T -> std::optional<U>) to a known fact; nullopt becomes a Missing "malformed".
template <class U, class T, class Convert>
Fact<U> convert_fact(const Fact<T>& fact, Convert convert) {
    if (!fact.known()) return fact.missing();
    if (auto converted = convert(fact.value())) return Fact<U>(std::move(*converted), fact.source());
    return Missing{fact.source(), "malformed"};
}

}  // namespace gpucheck
