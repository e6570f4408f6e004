// The list of members of a plain struct, written once beside the struct, so that JSON, comparison and tests
// cannot disagree about what a snapshot contains.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpucheck {

template <class Struct, class Member>
struct Field {
    std::string_view name;
    Member Struct::*member;
};

template <class Struct, class Member>
constexpr Field<Struct, Member> make_field(std::string_view name, Member Struct::*member) {
    return {name, member};
}

/// The number of members that fields() lists: Host::fields(CountFields{}).
struct CountFields {
    template <class... Members>
    constexpr std::size_t operator()(const Members&...) const {
        return sizeof...(Members);
    }
};

/// A struct that lists its members.
template <class T>
concept HasFields = requires {
    T::fields(CountFields{});
};

}  // namespace gpucheck

/// One entry of a struct's list, which calls what it is given with all of them at once:
///   template <class Visit>
///   static constexpr auto fields(Visit visit) {
///       return visit(GPUCHECK_FIELD(Bar, index), GPUCHECK_FIELD(Bar, size));
///   }
/// A template, because most files that see a struct never ask for its members: as a std::tuple, made in each
/// of them, the lists were two thirds of what the compiler did there.
#define GPUCHECK_FIELD(Struct, member) ::gpucheck::make_field(#member, &Struct::member)
