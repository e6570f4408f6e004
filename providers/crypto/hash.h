// SHA-256 and HMAC-SHA-256 by OpenSSL's libcrypto, opened at first use: a machine without it is judged all
// the same and only says that it cannot sign.
#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace gpucheck::sign {
struct CryptoLibrary;
}

namespace gpucheck::crypto {

/// Digests are 32 raw bytes.
class Hash {
  public:
    /// The text says what to install.
    static std::variant<Hash, std::string> open();

    std::string sha256(std::string_view text) const;
    std::string hmac_sha256(std::string_view key, std::string_view text) const;

  private:
    explicit Hash(const sign::CryptoLibrary& library) : library_(&library) {}
    const sign::CryptoLibrary* library_;
};

/// Hexadecimal, lower case.
std::string hex(std::string_view bytes);

}  // namespace gpucheck::crypto
