// What each provider gives as proof; see proof.h.
#include "providers/identity/proof.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "providers/identity/metadata.h"

namespace gpucheck::identity {
namespace {

using Given = std::variant<Proof, Missing>;

// Signed documents come as base64 in lines; a header takes one line.
std::string in_one_line(std::string text) {
    text.erase(
        std::remove_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == ' '; }),
        text.end());
    return text;
}

bool fits_a_header(std::string_view text) {
    constexpr std::size_t kMax = 16384;
    return !text.empty() && text.size() <= kMax &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

Given proof_of(const char* kind, std::variant<std::string, Missing> answer, std::string bound_to) {
    if (auto* missing = std::get_if<Missing>(&answer)) return std::move(*missing);
    std::string value = in_one_line(std::get<std::string>(std::move(answer)));
    if (!fits_a_header(value)) return Missing{kind, "malformed: not one line of ASCII"};
    return Proof{kind, std::move(value), std::move(bound_to)};
}

// PKCS #7 with SHA-256 that holds the identity document. It has neither nonce nor audience: the receiver
// checks pendingTime and the first use of an instance id.
Given of_aws(http::Client& client) {
    auto session = AwsSession::open(client);
    if (auto* missing = std::get_if<Missing>(&session)) return std::move(*missing);
    return proof_of("aws-rsa2048",
                    std::get<AwsSession>(session).get("/latest/dynamic/instance-identity/rsa2048"), {});
}

Given of_gcp(const Claim& claim, http::Client& client) {
    return proof_of("gcp-jwt",
                    gcp_get(client, "instance/service-accounts/default/identity?audience=" +
                                        http::percent_encoded(claim.audience) + "&format=full"),
                    claim.audience);
}

// The last ten decimal digits of the digest's first 64 bits.
std::string ten_digits(std::string_view hex) {
    std::uint64_t number = 0;
    for (const char c : hex.substr(0, 16))
        number = number * 16 + static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    std::string digits = std::to_string(number % 10'000'000'000ULL);
    return std::string(10 - digits.size(), '0') + digits;
}

// The service takes up to 32 letters and digits, its documentation promises ten digits: half of the digest
// where it is taken, else what is promised.
Given of_azure(const Claim& claim, http::Client& client) {
    Given given = Missing{"azure", "not looked at"};
    for (const std::string& nonce : {claim.report_sha256.substr(0, 32), ten_digits(claim.report_sha256)}) {
        auto document =
            azure_get(client, "/metadata/attested/document?api-version=2020-09-01&nonce=" + nonce);
        if (auto* missing = std::get_if<Missing>(&document)) {
            const bool refused = missing->why == "HTTP 400";
            given = std::move(*missing);
            if (refused) continue;
            return given;
        }
        return proof_of("azure-attested",
                        member_of(std::get<std::string>(document), "Azure attested document", "signature"),
                        nonce);
    }
    return given;
}

// Nebius gives no proof but a power: whoever has its token acts as the instance's service account.
std::optional<Given> of_provider(const Claim& claim, http::Client& client) {
    if (claim.provider == "aws") return of_aws(client);
    if (claim.provider == "gcp") return of_gcp(claim, client);
    if (claim.provider == "azure") return of_azure(claim, client);
    return std::nullopt;
}

bool is_digest(std::string_view text) {
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

// What is shown in the clear is somebody else's proof; nothing leaves the machine on its way to loopback.
bool private_way(std::string_view url) {
    for (const std::string_view begin : {"https://", "http://127.0.0.1:", "http://[::1]:"}) {
        if (url.substr(0, begin.size()) == begin) return true;
    }
    return false;
}

}  // namespace

std::variant<Proof, Missing> prove(const Claim& claim, http::Client& client) {
    if (claim.provider == "azure" && !is_digest(claim.report_sha256))
        return Missing{"the report's digest", "malformed"};
    if (!private_way(claim.audience)) return Missing{"the report's URL", "no proof is shown without TLS"};
    Given given = Missing{claim.provider.empty() ? "the provider" : claim.provider,
                          claim.provider.empty() ? "not known" : "gives no proof of identity"};
    if (auto from_provider = of_provider(claim, client)) given = std::move(*from_provider);
    if (std::holds_alternative<Proof>(given) || claim.enrolment_token.empty()) return given;
    if (!fits_a_header(claim.enrolment_token))
        return Missing{"the enrolment token", "malformed: not one line of ASCII"};
    return Proof{"enrolment-token", claim.enrolment_token, {}};
}

}  // namespace gpucheck::identity
