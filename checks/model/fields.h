// The list of members of a plain struct, written once beside the struct, so that JSON, comparison and tests
// cannot disagree about what a snapshot contains.
#pragma once

#include <string_view>
#include <tuple>

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

}  // namespace gpucheck

/// One entry of a `static constexpr auto fields()` list: GPUCHECK_FIELD(Bar, size).
#define GPUCHECK_FIELD(Struct, member) ::gpucheck::make_field(#member, &Struct::member)
