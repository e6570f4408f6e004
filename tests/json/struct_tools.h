// Tools over fields(): how many members a struct really has, and a filler that gives every member a value of
// its own.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "checks/json/model_json.h"

namespace gpucheck::test {

/// Converts to anything, in unevaluated operands only.
struct Anything {
    template <class T>
    operator T() const;  // NOLINT: implicit on purpose
};

template <class T, std::size_t... I>
constexpr bool braces_take(std::index_sequence<I...>) {
    return requires {
        T{(static_cast<void>(I), Anything{})...};
    };
}

/// The number of members of an aggregate: the longest brace list that it takes.
template <class T, std::size_t N = 0>
constexpr std::size_t member_count() {
    if constexpr (braces_take<T>(std::make_index_sequence<N + 1>{})) {
        return member_count<T, N + 1>();
    } else {
        return N;
    }
}

/// fields() of T and of every struct below it lists every member; a compile error names the struct that does
/// not.
template <class T>
constexpr bool lists_every_member() {
    using namespace model_json;
    if constexpr (is_a<T, Fact>) {
        return lists_every_member<typename T::value_type>();
    } else if constexpr (is_a<T, std::vector> || is_a<T, std::optional>) {
        return lists_every_member<typename T::value_type>();
    } else if constexpr (HasFields<T>) {
        static_assert(T::fields(CountFields{}) == member_count<T>(), "a member is not in fields()");
        return T::fields([]<class... Members>(const Field<T, Members>&...) {
            return (lists_every_member<Members>() && ...);
        });
    } else {
        return true;
    }
}

/// Fills every member with a value that no other member has, as far as its type allows.
class Filler {
  public:
    /// `known` false: every Fact becomes a Missing of its own.
    explicit Filler(bool known) : known_(known) {}

    template <class T>
    [[gnu::noinline]] void fill(T& value) {
        using namespace model_json;
        ++count_;
        if constexpr (std::is_same_v<T, bool>) {
            value = true;
        } else if constexpr (std::is_integral_v<T>) {
            value = static_cast<T>(std::numeric_limits<T>::max() - static_cast<T>(count_ % 100));
        } else if constexpr (std::is_same_v<T, double>) {
            value = static_cast<double>(count_) + 0.1;
        } else if constexpr (std::is_same_v<T, std::string>) {
            value = "text \"\\\n\x1b\xc3\xa9 " + std::to_string(count_);
        } else if constexpr (std::is_enum_v<T>) {
            value = static_cast<T>(1 + count_ % (enum_size<T>() - 1));
        } else if constexpr (std::is_same_v<T, Bdf>) {
            value = Bdf{static_cast<std::uint32_t>(count_), 0xfe, 0x1f, 7};
        } else if constexpr (is_a<T, std::vector>) {
            value.resize(2);
            for (auto& element : value) fill(element);
        } else if constexpr (is_a<T, std::optional>) {
            fill(value.emplace());
        } else if constexpr (is_a<T, Fact>) {
            fill_fact(value);
        } else {
            T::fields([&](const auto&... field) { (fill(value.*field.member), ...); });
        }
    }
    std::size_t count() const { return count_; }

  private:
    template <class T>
    [[gnu::noinline]] void fill_fact(Fact<T>& fact) {
        const std::string source = "source " + std::to_string(count_);
        if (!known_) {
            fact = Missing{source, "why " + std::to_string(count_)};
            return;
        }
        T value{};
        fill(value);
        fact = Fact<T>(std::move(value), source);
    }

    template <class T>
    static std::size_t enum_size() {
        std::size_t size = 1;
        while (model_json::named(name_of(static_cast<T>(size)), static_cast<T*>(nullptr)) ==
               static_cast<T>(size))
            ++size;
        return size;
    }

    bool known_;
    std::size_t count_ = 0;
};

}  // namespace gpucheck::test
