// Which matrix instructions a fake GPU has, by its architecture.
#pragma once

#include <string_view>

#include "kernels/matrix_shapes.h"

namespace gpucheck::fake {

/// "sm_90", "gfx942" as the drivers name them. `none`: no matrix unit that we know.
inline kernels::Target target_of(std::string_view architecture) {
    using kernels::Target;
    if (architecture.starts_with("gfx90a")) return Target::gfx90a;
    if (architecture.starts_with("gfx942")) return Target::gfx942;
    if (architecture.starts_with("gfx950")) return Target::gfx950;
    if (!architecture.starts_with("sm_") || architecture.size() < 5) return Target::none;
    unsigned number = 0;
    for (const char digit : architecture.substr(3)) {
        if (digit < '0' || digit > '9') break;
        number = number * 10 + static_cast<unsigned>(digit - '0');
        if (number > 100000) return Target::none;
    }
    if (number >= 89) return Target::sm89;
    return number >= 80 ? Target::sm80 : Target::none;
}

}  // namespace gpucheck::fake
