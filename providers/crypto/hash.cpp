// Hashes by libcrypto; see hash.h.
#include "providers/crypto/hash.h"

#include <dlfcn.h>
#include <openssl/evp.h>

#include <array>
#include <cstdlib>

namespace gpucheck::crypto {

struct Hash::Library {
    decltype(&::EVP_Digest) digest = nullptr;
    decltype(&::EVP_sha256) sha256 = nullptr;
};

std::variant<Hash, std::string> Hash::open() {
    static const Library library = [] {
        Library found;
        for (const char* soname : {"libcrypto.so.3", "libcrypto.so.1.1"}) {
            void* handle = ::dlopen(soname, RTLD_NOW | RTLD_LOCAL);
            if (handle == nullptr) continue;
            found.digest = reinterpret_cast<decltype(found.digest)>(::dlsym(handle, "EVP_Digest"));
            found.sha256 = reinterpret_cast<decltype(found.sha256)>(::dlsym(handle, "EVP_sha256"));
            break;
        }
        return found;
    }();
    if (library.digest == nullptr || library.sha256 == nullptr)
        return "libcrypto.so.3 is not usable here; install OpenSSL 3 (Debian, Ubuntu: apt-get install "
               "libssl3)";
    return Hash(library);
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
