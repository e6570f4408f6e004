// Snapshots as JSON and back without loss, so that a machine judged today can be judged again next month and
// a fact that nobody read never comes back as a value.
//
//   Json to_json(const T&);                                  never throws
//   bool from_json(const Json&, T&, std::string& error);     false: `error` is "gpus[3].pci.link: expected an
//   object"
//
// for every struct with fields(), Fact, vector, optional, pair, Bdf, the enums of the model, numbers, bool,
// string.
//
//   Fact           {"value": V, "source": S} or {"missing": why, "source": S}
//   enum           its name; Bdf its sysfs spelling; pair [a, b]; empty optional null
//   integers       exactly (64 bits); a fraction, an exponent or a value out of range is an error
//   double         the shortest text that reads back equal; "NaN", "Infinity" and "-Infinity" as strings
//   string         as it is; bytes that are no UTF-8 as {"hex": "00ff"}
//
// Versions are additive. Unknown keys are ignored. A Fact whose key is absent was written before the fact
// existed: it is Missing, which every check already answers with unknown. An absent struct is read as {}, so
// one made of Facts comes back all Missing. Any other absent key (a plain value, a vector) is an error: there
// is no value that means "unknown", and an empty list would claim that somebody looked. New members of an
// existing struct are therefore Facts.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "checks/json/json.h"
#include "checks/model/snapshot.h"
#include "checks/model/verdict.h"

namespace gpucheck {

inline constexpr std::string_view kNotInSnapshot = "not in this snapshot";

namespace model_json {

using gpucheck::HasFields;

template <class T, template <class...> class Template>
inline constexpr bool is_a = false;
template <template <class...> class Template, class... Arguments>
inline constexpr bool is_a<Template<Arguments...>, Template> = true;

/// The enums' parsers by type; an enum without a line here does not compile.
inline std::optional<Vendor> named(std::string_view name, Vendor*) {
    return vendor_from(name);
}
inline std::optional<FormFactor> named(std::string_view name, FormFactor*) {
    return form_factor_from(name);
}
inline std::optional<NodeKind> named(std::string_view name, NodeKind*) {
    return node_kind_from(name);
}
inline std::optional<LinkSpeed> named(std::string_view name, LinkSpeed*) {
    return link_speed_named(name);
}
inline std::optional<Verdict> named(std::string_view name, Verdict*) {
    return verdict_from(name);
}
inline std::optional<Scope> named(std::string_view name, Scope*) {
    return scope_from(name);
}
inline std::optional<Impact> named(std::string_view name, Impact*) {
    return impact_from(name);
}
inline std::optional<Action> named(std::string_view name, Action*) {
    return action_from(name);
}
inline std::optional<Profile> named(std::string_view name, Profile*) {
    return profile_from(name);
}

// Everything that touches Json itself is a plain function: instantiated for each of a hundred types it would
// cost the compiler gigabytes and the binary half a megabyte.
Json write_text(const std::string& text);
Json write_double(double number);
Json write_unsigned(std::uint64_t number);
Json write_signed(std::int64_t number);
Json write_bool(bool value);
Json write_name(std::string_view name);
Json write_known(Json value, const std::string& source);
Json write_missing(const Missing& missing);
Json empty_object();
Json empty_array();
void add(Json& object, std::string_view name, Json value);
void append(Json& array, Json value);

bool read_text(const Json& json, std::string& text, std::string& error);
bool read_double(const Json& json, double& number, std::string& error);
bool read_bool(const Json& json, bool& value, std::string& error);
/// Within `min` and `max`.
bool read_unsigned(const Json& json, std::uint64_t& number, std::uint64_t max, std::string& error);
bool read_signed(const Json& json, std::int64_t& number, std::int64_t min, std::int64_t max,
                 std::string& error);
bool read_name(const Json& json, std::string& name, std::string& error);
bool read_bdf(const Json& json, Bdf& value, std::string& error);
/// Reads what a Fact<T> is: `value` is nullptr and `missing` is set, or `value` is set and `missing.source`
/// is its source.
bool read_fact_parts(const Json& json, const Json*& value, Missing& missing, std::string& error);
bool expect_object(const Json& json, std::string& error);
bool expect_array(const Json& json, std::string& error);
bool is_null(const Json& json);
/// nullptr when there is none.
const Json* member(const Json& object, std::string_view name);
std::size_t size(const Json& array);
const Json& element(const Json& array, std::size_t index);

/// Sets `error` and is false, so that a reader can return it.
bool fail(std::string& error, std::string_view what);
/// Puts a step ("pci", "[3]") in front of the path in `error`; false.
bool fail_below(std::string& error, std::string_view step);
bool fail_at(std::string& error, std::size_t index);

template <class T>
Json write(const T& value);
template <class T>
bool read(const Json& json, T& value, std::string& error);

template <class T>
[[gnu::noinline]] Json write_struct(const T& value) {
    Json json = empty_object();
    T::fields([&](const auto&... field) { (add(json, field.name, write(value.*field.member)), ...); });
    return json;
}

template <class T>
[[gnu::noinline]] Json write_vector(const std::vector<T>& value) {
    Json json = empty_array();
    for (const auto& one : value) append(json, write(one));
    return json;
}

template <class A, class B>
Json write_pair(const std::pair<A, B>& value) {
    Json json = empty_array();
    append(json, write(value.first));
    append(json, write(value.second));
    return json;
}

template <class T>
[[gnu::noinline]] Json write(const T& value) {
    if constexpr (std::same_as<T, bool>) {
        return write_bool(value);
    } else if constexpr (std::unsigned_integral<T>) {
        return write_unsigned(value);
    } else if constexpr (std::signed_integral<T>) {
        return write_signed(value);
    } else if constexpr (std::same_as<T, double>) {
        return write_double(value);
    } else if constexpr (std::same_as<T, std::string>) {
        return write_text(value);
    } else if constexpr (std::is_enum_v<T>) {
        return write_name(name_of(value));
    } else if constexpr (std::same_as<T, Bdf>) {
        return write_text(value.str());
    } else if constexpr (is_a<T, std::vector>) {
        return write_vector(value);
    } else if constexpr (is_a<T, std::optional>) {
        return value ? write(*value) : Json(nullptr);
    } else if constexpr (is_a<T, std::pair>) {
        return write_pair(value);
    } else if constexpr (is_a<T, Fact>) {
        return value.known() ? write_known(write(value.value()), value.source())
                             : write_missing(value.missing());
    } else {
        static_assert(HasFields<T>, "a type that model_json.h knows, or a struct with fields()");
        return write_struct(value);
    }
}

template <class T>
bool read_integer(const Json& json, T& value, std::string& error) {
    if constexpr (std::is_unsigned_v<T>) {
        std::uint64_t number = 0;
        if (!read_unsigned(json, number, std::numeric_limits<T>::max(), error)) return false;
        value = static_cast<T>(number);
    } else {
        std::int64_t number = 0;
        if (!read_signed(json, number, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), error))
            return false;
        value = static_cast<T>(number);
    }
    return true;
}

template <class T>
bool read_enum(const Json& json, T& value, std::string& error) {
    std::string name;
    if (!read_name(json, name, error)) return false;
    const std::optional<T> found = named(name, static_cast<T*>(nullptr));
    if (!found) return fail(error, "unknown name");
    value = *found;
    return true;
}

template <class T>
[[gnu::noinline]] bool read_vector(const Json& json, std::vector<T>& value, std::string& error) {
    if (!expect_array(json, error)) return false;
    value.clear();
    for (std::size_t i = 0; i < size(json);
         ++i) {  // grows as elements prove good: "[0,0,0,..." must not allocate
        if (!read(element(json, i), value.emplace_back(), error)) return fail_at(error, i);
    }
    return true;
}

template <class A, class B>
bool read_pair(const Json& json, std::pair<A, B>& value, std::string& error) {
    if (!expect_array(json, error)) return false;
    if (size(json) != 2) return fail(error, "expected two elements");
    if (!read(element(json, 0), value.first, error)) return fail_at(error, 0);
    return read(element(json, 1), value.second, error) || fail_at(error, 1);
}

template <class T>
[[gnu::noinline]] bool read_fact(const Json& json, Fact<T>& fact, std::string& error) {
    const Json* value = nullptr;
    Missing missing;
    if (!read_fact_parts(json, value, missing, error)) return false;
    if (value == nullptr) {
        fact = std::move(missing);
        return true;
    }
    T known{};
    if (!read(*value, known, error)) return fail_below(error, "value");
    fact = Fact<T>(std::move(known), std::move(missing.source));
    return true;
}

template <class T>
bool read_absent(T& value, std::string& error) {
    if constexpr (is_a<T, Fact>) {
        value = Missing{"", std::string(kNotInSnapshot)};
        return true;
    } else if constexpr (HasFields<T>) {
        return read(empty_object(), value, error);
    } else {
        return fail(error, "is missing");
    }
}

template <class T>
[[gnu::noinline]] bool read_member(const Json& json, std::string_view name, T& value, std::string& error) {
    const Json* found = member(json, name);
    const bool good = found == nullptr ? read_absent(value, error) : read(*found, value, error);
    return good || fail_below(error, name);
}

template <class T>
[[gnu::noinline]] bool read_struct(const Json& json, T& value, std::string& error) {
    if (!expect_object(json, error)) return false;
    return T::fields([&](const auto&... field) {
        return (read_member(json, field.name, value.*field.member, error) && ...);
    });
}

template <class T>
bool read(const Json& json, T& value, std::string& error) {
    if constexpr (std::same_as<T, bool>) {
        return read_bool(json, value, error);
    } else if constexpr (std::integral<T>) {
        return read_integer(json, value, error);
    } else if constexpr (std::same_as<T, double>) {
        return read_double(json, value, error);
    } else if constexpr (std::same_as<T, std::string>) {
        return read_text(json, value, error);
    } else if constexpr (std::is_enum_v<T>) {
        return read_enum(json, value, error);
    } else if constexpr (std::same_as<T, Bdf>) {
        return read_bdf(json, value, error);
    } else if constexpr (is_a<T, std::vector>) {
        return read_vector(json, value, error);
    } else if constexpr (is_a<T, std::optional>) {
        value.reset();
        return is_null(json) || read(json, value.emplace(), error);
    } else if constexpr (is_a<T, std::pair>) {
        return read_pair(json, value, error);
    } else if constexpr (is_a<T, Fact>) {
        return read_fact(json, value, error);
    } else {
        return read_struct(json, value, error);
    }
}

}  // namespace model_json

template <class T>
Json to_json(const T& value) {
    return model_json::write(value);
}

/// On failure `value` is left as it was.
template <class T>
[[nodiscard]] bool from_json(const Json& json, T& value, std::string& error) {
    T result{};
    error.clear();
    if (!model_json::read(json, result, error)) {
        if (error.starts_with(": ")) error.erase(0, 2);  // the document itself: there is no path to name
        return false;
    }
    value = std::move(result);
    return true;
}

// Compiled once, in model_json.cpp.
extern template Json to_json<Snapshot>(const Snapshot&);
extern template bool from_json<Snapshot>(const Json&, Snapshot&, std::string&);

}  // namespace gpucheck
