// Members of a JSON object from a stranger, each at most once and of the right type: what is said twice or
// means nothing must not become evidence about a machine.
#pragma once

#include <simdjson.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpucheck::fleet {

namespace dom = simdjson::dom;

inline constexpr std::size_t kNameBytes = 512;    ///< codes, versions, host names
inline constexpr std::size_t kPathBytes = 4096;   ///< PATH_MAX: a finding's subject may be a file
inline constexpr std::size_t kMostGpus = 1024;    ///< in one machine
inline constexpr std::size_t kMostRows = 10'000;  ///< findings, checks, cost rows
inline constexpr std::size_t kMostValues = 256;   ///< measurements of one GPU

/// Where in the document one is, for the sentence that says what is wrong.
struct Place {
    const Place* up = nullptr;
    std::string_view name = {};
    int index = -1;

    /// "gpus[3].measurements"
    std::string path() const;
};

/// The first thing that is wrong with a document.
class Flaw {
  public:
    explicit operator bool() const { return !what_.empty(); }
    const std::string& what() const { return what_; }
    void say(const Place& place, std::string_view member, std::string_view why);
    void say(std::string_view sentence) {
        if (what_.empty()) what_ = sentence;
    }

  private:
    std::string what_;
};

/// The members that a reader knows, by their index in `names`; others are left alone.
template <std::size_t N>
class Members {
  public:
    Members(dom::element element, const std::array<std::string_view, N>& names, const Place& place,
            Flaw& flaw)
        : names_(names), place_(place), flaw_(flaw) {
        dom::object object;
        if (element.get(object) != simdjson::SUCCESS) {
            flaw_.say(place_, "", "is not an object");
            return;
        }
        for (const dom::key_value_pair field : object) {
            for (std::size_t i = 0; i < N; ++i) {
                if (field.key != names_[i]) continue;
                if (found_[i]) flaw_.say(place_, names_[i], "is there twice");
                found_[i] = field.value;
                break;
            }
        }
    }
    /// A member that is there and not null.
    std::optional<dom::element> given(std::size_t i) const {
        return found_[i] && !found_[i]->is_null() ? found_[i] : std::nullopt;
    }
    /// A member that has to be there; it may be null.
    bool present(std::size_t i) const {
        if (!found_[i]) flaw_.say(place_, names_[i], "is missing");
        return found_[i].has_value();
    }
    /// A member that has to be there and not null.
    std::optional<dom::element> element(std::size_t i) const { return needed(i) ? found_[i] : std::nullopt; }
    std::string_view text(std::size_t i, std::size_t most = kNameBytes) const;
    std::string_view text_or_null(std::size_t i, std::size_t most = kNameBytes) const;
    bool flag(std::size_t i) const;
    /// -1: null.
    int count_or_null(std::size_t i) const;
    /// 0: null. Finite, not negative, within float.
    float amount_or_null(std::size_t i) const;
    std::optional<dom::array> array(std::size_t i) const;

  private:
    bool needed(std::size_t i) const {
        if (found_[i] && !found_[i]->is_null()) return true;
        flaw_.say(place_, names_[i], found_[i] ? "is null" : "is missing");
        return false;
    }
    const std::array<std::string_view, N>& names_;
    const Place& place_;
    Flaw& flaw_;
    std::array<std::optional<dom::element>, N> found_;
};

/// The text of an element: valid UTF-8, without control characters, bounded.
std::string_view text_of(dom::element element, std::size_t most, const Place& place, std::string_view member,
                         Flaw& flaw);
/// A number that a float holds; not negative.
float amount_of(dom::element element, const Place& place, std::string_view member, Flaw& flaw);
int count_of(dom::element element, const Place& place, std::string_view member, Flaw& flaw);

template <std::size_t N>
std::string_view Members<N>::text(std::size_t i, std::size_t most) const {
    return needed(i) ? text_of(*found_[i], most, place_, names_[i], flaw_) : std::string_view();
}
template <std::size_t N>
std::string_view Members<N>::text_or_null(std::size_t i, std::size_t most) const {
    return given(i) ? text_of(*found_[i], most, place_, names_[i], flaw_) : std::string_view();
}
template <std::size_t N>
bool Members<N>::flag(std::size_t i) const {
    bool value = false;
    if (needed(i) && found_[i]->get(value) != simdjson::SUCCESS)
        flaw_.say(place_, names_[i], "is neither true nor false");
    return value;
}
template <std::size_t N>
int Members<N>::count_or_null(std::size_t i) const {
    return given(i) ? count_of(*found_[i], place_, names_[i], flaw_) : -1;
}
template <std::size_t N>
float Members<N>::amount_or_null(std::size_t i) const {
    return given(i) ? amount_of(*found_[i], place_, names_[i], flaw_) : 0;
}
template <std::size_t N>
std::optional<dom::array> Members<N>::array(std::size_t i) const {
    dom::array items;
    if (!needed(i)) return std::nullopt;
    if (found_[i]->get(items) != simdjson::SUCCESS) {
        flaw_.say(place_, names_[i], "is not a list");
        return std::nullopt;
    }
    return items;
}

}  // namespace gpucheck::fleet
