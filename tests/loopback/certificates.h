// Keys and certificates of one Authority.
#pragma once

#include <openssl/ssl.h>

#include <string>

#include "tests/loopback/loopback.h"

namespace gpucheck::loopback {

struct Authority::Keys {
    EVP_PKEY* authority_key = nullptr;
    X509* authority = nullptr;
    EVP_PKEY* server_key = nullptr;
    std::string folder, ca_file;
};

/// What a server presents; the caller frees it.
SSL_CTX* server_context(const Authority::Keys& keys, Certificate certificate);

}  // namespace gpucheck::loopback
