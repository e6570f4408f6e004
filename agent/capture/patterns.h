// Recognises identities by their shape. Each function gives the length of what starts at `text[at]`, or 0;
// each knows the near-misses that GPU machines are full of: PCI addresses, driver versions, unit names.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpucheck::capture {

/// 8-4-4-4-12 hexadecimal digits.
std::size_t uuid_at(std::string_view text, std::size_t at);
/// Six (or, with the hardware type in front, seven) pairs of hexadecimal digits, or the 8 or 20 of
/// InfiniBand.
std::size_t mac_at(std::string_view text, std::size_t at);
/// Four groups of four hexadecimal digits: an InfiniBand GUID.
std::size_t guid_at(std::string_view text, std::size_t at);
/// A dotted quad that is no version: by its neighbours, its leading zeros and the word before it.
std::size_t ipv4_at(std::string_view text, std::size_t at);
/// Eight groups, or fewer around one "::". A PCI address ("0000:83:00.0") is none.
std::size_t ipv6_at(std::string_view text, std::size_t at);
/// name@domain.tld; "user@1000.service" and "buildd@builder" are none.
std::size_t email_at(std::string_view text, std::size_t at);

bool is_word_byte(char c);  ///< ASCII letter or digit

}  // namespace gpucheck::capture
