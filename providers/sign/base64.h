// Base64 (RFC 4648) as DSSE and PEM need it: a decoder that forgives would let two texts be one signature.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpucheck::sign {

/// The standard alphabet with padding, on one line.
std::string base64(std::string_view bytes);
/// The standard or the URL-safe alphabet (DSSE allows both), with padding, nothing else. nullopt otherwise.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace gpucheck::sign
