// DSSE envelopes; see dsse.h.
#include "providers/sign/dsse.h"

#include <optional>

#include "checks/json/json.h"
#include "checks/specs/data_file.h"
#include "providers/sign/base64.h"

namespace gpucheck::sign {
namespace {

constexpr std::size_t kMostSignatures = 16;

const std::string* text_member(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

std::variant<Envelope::Signature, Error> read_signature(const Json& item) {
    if (!item.is_object()) return Error{"a signature that is no object"};
    const std::string* text = text_member(item, "sig");
    if (text == nullptr) return Error{"a signature without \"sig\""};
    std::optional<std::string> bytes = base64_decode(*text);
    if (!bytes) return Error{"a signature that is not base64"};
    const std::string* key = text_member(item, "keyid");
    const std::string* open = text_member(item, "public_key");
    std::optional<std::string> der = base64_decode(open != nullptr ? *open : std::string());
    if (!der) return Error{"a public key that is not base64"};
    return Envelope::Signature{key != nullptr ? key->substr(0, 128) : std::string(), *std::move(bytes),
                               *std::move(der)};
}

}  // namespace

std::string pre_authentication_encoding(std::string_view type, std::string_view payload) {
    std::string text = "DSSEv1 " + std::to_string(type.size()) + " ";
    text.append(type).append(" ").append(std::to_string(payload.size())).append(" ").append(payload);
    return text;
}

std::variant<std::string, Error> make_envelope(const PrivateKey& key, std::string_view type,
                                               std::string_view payload) {
    auto open = public_of(key);
    if (auto* error = std::get_if<Error>(&open)) return std::move(*error);
    auto id = key_id(*std::get_if<PublicKey>(&open));
    if (auto* error = std::get_if<Error>(&id)) return std::move(*error);
    auto bytes = signature(key, pre_authentication_encoding(type, payload));
    if (auto* error = std::get_if<Error>(&bytes)) return std::move(*error);
    // The type and the id need no escapes, base64 has nothing to escape.
    std::string text = R"({"payloadType":")" + std::string(type) + R"(","payload":")";
    text += base64(payload) + R"(","signatures":[{"keyid":")" + *std::get_if<std::string>(&id);
    text += R"(","sig":")" + base64(*std::get_if<std::string>(&bytes));
    // A receiver that enrols machines learns the key here; its SHA-256 is the keyid, so a wrong one shows.
    text += R"(","public_key":")" + base64(der_of(*std::get_if<PublicKey>(&open))) + "\"}]}\n";
    return text;
}

std::variant<Envelope, Error> open_envelope(std::string_view json) {
    // A member named twice is two readers' two reports: one would see the payload that another one does not.
    auto parsed = parse_data(json);
    if (const auto* error = std::get_if<std::string>(&parsed))
        return Error{"cut off, or not an envelope: " + error->substr(0, error->find("; last read"))};
    const Json& document = *std::get_if<Json>(&parsed);
    const char* const no_envelope = "not a DSSE envelope: ";
    if (!document.is_object()) return Error{std::string(no_envelope) + "no object"};
    const std::string* type = text_member(document, "payloadType");
    const std::string* payload = text_member(document, "payload");
    const auto signatures = document.find("signatures");
    if (type == nullptr || payload == nullptr || signatures == document.end() || !signatures->is_array()) {
        const bool bare = document.contains("report_id") && document.contains("verdict");
        return Error{std::string(no_envelope) + (bare ? "a report without a signature"
                                                      : "payloadType, payload or signatures are missing")};
    }
    if (signatures->size() > kMostSignatures) return Error{"more than 16 signatures"};
    std::optional<std::string> bytes = base64_decode(*payload);
    if (!bytes) return Error{"a payload that is not base64: cut off or changed"};
    Envelope envelope{*type, *std::move(bytes), {}};
    for (const Json& item : *signatures) {
        auto signature = read_signature(item);
        if (auto* error = std::get_if<Error>(&signature)) return std::move(*error);
        envelope.signatures.push_back(std::move(*std::get_if<Envelope::Signature>(&signature)));
    }
    return envelope;
}

std::variant<Verified, Error> verify(const Envelope& envelope, const PublicKey& key) {
    auto id = key_id(key);
    if (auto* error = std::get_if<Error>(&id)) return std::move(*error);
    Verified result{Trust::no_signature, std::move(*std::get_if<std::string>(&id))};
    if (envelope.type != kReportType) {
        result.trust = Trust::wrong_type;
        return result;
    }
    if (envelope.signatures.empty()) return result;
    const std::string message = pre_authentication_encoding(envelope.type, envelope.payload);
    bool named = false;
    for (const Envelope::Signature& each : envelope.signatures) {
        auto right = is_signature(key, message, each.bytes);  // the key id is a hint that nobody signed
        if (auto* error = std::get_if<Error>(&right)) return std::move(*error);
        if (*std::get_if<bool>(&right)) {
            result.trust = Trust::verified;
            return result;
        }
        named = named || each.key_id == result.key_id;
    }
    result.trust = named ? Trust::tampered : Trust::other_key;
    if (!named) result.key_id = envelope.signatures.front().key_id;
    return result;
}

}  // namespace gpucheck::sign
