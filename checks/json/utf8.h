// What is text and what is not: bytes of sysfs and logs that are no UTF-8 must neither break a report nor be
// lost.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpucheck {

/// Length of the well-formed UTF-8 sequence that starts at text[at] (RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF); 0 when there is none.
std::size_t utf8_length(std::string_view text, std::size_t at);
/// The code point of the sequence at text[at]; `length` is what utf8_length said, 1 to 4.
char32_t utf8_decode(std::string_view text, std::size_t at, std::size_t length);
/// True when the whole text is well-formed.
bool is_utf8(std::string_view text);

}  // namespace gpucheck
