// AWS Signature Version 4 (AWS General Reference, "Signing AWS API requests"): of our own, because
// libcurl 7.81's has faults in its canonical form (curl#7559) and does not sign the session token of a role.
#pragma once

#include <string>

#include "providers/crypto/hash.h"
#include "providers/http/http.h"

namespace gpucheck::aws {

struct Credentials {
    std::string access_key_id, secret_access_key;
    std::string session_token;  ///< of a role; empty: none
};

struct Scope {
    std::string region, service;  ///< "us-west-2", "ec2"
    std::string time;             ///< "20150830T123600Z"
};

/// Adds X-Amz-Date, X-Amz-Security-Token and Authorization. Signed are the host, Content-Type, the session
/// token and every header that the request has. Its URL must be encoded; its path is taken as it is.
void sign(http::Request& request, const Credentials& credentials, const Scope& scope,
          const crypto::Hash& hash);

}  // namespace gpucheck::aws
