// Base64; see base64.h.
#include "providers/sign/base64.h"

#include <array>
#include <cstdint>

namespace gpucheck::sign {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 0xff;

constexpr std::array<std::uint8_t, 256> decoding() {
    std::array<std::uint8_t, 256> table{};
    for (std::uint8_t& each : table) each = kNone;
    for (std::uint8_t i = 0; i < 64; ++i) table[static_cast<unsigned char>(kAlphabet[i])] = i;
    table[static_cast<unsigned char>('-')] = 62;
    table[static_cast<unsigned char>('_')] = 63;
    return table;
}
constexpr std::array<std::uint8_t, 256> kDecoding = decoding();

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
    return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
}

}  // namespace

std::string base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::uint32_t group =
            byte_at(bytes, i) << 16U | byte_at(bytes, i + 1) << 8U | byte_at(bytes, i + 2);
        text += kAlphabet[group >> 18U];
        text += kAlphabet[group >> 12U & 63U];
        text += i + 1 < bytes.size() ? kAlphabet[group >> 6U & 63U] : '=';
        text += i + 2 < bytes.size() ? kAlphabet[group & 63U] : '=';
    }
    return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    if (text.empty()) return std::string();
    const std::size_t padding =
        text.back() != '=' ? std::size_t{0} : std::size_t{text[text.size() - 2] == '=' ? 2U : 1U};
    std::string bytes(text.size() / 4 * 3 - padding, '\0');
    std::size_t at = 0;
    const auto value = [&text](std::size_t i) {
        return std::uint32_t{kDecoding[static_cast<unsigned char>(text[i])]};
    };
    // Reports are megabytes of it: whole groups without a branch for each byte, the last one by itself.
    std::size_t i = 0;
    for (; i + 4 < text.size(); i += 4) {
        const std::uint32_t a = value(i), b = value(i + 1), c = value(i + 2), d = value(i + 3);
        if ((a | b | c | d) > 63) return std::nullopt;
        const std::uint32_t group = a << 18U | b << 12U | c << 6U | d;
        bytes[at++] = static_cast<char>(group >> 16U);
        bytes[at++] = static_cast<char>(group >> 8U & 0xffU);
        bytes[at++] = static_cast<char>(group & 0xffU);
    }
    const std::size_t real = 4 - padding;
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 4; ++j) {
        const std::uint32_t bits = j < real ? value(i + j) : 0;
        if (bits > 63) return std::nullopt;
        group = group << 6U | bits;
    }
    for (std::size_t j = 0; j + 1 < real; ++j)
        bytes[at++] = static_cast<char>(group >> (16U - 8U * static_cast<unsigned>(j)) & 0xffU);
    // Bits that no byte takes must be zero, or the same bytes would have several texts.
    const std::uint32_t unused = real == 4 ? 0 : group & (real == 3 ? 0xffU : 0xffffU);
    if (unused != 0) return std::nullopt;
    return bytes;
}

}  // namespace gpucheck::sign
