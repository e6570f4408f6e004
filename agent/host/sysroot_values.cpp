// Turns one-line files into values or the reason why not, so that no reader invents its own idea of a number.
#include <charconv>
#include <optional>

#include "agent/host/sysroot.h"

namespace gpucheck::host {
namespace {

template <class Number>
std::optional<Number> whole_number(std::string_view text, int base) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value, base);
    if (result.ec != std::errc{} || result.ptr != end || text.empty()) return std::nullopt;
    return value;
}

Missing malformed(const Fact<std::string>& line) {
    return {line.source(), "malformed: '" + line.value().substr(0, 40) + "'"};
}

}  // namespace

Fact<std::string> Sysroot::read_line(std::string_view path) const {
    Fact<std::string> content = read(path);
    if (!content.known()) return content;
    const std::string_view text = content.value();
    const std::string_view line = trim(text.substr(0, text.find('\n')));
    if (!is_text(line)) return Missing{content.source(), "malformed: not text"};
    if (line.empty()) return Missing{content.source(), "empty"};
    return Fact<std::string>(std::string(line), content.source());
}

Fact<std::uint64_t> Sysroot::read_u64(std::string_view path) const {
    const Fact<std::string> line = read_line(path);
    if (!line.known()) return line.missing();
    std::string_view text = line.value();
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    if (hex) text.remove_prefix(2);
    if (const auto value = whole_number<std::uint64_t>(text, hex ? 16 : 10)) {
        return Fact<std::uint64_t>(*value, line.source());
    }
    return malformed(line);
}

Fact<int> Sysroot::read_int(std::string_view path) const {
    const Fact<std::string> line = read_line(path);
    if (!line.known()) return line.missing();
    if (const auto value = whole_number<int>(line.value(), 10)) return Fact<int>(*value, line.source());
    return malformed(line);
}

Fact<std::uint16_t> Sysroot::read_hex16(std::string_view path) const {
    const Fact<std::string> line = read_line(path);
    if (!line.known()) return line.missing();
    std::string_view text = line.value();
    if (text.starts_with("0x")) text.remove_prefix(2);
    const auto value = text.size() <= 4 ? whole_number<std::uint16_t>(text, 16) : std::nullopt;
    if (!value) return malformed(line);
    return Fact<std::uint16_t>(*value, line.source());
}

}  // namespace gpucheck::host
