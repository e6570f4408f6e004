// Takes the functions of an X-list out of a vendor library: a missing one that is required makes the library
// unfit, a missing optional one costs only what needs it.
#pragma once

#include <initializer_list>
#include <string>

#include "agent/vendor/library.h"

namespace gpucheck::gpu {

/// Sets `function`; adds the newest name to `lacking` when none is there and it is required.
template <class Function>
void take(const vendor::Library& library, Function*& function, bool required,
          std::initializer_list<const char*> names, std::string& lacking) {
    function = reinterpret_cast<Function*>(library.symbol(names));
    if (function != nullptr || !required) return;
    if (!lacking.empty()) lacking += ", ";
    lacking += *names.begin();
}

}  // namespace gpucheck::gpu
