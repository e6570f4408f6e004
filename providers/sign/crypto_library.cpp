// Opens libcrypto; see crypto_library.h.
#include "providers/sign/crypto_library.h"

#include "providers/opened_library.h"

namespace gpucheck::sign {
namespace {

constexpr const char* kInstall =
    "install OpenSSL's libcrypto (Debian, Ubuntu: apt-get install libssl3; RHEL, SUSE: openssl-libs)";

std::variant<CryptoLibrary, std::string> open_library() {
    std::string why;
    void* handle = open_first({"libcrypto.so.3", "libcrypto.so.1.1"}, kInstall, why);
    if (handle == nullptr) return why;
    CryptoLibrary crypto;
    const bool whole = take(handle, "EVP_PKEY_new_raw_private_key", crypto.new_private) &&
                       take(handle, "EVP_PKEY_new_raw_public_key", crypto.new_public) &&
                       take(handle, "EVP_PKEY_get_raw_public_key", crypto.get_public) &&
                       take(handle, "EVP_PKEY_free", crypto.free_key) &&
                       take(handle, "EVP_MD_CTX_new", crypto.new_context) &&
                       take(handle, "EVP_MD_CTX_free", crypto.free_context) &&
                       take(handle, "EVP_DigestSignInit", crypto.sign_init) &&
                       take(handle, "EVP_DigestSign", crypto.sign) &&
                       take(handle, "EVP_DigestVerifyInit", crypto.verify_init) &&
                       take(handle, "EVP_DigestVerify", crypto.verify) &&
                       take(handle, "EVP_Digest", crypto.digest) && take(handle, "EVP_sha256", crypto.sha256);
    if (!whole) return std::string("a libcrypto that lacks functions; ") + kInstall;
    return crypto;
}

}  // namespace

const std::variant<CryptoLibrary, std::string>& crypto_library() {
    static const std::variant<CryptoLibrary, std::string> library = open_library();
    return library;
}

}  // namespace gpucheck::sign
