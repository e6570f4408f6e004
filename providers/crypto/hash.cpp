// Hashes by libcrypto; see hash.h.
#include "providers/crypto/hash.h"

#include <array>
#include <cstdlib>

#include "providers/sign/crypto_library.h"

namespace gpucheck::crypto {

std::variant<Hash, std::string> Hash::open() {
    const auto& library = sign::crypto_library();
    if (const auto* why = std::get_if<std::string>(&library)) return *why;
    return Hash(std::get<sign::CryptoLibrary>(library));
}

std::string Hash::sha256(std::string_view text) const {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    // It fails only when memory has run out, and a wrong signature would be worse than none.
    if (library_->digest(text.data(), text.size(), digest.data(), &length, library_->sha256(), nullptr) != 1)
        std::abort();
    return {reinterpret_cast<const char*>(digest.data()), length};
}

// RFC 2104 over blocks of 64 bytes.
std::string Hash::hmac_sha256(std::string_view key, std::string_view text) const {
    constexpr std::size_t kBlock = 64;
    std::string inner = key.size() > kBlock ? sha256(key) : std::string(key);
    inner.resize(kBlock, '\0');
    std::string outer = inner;
    for (char& c : inner) c = static_cast<char>(static_cast<unsigned char>(c) ^ 0x36U);
    for (char& c : outer) c = static_cast<char>(static_cast<unsigned char>(c) ^ 0x5cU);
    return sha256(outer + sha256(inner.append(text)));
}

std::string hex(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        text += kDigits[static_cast<unsigned char>(byte) >> 4U];
        text += kDigits[static_cast<unsigned char>(byte) & 15U];
    }
    return text;
}

}  // namespace gpucheck::crypto
