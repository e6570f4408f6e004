// Envelopes by simdjson; see envelope.h.
#include "fleet/read/envelope.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <optional>

#include "providers/sign/base64.h"

namespace gpucheck::fleet {
namespace {

namespace dom = simdjson::dom;
using sign::Envelope, sign::Error;

constexpr std::size_t kMostSignatures = 16, kMostMembers = 64, kMostDepth = 16;

// A member named twice is two readers' two reports.
bool repeats(const dom::object& object) {
    std::array<std::string_view, kMostMembers> names;
    std::size_t count = 0;
    for (const auto& field : object) {
        if (count == names.size()) return true;
        const auto end = names.begin() + static_cast<std::ptrdiff_t>(count);
        if (std::find(names.begin(), end, field.key) != end) return true;
        names[count++] = field.key;
    }
    return false;
}

std::optional<std::string_view> text_member(const dom::object& object, std::string_view name) {
    std::string_view value;
    if (object.at_key(name).get(value) != simdjson::SUCCESS) return std::nullopt;
    return value;
}

std::variant<Envelope::Signature, Error> read_signature(dom::element item) {
    dom::object object;
    if (item.get(object) != simdjson::SUCCESS || repeats(object))
        return Error{"a signature that is no object"};
    const auto text = text_member(object, "sig");
    auto bytes = text ? sign::base64_decode(*text) : std::nullopt;
    if (!bytes) return Error{"a signature that is not base64"};
    auto key = sign::base64_decode(text_member(object, "public_key").value_or(std::string_view()));
    if (!key) return Error{"a public key that is not base64"};
    const std::string_view id = text_member(object, "keyid").value_or(std::string_view());
    return Envelope::Signature{std::string(id.substr(0, 128)), *std::move(bytes), *std::move(key)};
}

}  // namespace

std::variant<Envelope, Error> open_envelope(std::string_view json) {
    dom::parser parser;
    dom::element document;
    dom::object object;
    if (parser.allocate(std::max<std::size_t>(json.size(), 1), kMostDepth) != simdjson::SUCCESS)
        return Error{"not enough memory to read it"};
    if (parser.parse(json.data(), json.size(), true).get(document) != simdjson::SUCCESS)
        return Error{"cut off, or not an envelope: no JSON"};
    if (document.get(object) != simdjson::SUCCESS) return Error{"not a DSSE envelope: no object"};
    if (repeats(object)) return Error{"not a DSSE envelope: a member is there twice"};
    const auto type = text_member(object, "payloadType");
    const auto payload = text_member(object, "payload");
    dom::array signatures;
    if (!type || !payload || object.at_key("signatures").get(signatures) != simdjson::SUCCESS)
        return Error{"not a DSSE envelope: payloadType, payload or signatures are missing"};
    auto bytes = sign::base64_decode(*payload);
    if (!bytes) return Error{"a payload that is not base64: cut off or changed"};
    Envelope envelope{std::string(*type), *std::move(bytes), {}};
    for (const dom::element item : signatures) {
        if (envelope.signatures.size() == kMostSignatures) return Error{"more than 16 signatures"};
        auto signature = read_signature(item);
        if (auto* error = std::get_if<Error>(&signature)) return std::move(*error);
        envelope.signatures.push_back(std::move(*std::get_if<Envelope::Signature>(&signature)));
    }
    return envelope;
}

}  // namespace gpucheck::fleet
