// A value that was read, or the reason why it was not; never a default. Everything gpucheck says rests on
// this type: a check cannot take "could not look" for zero.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

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

    Fact() : about_{"", "not looked at"} {}
    Fact(Missing missing) : about_(std::move(missing)) {}  // NOLINT: a Missing is a Fact of any type
    Fact(T value, std::string source) : about_{std::move(source), ""}, value_(std::move(value)) {}

    bool known() const { return value_.has_value(); }
    /// The kernel says that the thing is not there, as opposed to "we could not look".
    bool absent() const { return !known() && about_.why == "ENOENT"; }

    /// The value; call only when known().
    const T& value() const {
        if (!known()) std::abort();
        return *value_;
    }
    const T& operator*() const { return value(); }
    const T* operator->() const { return &value(); }
    /// True when known and equal to `other`.
    template <class U>
    bool is(const U& other) const {
        return known() && value() == other;
    }

    const std::string& source() const { return about_.source; }
    /// Why it is missing; empty when known.
    std::string why() const { return about_.why; }
    /// The Missing; call only when !known().
    const Missing& missing() const {
        if (known()) std::abort();
        return about_;
    }

    bool operator==(const Fact&) const = default;

  private:
    // Not a std::variant: its machinery, made again for each T in each file that copies a snapshot, was half
    // of what the compiler did there.
    Missing about_;  ///< the source of the value; or where we looked, and why there is none
    std::optional<T> value_;
};

/// Applies `convert` (T -> std::optional<U>) to a known fact; nullopt becomes a Missing "malformed".
template <class U, class T, class Convert>
Fact<U> convert_fact(const Fact<T>& fact, Convert convert) {
    if (!fact.known()) return fact.missing();
    if (auto converted = convert(fact.value())) return Fact<U>(std::move(*converted), fact.source());
    return Missing{fact.source(), "malformed"};
}

}  // namespace gpucheck
