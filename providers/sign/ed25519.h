// Ed25519 keys (RFC 8032): by them a receiver knows that a report comes from the machine it names and says
// what that machine said.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace gpucheck::sign {

struct Error {
    std::string what;  ///< one sentence; never a part of a key
};

/// The seed is wiped from memory when the object goes.
class PrivateKey {
  public:
    explicit PrivateKey(const std::array<std::uint8_t, 32>& seed) : seed_(seed) {}
    ~PrivateKey();
    PrivateKey(const PrivateKey&) = default;
    PrivateKey& operator=(const PrivateKey&) = default;
    const std::array<std::uint8_t, 32>& seed() const { return seed_; }

  private:
    std::array<std::uint8_t, 32> seed_;
};

struct PublicKey {
    std::array<std::uint8_t, 32> bytes{};
    bool operator==(const PublicKey&) const = default;
};

/// PKCS#8 "PRIVATE KEY" and SubjectPublicKeyInfo "PUBLIC KEY" in PEM, as `openssl genpkey -algorithm ed25519`
/// and `openssl pkey -pubout` write them (RFC 8410, 7 and 4). Anything else, also an encrypted key, is an
/// error.
std::variant<PrivateKey, Error> private_key(std::string_view pem);
std::variant<PublicKey, Error> public_key(std::string_view pem);
std::string pem_of(const PrivateKey& key);
std::string pem_of(const PublicKey& key);
/// The SubjectPublicKeyInfo itself, without armour.
std::string der_of(const PublicKey& key);
std::variant<PublicKey, Error> public_key_of_der(std::string_view der);

/// These need libcrypto; the error says when it is not there.
std::variant<PublicKey, Error> public_of(const PrivateKey& key);
/// 64 bytes.
std::variant<std::string, Error> signature(const PrivateKey& key, std::string_view message);
std::variant<bool, Error> is_signature(const PublicKey& key, std::string_view message,
                                       std::string_view signature);
/// Lower-case hex.
std::variant<std::string, Error> sha256(std::string_view bytes);
/// SHA-256 of the SubjectPublicKeyInfo: what `openssl pkey -pubin -outform DER | sha256sum` prints.
std::variant<std::string, Error> key_id(const PublicKey& key);

}  // namespace gpucheck::sign
