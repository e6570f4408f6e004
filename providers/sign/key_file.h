// This machine's key on disk: made once, readable by its owner alone, so that nobody else can sign a healthy
// report for a sick machine.
#pragma once

#include <string>
#include <variant>

#include "providers/sign/ed25519.h"

namespace gpucheck::sign {

struct LoadedKey {
    PrivateKey key;
    std::string path;
    std::string warning;  ///< others may read it; empty: fine
};

/// The private key in `path`, which must be there.
std::variant<LoadedKey, Error> load_key(const std::string& path);
/// The key.pem of `folder`; the first call makes it, mode 0600. Of several processes that make it at once one
/// wins and all get its key.
std::variant<LoadedKey, Error> own_key(const std::string& folder);

}  // namespace gpucheck::sign
