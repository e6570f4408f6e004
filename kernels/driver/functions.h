// Takes the functions of an X-list out of a vendor library: a missing one that is required makes the library
// unfit, a missing optional one costs only what needs it.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "agent/vendor/library.h"

namespace gpucheck::gpu {

/// One function of a vendor's library. nullptr: the library does not have it.
template <class Signature>
struct Call {
    std::string_view name;  ///< for messages
    Signature* function = nullptr;
};

/// "cuMemAlloc" of "cuMemAlloc_v2": what the manuals call it.
constexpr std::string_view plain_name(std::string_view symbol) {
    for (const std::string_view suffix : {"_v2", "R0600"}) {
        if (symbol.ends_with(suffix)) symbol.remove_suffix(suffix.size());
    }
    return symbol;
}

/// Sets `call`; adds its newest name to `lacking` when none is there and it is required.
template <class Signature>
void take(const vendor::Library& library, Call<Signature>& call, bool required,
          std::initializer_list<const char*> names, std::string& lacking) {
    call.name = plain_name(*names.begin());
    call.function = reinterpret_cast<Signature*>(library.symbol(names));
    if (call.function != nullptr || !required) return;
    if (!lacking.empty()) lacking += ", ";
    lacking += *names.begin();
}

// For X-lists of X(member, required, return type, (parameters), names newest first).
#define GPUCHECK_CALL_MEMBER(member, required, result, parameters, ...) Call<result parameters> member;
#define GPUCHECK_CALL_TAKE(member, required, result, parameters, ...) \
    take(library, functions.member, required, {__VA_ARGS__}, lacking);

}  // namespace gpucheck::gpu
