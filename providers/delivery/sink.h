// Where reports go: a receiver, and what a request to it may and must carry. A token that goes to the wrong
// host, or in the clear, is somebody else's token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace gpucheck::delivery {

/// The token itself is never here: only where it is read, at each delivery.
struct Sink {
    std::string url;
    std::string token_file;        ///< path; empty: none
    std::string token_credential;  ///< file name in $CREDENTIALS_DIRECTORY (systemd); empty: none
    std::string ca_file;           ///< PEM; empty: the system's
    std::string pin;               ///< "sha256//BASE64" of the server's public key; empty: none
    double timeout_s = 10;
    bool insecure_http = false;        ///< http:// also beyond this machine's own link
    bool prove_identity = false;       ///< send the provider's proof of which instance speaks
    std::string enrolment_token_file;  ///< one-time token where the provider gives no proof; empty: none
    bool operator==(const Sink&) const = default;
    bool has_token() const { return !token_file.empty() || !token_credential.empty(); }
};

/// Why reports may not go there; empty: they may. https everywhere; http only to loopback and link-local
/// addresses, whose packets no router forwards, or where `insecure_http` says so, and then without a token.
std::string refusal_of(const Sink& sink);

/// "https://host:port/path": without the query, which may hold a secret. For people and logs.
std::string shown(std::string_view url);
/// 16 hexadecimal digits that stand for the URL in file names.
std::string key_of(std::string_view url);

/// FNV-1a, 64 bit: finds damage, not intent.
std::uint64_t fnv1a(std::string_view bytes);
std::string hex16(std::uint64_t value);

/// A bearer token and what is to be said about its file.
struct Token {
    std::string value;    ///< empty: the sink has none
    std::string warning;  ///< others may read the file
};
/// Reads it now. The error is a sentence without any part of it.
std::variant<Token, std::string> read_token(const Sink& sink);
/// The same of any file of a secret.
std::variant<Token, std::string> read_token_file(const std::string& path);

}  // namespace gpucheck::delivery
