// Text from machines is hostile: a control byte in a sysfs file must not clear a terminal, forge a line of a
// report or break a parser. Every renderer passes every string that is not its own through one of these.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpucheck::report {

inline constexpr std::size_t kLineBytes = 300;        ///< for people: text, Nagios, labels
inline constexpr std::size_t kPageBytes = 4096;       ///< HTML and JUnit
inline constexpr std::size_t kDocumentBytes = 16384;  ///< JSON

/// One line of valid UTF-8 without control, bidirectional, zero-width or unassignable characters: those
/// become visible
/// ("\x1b", "\u{202e}"), blanks of every kind become a space. Longer than `max_bytes`: cut, and says how long
/// it was.
std::string plain(std::string_view text, std::size_t max_bytes = kLineBytes);
/// `plain`, then safe in element content and quoted attributes of XML 1.0 and HTML.
std::string markup(std::string_view text, std::size_t max_bytes = kPageBytes);
/// `plain`, then safe inside the quotes of a Prometheus label value.
std::string label(std::string_view text, std::size_t max_bytes = kLineBytes);
/// Appends a quoted JSON string that no terminal obeys: like `plain`, but what JSON can carry is kept, as
/// \uXXXX. Bytes that are no UTF-8 become U+FFFD.
void append_json(std::string& out, std::string_view text, std::size_t max_bytes = kDocumentBytes);

/// Code points, which is what a table cell measures; the text must be `plain`.
std::size_t columns(std::string_view text);
/// At most `width` columns, the last two ".." when something was cut off.
std::string cut(std::string_view text, std::size_t width);

}  // namespace gpucheck::report
