// JSON from strangers, parsed within bounds: depth, size and encoding are checked before any value is built.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>

namespace gpucheck {

using Json = nlohmann::ordered_json;

struct JsonError {
    std::string what;  ///< one sentence with line and column where known
};

inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonBytes = std::size_t{64} * 1024 * 1024;

/// Parses one JSON document. Nesting deeper than `max_depth`, invalid UTF-8, trailing text and anything else
/// that RFC 8259 forbids is an error. Does not throw.
std::variant<Json, JsonError> parse_json(std::string_view text, std::size_t max_depth = kMaxJsonDepth);

/// Serialises; invalid UTF-8 in strings is replaced by U+FFFD instead of throwing. `indent` < 0 gives one
/// line.
std::string dump_json(const Json& value, int indent = 2);

}  // namespace gpucheck
