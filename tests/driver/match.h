// Whether a function that we declare by hand takes what the vendor's header says.
#pragma once

#include <type_traits>

#include "kernels/driver/functions.h"

namespace gpucheck::gpu::test {

// Opaque pointers and enums are void* and int with us: the same in a register, which is all that a call sees.
template <class Ours, class Theirs>
constexpr bool kSame = std::is_same_v<Ours, Theirs> ||
                       (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) ||
                       (std::is_same_v<Ours, int> && std::is_enum_v<Theirs> && sizeof(Theirs) == sizeof(int));

template <class Ours, class Theirs>
struct Match : std::false_type {};
template <class R, class... A, class S, class... B>
struct Match<Call<R(A...)>, S(B...)> {
    static constexpr bool value = [] {
        if constexpr (sizeof...(A) != sizeof...(B))
            return false;
        else
            return kSame<R, S> && (kSame<A, B> && ...);
    }();
};
template <class R, class... A, class S, class... B>
struct Match<Call<R(A...)>, S(B...) noexcept> : Match<Call<R(A...)>, S(B...)> {};

template <class Ours, class Theirs>
inline constexpr bool kMatches = Match<Ours, Theirs>::value;

}  // namespace gpucheck::gpu::test
