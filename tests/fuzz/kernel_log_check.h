// What must hold for any bytes as a kernel log: no crash, bounded events, and the same answer however the
// bytes are cut and however they are searched. Shared by the libFuzzer target and by the bounded run of
// ctest.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpucheck::host {

/// Aborts (std::abort) when an invariant is broken.
void check_any_log(const std::uint8_t* data, std::size_t size);

}  // namespace gpucheck::host
