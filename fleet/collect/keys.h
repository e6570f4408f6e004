// Public keys that the operator trusts, from a folder: by them a report is more than a claim.
#pragma once

#include <map>
#include <string>
#include <variant>

#include "providers/sign/ed25519.h"

namespace gpucheck::fleet::collect {

struct TrustedKey {
    sign::PublicKey key;
    std::string machine;  ///< "machine: aws/i-0abc" before the PEM block: it speaks for that one alone
};
/// By key id.
using TrustedKeys = std::map<std::string, TrustedKey, std::less<>>;

/// Every *.pem of the folder; one that is no public key is an error that names it, and so is a private key.
/// An empty `folder` holds none.
std::variant<TrustedKeys, std::string> read_keys(const std::string& folder);

}  // namespace gpucheck::fleet::collect
