// Parses and prints PCI addresses; see bdf.h for the accepted spellings.
#include "checks/model/bdf.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace gpucheck {
namespace {

bool parse_hex(std::string_view text, std::size_t min_digits, std::size_t max_digits, std::uint32_t limit,
               std::uint32_t& out) {
    if (text.size() < min_digits || text.size() > max_digits) return false;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, out, 16);
    return result.ec == std::errc{} && result.ptr == end && out <= limit;
}

}  // namespace

std::optional<Bdf> Bdf::parse(std::string_view text) {
    std::uint32_t domain = 0, bus = 0, device = 0, function = 0;
    const std::size_t last = text.rfind(':');
    if (last == std::string_view::npos) return std::nullopt;
    std::string_view tail = text.substr(last + 1);
    std::string_view head = text.substr(0, last);

    const std::size_t dot = tail.find('.');
    if (dot != std::string_view::npos) {
        if (!parse_hex(tail.substr(dot + 1), 1, 1, 7, function)) return std::nullopt;
        tail = tail.substr(0, dot);
    }
    if (!parse_hex(tail, 2, 2, 31, device)) return std::nullopt;

    const std::size_t colon = head.find(':');
    if (colon != std::string_view::npos) {
        if (!parse_hex(head.substr(0, colon), 4, 8, 0xffffffff, domain)) return std::nullopt;
        head = head.substr(colon + 1);
    }
    if (!parse_hex(head, 2, 2, 0xff, bus)) return std::nullopt;
    return Bdf{domain, static_cast<std::uint8_t>(bus), static_cast<std::uint8_t>(device),
               static_cast<std::uint8_t>(function)};
}

Bdf Bdf::from_kfd(std::uint32_t location_id, std::uint32_t domain) {
    return Bdf{domain, static_cast<std::uint8_t>((location_id >> 8) & 0xff),
               static_cast<std::uint8_t>((location_id >> 3) & 0x1f),
               static_cast<std::uint8_t>(location_id & 0x7)};
}

std::string Bdf::str() const {
    std::array<char, 24> buffer{};
    const int length = std::snprintf(buffer.data(), buffer.size(), "%04x:%02x:%02x.%x", domain, bus, device,
                                     static_cast<unsigned>(function));
    return std::string(buffer.data(), static_cast<std::size_t>(length));
}

}  // namespace gpucheck
