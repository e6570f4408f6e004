// Proof of which instance speaks, so that nobody can take a healthy host out of service, or hide a sick one,
// by posting a report in another instance's name.
#pragma once

#include <string>
#include <variant>

#include "checks/model/fact.h"
#include "providers/http/http.h"

namespace gpucheck::identity {

/// What is to be proven, to whom.
struct Claim {
    std::string provider;       ///< "aws", "gcp", "azure", ... as in Instance::provider
    std::string audience;       ///< the URL that the report goes to
    std::string report_sha256;  ///< Azure: of the bytes that are delivered, 64 lower case hexadecimal digits
    std::string enrolment_token;  ///< one-time token that the operator gave; empty: none
};

/// Goes to the receiver of the report and nowhere else: never into a log, a report or the spool. It is made
/// anew for each attempt, because it ends with its minute (GCP: an hour) or its first use.
struct Proof {
    std::string kind;      ///< "aws-rsa2048", "gcp-jwt", "azure-attested", "enrolment-token"
    std::string value;     ///< printable ASCII without blanks: fits a header
    std::string bound_to;  ///< the audience or the nonce that it holds; empty: bound to nothing, replayable
};

/// Asks the provider's metadata service, within a few seconds. The Missing names what was asked and what came
/// instead; it holds no secret. An enrolment token is used where the provider has no proof or gives none.
std::variant<Proof, Missing> prove(const Claim& claim, http::Client& client);

}  // namespace gpucheck::identity
