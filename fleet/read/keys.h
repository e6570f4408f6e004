// The public keys whose signatures count: a fleet that believes any signature believes any machine.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "fleet/read/members.h"
#include "providers/sign/ed25519.h"

namespace gpucheck::fleet {

using Keys = std::map<std::string, sign::PublicKey, std::less<>>;  ///< by key id

/// All *.pem and *.pub of a folder; one that is no Ed25519 public key is an error, as is a folder without
/// any.
std::variant<Keys, std::string> load_keys(const std::string& folder);

struct Opened {
    std::string payload;
    bool verified = false;
};
/// The report in an envelope; a flaw when a key of ours signed something else. `keys` may be empty.
Opened open_signed(std::string_view envelope, const Keys& keys, Flaw& flaw);

}  // namespace gpucheck::fleet
