// gzip of what waits and travels: the report of eight GPUs is a tenth as large.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gpucheck::delivery {

/// nullopt: this build has no zlib, or no memory.
std::optional<std::string> compress(std::string_view bytes);
/// nullopt: damaged, cut off, followed by something, more than `most` bytes (which `too_large` tells), or no
/// zlib.
std::optional<std::string> decompress(std::string_view bytes, std::size_t most, bool* too_large = nullptr);

}  // namespace gpucheck::delivery
