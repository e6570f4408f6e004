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

#include <cmath>
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "checks/json/json.h"
#include "checks/model/snapshot.h"
#include "checks/model/verdict.h"

namespace gpucheck {

inline constexpr std::string_view kNotInSnapshot = "not in this snapshot";

namespace model_json {

template <class T>
concept HasFields = requires {
    T::fields();
};

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

Json write_text(const std::string& text);
Json write_double(double number);
bool read_text(const Json& json, std::string& text, std::string& error);
bool read_double(const Json& json, double& number, std::string& error);
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
Json write_fact(const Fact<T>& fact) {
    Json json = Json::object();
    if (fact.known()) {
        json.emplace("value", write(fact.value()));
    } else {
        json.emplace("missing", write_text(fact.missing().why));
    }
    json.emplace("source", write_text(fact.source()));
    return json;
}

template <class T>
Json write_struct(const T& value) {
    Json json = Json::object();
    std::apply(
        [&](const auto&... field) {
            (json.emplace(std::string(field.name), write(value.*field.member)), ...);
        },
        T::fields());
    return json;
}

template <class T>
Json write(const T& value) {
    if constexpr (std::same_as<T, bool> || std::integral<T>) {
        return Json(value);
    } else if constexpr (std::floating_point<T>) {
        return write_double(value);
    } else if constexpr (std::same_as<T, std::string>) {
        return write_text(value);
    } else if constexpr (std::is_enum_v<T>) {
        return Json(std::string(name_of(value)));
    } else if constexpr (std::same_as<T, Bdf>) {
        return Json(value.str());
    } else if constexpr (is_a<T, std::vector>) {
        Json json = Json::array();
        for (const auto& element : value) json.push_back(write(element));
        return json;
    } else if constexpr (is_a<T, std::optional>) {
        return value ? write(*value) : Json(nullptr);
    } else if constexpr (is_a<T, std::pair>) {
        Json json = Json::array();
        json.push_back(write(value.first));
        json.push_back(write(value.second));
        return json;
    } else if constexpr (is_a<T, Fact>) {
        return write_fact(value);
    } else {
        static_assert(HasFields<T>, "a type that model_json.h knows, or a struct with fields()");
        return write_struct(value);
    }
}

template <class T>
bool read_integer(const Json& json, T& value, std::string& error) {
    if (json.is_number_unsigned()) {
        const auto number = json.get<std::uint64_t>();
        if (!std::in_range<T>(number)) return fail(error, "number out of range");
        value = static_cast<T>(number);
        return true;
    }
    if (!json.is_number_integer()) return fail(error, "expected an integer");
    const auto number = json.get<std::int64_t>();
    if (!std::in_range<T>(number)) return fail(error, "number out of range");
    value = static_cast<T>(number);
    return true;
}

template <class T>
bool read_enum(const Json& json, T& value, std::string& error) {
    std::string name;
    if (!json.is_string()) return fail(error, "expected a name");
    if (!read_text(json, name, error)) return false;
    const std::optional<T> found = named(name, static_cast<T*>(nullptr));
    if (!found) return fail(error, "unknown name");
    value = *found;
    return true;
}

inline bool read_bdf(const Json& json, Bdf& value, std::string& error) {
    std::string text;
    if (!read_text(json, text, error)) return false;
    const std::optional<Bdf> parsed = Bdf::parse(text);
    if (!parsed) return fail(error, "expected a PCI address");
    value = *parsed;
    return true;
}

template <class T>
bool read_vector(const Json& json, std::vector<T>& value, std::string& error) {
    if (!json.is_array()) return fail(error, "expected an array");
    value.clear();
    value.reserve(json.size());
    for (std::size_t i = 0; i < json.size(); ++i) {
        T element{};
        if (!read(json[i], element, error)) return fail_at(error, i);
        value.push_back(std::move(element));
    }
    return true;
}

template <class A, class B>
bool read_pair(const Json& json, std::pair<A, B>& value, std::string& error) {
    if (!json.is_array() || json.size() != 2) return fail(error, "expected an array of two");
    if (!read(json[0], value.first, error)) return fail_at(error, 0);
    return read(json[1], value.second, error) || fail_at(error, 1);
}

template <class T>
bool read_fact(const Json& json, Fact<T>& fact, std::string& error) {
    if (!json.is_object()) return fail(error, "expected an object");
    const auto value = json.find("value"), missing = json.find("missing"), source = json.find("source");
    if ((value == json.end()) == (missing == json.end()))
        return fail(error, "expected either value or missing");
    std::string where;
    if (source != json.end() && !read_text(*source, where, error)) return fail_below(error, "source");
    if (missing != json.end()) {
        std::string why;
        if (!read_text(*missing, why, error)) return fail_below(error, "missing");
        fact = Missing{std::move(where), std::move(why)};
        return true;
    }
    T known{};
    if (!read(*value, known, error)) return fail_below(error, "value");
    fact = Fact<T>(std::move(known), std::move(where));
    return true;
}

template <class T>
bool read_absent(T& value, std::string& error) {
    if constexpr (is_a<T, Fact>) {
        value = Missing{"", std::string(kNotInSnapshot)};
        return true;
    } else if constexpr (HasFields<T>) {
        return read(Json(Json::object()), value, error);
    } else {
        return fail(error, "is missing");
    }
}

template <class T>
bool read_struct(const Json& json, T& value, std::string& error) {
    if (!json.is_object()) return fail(error, "expected an object");
    const auto member = [&](const auto& field) {
        const auto found = json.find(std::string(field.name));
        const bool good = found == json.end() ? read_absent(value.*field.member, error)
                                              : read(*found, value.*field.member, error);
        return good || fail_below(error, field.name);
    };
    return std::apply([&](const auto&... field) { return (member(field) && ...); }, T::fields());
}

template <class T>
bool read(const Json& json, T& value, std::string& error) {
    if constexpr (std::same_as<T, bool>) {
        if (!json.is_boolean()) return fail(error, "expected true or false");
        value = json.get<bool>();
        return true;
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
        return json.is_null() || read(json, value.emplace(), error);
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
