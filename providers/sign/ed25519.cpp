// Ed25519 over libcrypto; see ed25519.h. PEM is read here and not by OpenSSL, whose reader asks the terminal
// for a passphrase.
#include "providers/sign/ed25519.h"

#include <string.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "providers/sign/base64.h"
#include "providers/sign/crypto_library.h"

namespace gpucheck::sign {
namespace {

// RFC 8410: these keys have one encoding each, a fixed head before 32 bytes.
constexpr std::string_view kPrivateHead("\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20",
                                        16);
constexpr std::string_view kPublicHead("\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", 12);
constexpr std::string_view kPrivateLabel = "PRIVATE KEY", kPublicLabel = "PUBLIC KEY";

std::string_view chars(const std::array<std::uint8_t, 32>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

std::string armour(std::string_view label, std::string_view der) {
    const std::string name(label);
    return "-----BEGIN " + name + "-----\n" + base64(der) + "\n-----END " + name + "-----\n";
}

// The 32 bytes of the PEM block with this label, after this head.
std::variant<std::array<std::uint8_t, 32>, Error> unarmour(std::string_view pem, std::string_view label,
                                                           std::string_view head) {
    const std::string begin = "-----BEGIN " + std::string(label) + "-----";
    const std::string end = "-----END " + std::string(label) + "-----";
    const std::size_t from = pem.find(begin);
    const std::size_t to = from == std::string_view::npos ? from : pem.find(end, from);
    if (to == std::string_view::npos) {
        if (label == kPublicLabel && pem.find("-----BEGIN PRIVATE KEY-----") != std::string_view::npos)
            return Error{"a private key where a public one belongs"};
        return Error{"no PEM block \"" + std::string(label) + "\""};
    }
    std::string text;
    for (const char c : pem.substr(from + begin.size(), to - from - begin.size()))
        if (c != '\n' && c != '\r' && c != ' ' && c != '\t') text += c;
    std::optional<std::string> der = base64_decode(text);
    ::explicit_bzero(text.data(), text.size());
    if (!der) return Error{"a PEM block that is not base64"};
    std::array<std::uint8_t, 32> key{};
    const bool fits = der->size() == head.size() + key.size() && der->compare(0, head.size(), head) == 0;
    if (fits) std::copy(der->end() - 32, der->end(), key.begin());
    ::explicit_bzero(der->data(), der->size());
    if (!fits) return Error{"not an Ed25519 key (make one: openssl genpkey -algorithm ed25519)"};
    return key;
}

struct Free {
    const CryptoLibrary* crypto = nullptr;
    void operator()(EVP_PKEY* key) const { crypto->free_key(key); }
    void operator()(EVP_MD_CTX* context) const { crypto->free_context(context); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Context = std::unique_ptr<EVP_MD_CTX, Free>;

const Error kBroken{"libcrypto does not do Ed25519 (a FIPS configuration?)"};

const Error* unavailable(const CryptoLibrary*& crypto) {
    static const std::optional<Error> error = [] {
        const auto* why = std::get_if<std::string>(&crypto_library());
        return why != nullptr ? std::optional<Error>(Error{*why}) : std::nullopt;
    }();
    crypto = std::get_if<CryptoLibrary>(&crypto_library());
    return error ? &*error : nullptr;
}

}  // namespace

PrivateKey::~PrivateKey() {
    ::explicit_bzero(seed_.data(), seed_.size());
}

std::variant<PrivateKey, Error> private_key(std::string_view pem) {
    const auto key = unarmour(pem, kPrivateLabel, kPrivateHead);
    if (const auto* error = std::get_if<Error>(&key)) return *error;
    return PrivateKey(*std::get_if<0>(&key));
}

std::variant<PublicKey, Error> public_key(std::string_view pem) {
    const auto key = unarmour(pem, kPublicLabel, kPublicHead);
    if (const auto* error = std::get_if<Error>(&key)) return *error;
    return PublicKey{*std::get_if<0>(&key)};
}

std::string pem_of(const PrivateKey& key) {
    return armour(kPrivateLabel, std::string(kPrivateHead) + std::string(chars(key.seed())));
}

std::string pem_of(const PublicKey& key) {
    return armour(kPublicLabel, std::string(kPublicHead) + std::string(chars(key.bytes)));
}

std::string der_of(const PublicKey& key) {
    return std::string(kPublicHead) + std::string(chars(key.bytes));
}

std::variant<PublicKey, Error> public_key_of_der(std::string_view der) {
    PublicKey key;
    if (der.size() != kPublicHead.size() + key.bytes.size() || !der.starts_with(kPublicHead))
        return Error{"not an Ed25519 key"};
    std::copy(der.end() - 32, der.end(), key.bytes.begin());
    return key;
}

std::variant<PublicKey, Error> public_of(const PrivateKey& key) {
    const CryptoLibrary* crypto = nullptr;
    if (const Error* error = unavailable(crypto)) return *error;
    const Key made(crypto->new_private(EVP_PKEY_ED25519, nullptr, key.seed().data(), 32), Free{crypto});
    PublicKey result;
    std::size_t size = result.bytes.size();
    if (!made || crypto->get_public(made.get(), result.bytes.data(), &size) != 1 || size != 32)
        return kBroken;
    return result;
}

std::variant<std::string, Error> signature(const PrivateKey& key, std::string_view message) {
    const CryptoLibrary* crypto = nullptr;
    if (const Error* error = unavailable(crypto)) return *error;
    const Key made(crypto->new_private(EVP_PKEY_ED25519, nullptr, key.seed().data(), 32), Free{crypto});
    const Context context(crypto->new_context(), Free{crypto});
    std::array<unsigned char, 64> bytes{};
    std::size_t size = bytes.size();
    const bool done =
        made && context && crypto->sign_init(context.get(), nullptr, nullptr, nullptr, made.get()) == 1 &&
        crypto->sign(context.get(), bytes.data(), &size, bytes_of(message), message.size()) == 1;
    if (!done || size != bytes.size()) return kBroken;
    return std::string(bytes.begin(), bytes.end());
}

std::variant<bool, Error> is_signature(const PublicKey& key, std::string_view message,
                                       std::string_view signature) {
    const CryptoLibrary* crypto = nullptr;
    if (const Error* error = unavailable(crypto)) return *error;
    const Key made(crypto->new_public(EVP_PKEY_ED25519, nullptr, key.bytes.data(), 32), Free{crypto});
    const Context context(crypto->new_context(), Free{crypto});
    if (!made || !context || crypto->verify_init(context.get(), nullptr, nullptr, nullptr, made.get()) != 1)
        return kBroken;
    return crypto->verify(context.get(), bytes_of(signature), signature.size(), bytes_of(message),
                          message.size()) == 1;
}

std::variant<std::string, Error> sha256(std::string_view bytes) {
    const CryptoLibrary* crypto = nullptr;
    if (const Error* error = unavailable(crypto)) return *error;
    std::array<unsigned char, 32> digest{};
    unsigned size = 0;
    if (crypto->digest(bytes.data(), bytes.size(), digest.data(), &size, crypto->sha256(), nullptr) != 1)
        return kBroken;
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    for (const unsigned char byte : digest) {
        hex += kDigits[byte >> 4U];
        hex += kDigits[byte & 15U];
    }
    return hex;
}

std::variant<std::string, Error> key_id(const PublicKey& key) {
    return sha256(der_of(key));
}

}  // namespace gpucheck::sign
