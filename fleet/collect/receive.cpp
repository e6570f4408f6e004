// Judging a delivery; see receive.h.
#include "fleet/collect/receive.h"

#include <algorithm>

#include "agent/report/report_id.h"
#include "fleet/collect/report_head.h"
#include "fleet/model/read.h"
#include "fleet/read/envelope.h"
#include "providers/crypto/hash.h"
#include "providers/delivery/gzip.h"
#include "providers/sign/base64.h"
#include "providers/sign/dsse.h"

namespace gpucheck::fleet::collect {
namespace {

constexpr std::size_t kMostName = 1600;  // openapi.yaml: the longest ce-source

using Refused = std::optional<Refusal>;

std::string sha256(std::string_view text) {
    const auto hash = crypto::Hash::open();
    const auto* opened = std::get_if<crypto::Hash>(&hash);
    return opened == nullptr ? std::string() : opened->sha256(text);
}

// Databases and terminals refuse or obey control characters; no name of a machine needs one.
std::string plain(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return text;
}

Refused decode(const Delivery& delivery, std::size_t max_report_bytes, std::string& decoded) {
    // An envelope's base64 is a third longer than what is in it.
    const std::size_t most = max_report_bytes / 3 * 4 + 65536;
    if (delivery.content_encoding.empty() || delivery.content_encoding == "identity") {
        if (delivery.body.size() > most) return Refusal{413, "the report is too large"};
        decoded = delivery.body;
        return std::nullopt;
    }
    if (delivery.content_encoding != "gzip") return Refusal{415, "only gzip and identity are taken"};
    bool too_large = false;
    auto whole = delivery::decompress(delivery.body, most, &too_large);
    if (too_large) return Refusal{413, "the report is too large when it is decompressed"};
    if (!whole) return Refusal{400, "the gzip stream is damaged or cut off"};
    decoded = *std::move(whole);
    return std::nullopt;
}

// Whose signature it is, as far as that can be said without the database. A signature that names a key which
// is here and does not fit is forged.
Refused check_signature(const sign::Envelope& envelope, const TrustedKeys& keys, Incoming& into,
                        std::string& only_machine) {
    const std::string message = sign::pre_authentication_encoding(envelope.type, envelope.payload);
    for (const auto& each : envelope.signatures) {
        const auto known = keys.find(each.key_id);
        const bool here = known != keys.end();
        sign::PublicKey key;
        if (here) {
            key = known->second.key;
        } else {
            auto own = sign::public_key_of_der(each.public_key);
            if (std::holds_alternative<sign::Error>(own)) continue;
            key = *std::get_if<sign::PublicKey>(&own);
            const auto id = sign::key_id(key);
            const auto* text = std::get_if<std::string>(&id);
            if (text == nullptr || *text != each.key_id)
                return Refusal{403, "the envelope's public key is not the one that its keyid names"};
        }
        const auto right = sign::is_signature(key, message, each.bytes);
        if (std::holds_alternative<sign::Error>(right))
            return Refusal{500, "signatures cannot be checked here"};
        if (!*std::get_if<bool>(&right)) return Refusal{403, "the signature does not verify"};
        const bool better = here || into.signer == Signer::none;
        if (!better) continue;
        into.signer = here ? Signer::trusted : Signer::own;
        into.key_id = each.key_id;
        into.public_key = sign::base64(sign::der_of(key));
        only_machine = here ? known->second.machine : std::string();
        if (here) break;
    }
    if (into.signer == Signer::none && !envelope.signatures.empty())
        into.key_id = plain(envelope.signatures.front().key_id);
    return std::nullopt;
}

Refused unwrap(const Delivery& delivery, const TrustedKeys& keys, std::string& decoded, Incoming& into,
               std::string& only_machine) {
    if (delivery.content_type == sign::kReportType) return std::nullopt;
    if (delivery.content_type != sign::kEnvelopeType)
        return Refusal{415, "only " + std::string(sign::kEnvelopeType) + " and " +
                                std::string(sign::kReportType) + " are taken"};
    auto opened = open_envelope(decoded);
    if (const auto* why = std::get_if<sign::Error>(&opened)) return Refusal{400, plain(why->what)};
    auto& envelope = *std::get_if<sign::Envelope>(&opened);
    if (envelope.type != sign::kReportType) return Refusal{400, "the envelope holds no gpucheck report"};
    if (auto refused = check_signature(envelope, keys, into, only_machine)) return refused;
    decoded = std::move(envelope.payload);
    return std::nullopt;
}

// What the fleet's own reader makes of it: what it cannot read must not be answered 201.
Refused read_report(const std::string& report, Incoming& into) {
    Fleet fleet;
    if (auto why = add_document(fleet, report, ReadOptions{}))
        return Refusal{400, plain(*why).substr(0, 300)};
    if (fleet.reports.size() != 1) return Refusal{400, "not one report"};
    const NodeReport& read = fleet.reports.front();
    if (read.report_id != into.report_id) return Refusal{400, "its report_id cannot be read"};
    into.node = plain(read.node);
    into.machine = plain(read.key);
    const std::string& provider = fleet.names.text(read.provider);
    into.names_instance = !provider.empty() && read.key.starts_with(provider + "/");
    if (into.node.size() > kMostName || into.machine.size() > kMostName)
        return Refusal{400, "the machine's name is too long"};
    return std::nullopt;
}

Refused fill(const Delivery& delivery, const ReceiveRules& rules, const std::string& report,
             const std::string& only_machine, Incoming& into) {
    auto head = report_head(report);
    if (const auto* why = std::get_if<std::string>(&head)) return Refusal{400, plain(*why)};
    const auto& read = *std::get_if<ReportHead>(&head);
    if (read.report_id != delivery.idempotency_key)
        return Refusal{400, "Idempotency-Key is not the report_id"};
    if (!delivery.event_id.empty() && delivery.event_id != read.report_id)
        return Refusal{400, "ce-id is not the report_id"};
    into.report_id = read.report_id;
    into.created = read.created;
    into.verdict = read.verdict;
    into.simulated = read.simulated;
    const std::int64_t now_s = into.received_ms / 1000;
    into.at = report::rfc3339_utc(std::min(report::unix_seconds(read.created).value_or(now_s), now_s));
    if (auto refused = read_report(report, into)) return refused;
    // By the provider's id where the report has one: a host name is whatever its owner likes.
    // Who is known by a key or a token may not know his own id, after a boot without the metadata service.
    const auto& by_token = delivery.token_machine;
    if (!only_machine.empty() && !speaks_for(only_machine, into))
        return Refusal{403, "this key speaks for another machine"};
    const bool agree = only_machine.empty() || by_token.empty() || only_machine == by_token;
    if (!agree || (!by_token.empty() && !speaks_for(by_token, into)))
        return Refusal{403, "this token may not report for this machine"};
    if (!by_token.empty()) into.machine = by_token;
    if (!only_machine.empty()) into.machine = only_machine;
    if (delivery.identity_kind == "enrolment-token") {
        const auto* token = rules.credentials.find_enrolment(delivery.identity);
        const bool expired = token != nullptr && token->expires_s > 0 && token->expires_s < now_s;
        // A token that was taken out of the file comes with each later report of its machine.
        if (token != nullptr && !expired)
            into.enrolment = Enrolment{crypto::hex(token->sha256), token->machine};
    }
    return std::nullopt;
}

}  // namespace

std::variant<Incoming, Refusal> receive(Delivery delivery, const ReceiveRules& rules, std::int64_t now_ms) {
    if (!report::is_report_id(delivery.idempotency_key))
        return Refusal{400, "Idempotency-Key is missing or no UUID in lower case"};
    Incoming into;
    into.received_ms = now_ms;
    into.refuse_unverified = rules.refuse_unverified;
    into.keyed = rules.keyed;
    std::string decoded, only_machine;
    if (auto refused = decode(delivery, rules.max_report_bytes, decoded)) return *refused;
    into.digest = sha256(decoded);
    if (into.digest.empty()) return Refusal{500, "libcrypto cannot be used here"};
    if (auto refused = unwrap(delivery, rules.keys, decoded, into, only_machine)) return *refused;
    if (decoded.size() > rules.max_report_bytes) return Refusal{413, "the report is too large"};
    if (auto refused = fill(delivery, rules, decoded, only_machine, into)) return *refused;
    into.token = std::move(delivery.token);
    into.content_type = std::move(delivery.content_type);
    into.gzip = delivery.content_encoding == "gzip";
    into.body = std::move(delivery.body);
    return into;
}

Refusal answer_of(Taken taken) {
    switch (taken) {
        case Taken::added:
            return {201, {}};
        case Taken::known:
            return {200, {}};
        case Taken::conflict:
            return {409, "another report has this id"};
        case Taken::not_verified:
            return {403, "the report is not signed by a key that is known here"};
        case Taken::other_machine:
            return {403, "this key speaks for another machine"};
        case Taken::key_replaced:
            return {403, "the machine has enrolled another key since"};
        case Taken::machine_has_key:
            return {403, "the machine has enrolled a key, and this report is not signed by it"};
        case Taken::enrolment_refused:
            return {403, "the enrolment token was used or is for another machine"};
        case Taken::unreadable:
            break;
    }
    return {500, "the report cannot be stored"};
}

}  // namespace gpucheck::fleet::collect
