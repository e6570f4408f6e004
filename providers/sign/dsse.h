// DSSE envelopes: a report and its signature in one document, so that neither a proxy nor a receiver's
// database can change a verdict unseen. https://github.com/secure-systems-lab/dsse, protocol.md 1.0.2.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "providers/sign/ed25519.h"

namespace gpucheck::sign {

inline constexpr std::string_view kReportType = "application/vnd.gpucheck.report+json";
inline constexpr std::string_view kEnvelopeType = "application/vnd.dsse.envelope.v1+json";

/// "DSSEv1" SP LEN(type) SP type SP LEN(payload) SP payload: what is signed.
std::string pre_authentication_encoding(std::string_view type, std::string_view payload);

/// One line of JSON.
std::variant<std::string, Error> make_envelope(const PrivateKey& key, std::string_view type,
                                               std::string_view payload);

/// What is in an envelope, believed by nobody yet.
struct Envelope {
    std::string type, payload;
    struct Signature {
        std::string key_id, bytes;
        std::string public_key;  ///< SubjectPublicKeyInfo, where the envelope carries it: a claim as well
    };
    std::vector<Signature> signatures;
};
/// The error says what it is instead: cut off, no JSON, no envelope.
std::variant<Envelope, Error> open_envelope(std::string_view json);

enum class Trust : std::uint8_t {
    verified,    ///< the payload is what the key's owner signed
    wrong_type,  ///< signed or not: it is not a gpucheck report
    no_signature,
    other_key,  ///< no signature by this key; `key_id` says whose there is
    tampered,   ///< a signature by this key, over something else
};
struct Verified {
    Trust trust = Trust::no_signature;
    std::string key_id;  ///< of the given key; other_key: what the envelope names
};
std::variant<Verified, Error> verify(const Envelope& envelope, const PublicKey& key);

}  // namespace gpucheck::sign
