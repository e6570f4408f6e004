// libcrypto, opened when something is signed or verified: a run that delivers nothing must not pay for it,
// and a machine without it must still be judged.
//
// The release binary may need no library but libc (tests/rules/binary.py), because the distributions' OpenSSL
// have other sonames and a copy inside would miss their security updates. Linked, it would also cost each
// start: on Debian 12 (OpenSSL 3.0) the fastest of 100 starts of an empty program is 0.7 ms without and 1.8
// ms with it.
#pragma once

#include <openssl/evp.h>

#include <string>
#include <variant>

namespace gpucheck::sign {

/// The functions that we use, with the types that openssl/evp.h gives them; all are in OpenSSL 1.1.1 and 3.
struct CryptoLibrary {
    decltype(&::EVP_PKEY_new_raw_private_key) new_private = nullptr;
    decltype(&::EVP_PKEY_new_raw_public_key) new_public = nullptr;
    decltype(&::EVP_PKEY_get_raw_public_key) get_public = nullptr;
    decltype(&::EVP_PKEY_free) free_key = nullptr;
    decltype(&::EVP_MD_CTX_new) new_context = nullptr;
    decltype(&::EVP_MD_CTX_free) free_context = nullptr;
    decltype(&::EVP_DigestSignInit) sign_init = nullptr;
    decltype(&::EVP_DigestSign) sign = nullptr;
    decltype(&::EVP_DigestVerifyInit) verify_init = nullptr;
    decltype(&::EVP_DigestVerify) verify = nullptr;
    decltype(&::EVP_Digest) digest = nullptr;
    decltype(&::EVP_sha256) sha256 = nullptr;
};

/// Opens it once for the process; never closed. The text says what is missing and what to install.
const std::variant<CryptoLibrary, std::string>& crypto_library();

}  // namespace gpucheck::sign
