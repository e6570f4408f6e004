// Makes a certificate authority and what it signs; see loopback.h.
#include "tests/loopback/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace gpucheck::loopback {
namespace {

[[noreturn]] void give_up(const char* what) {
    std::fprintf(stderr, "loopback: %s\n", what);
    std::abort();
}

void extend(X509* certificate, X509* issuer, int kind, const char* text) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, text);
    if (extension == nullptr || X509_add_ext(certificate, extension, -1) != 1) give_up("X509V3_EXT_conf_nid");
    X509_EXTENSION_free(extension);
}

struct Names {
    const char* common;
    const char* alternative;  ///< nullptr: an authority
    long begins_s, ends_s;    ///< from now
};

X509* certificate_for(EVP_PKEY* key, const Names& names, X509* issuer, EVP_PKEY* issuer_key) {
    X509* certificate = X509_new();
    if (certificate == nullptr) give_up("X509_new");
    X509_set_version(certificate, 2);
    static long serial = 0;
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), ::getpid() * 1000L + ++serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate), names.begins_s);
    X509_gmtime_adj(X509_getm_notAfter(certificate), names.ends_s);
    X509_set_pubkey(certificate, key);
    const auto* common = reinterpret_cast<const unsigned char*>(names.common);
    X509_NAME* subject = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, common, -1, -1, 0);
    if (issuer == nullptr) issuer = certificate;
    X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
    if (names.alternative == nullptr) {
        extend(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE");
        extend(certificate, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
    } else {
        extend(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE");
        extend(certificate, issuer, NID_subject_alt_name, names.alternative);
        extend(certificate, issuer, NID_ext_key_usage, "serverAuth");
    }
    if (X509_sign(certificate, issuer_key, EVP_sha256()) == 0) give_up("X509_sign");
    return certificate;
}

constexpr long kDay = 86400;

}  // namespace

SSL_CTX* server_context(const Authority::Keys& keys, Certificate kind) {
    Names names{"127.0.0.1", "IP:127.0.0.1,IP:::1,DNS:localhost", -kDay, kDay};
    if (kind == Certificate::expired) names.ends_s = -kDay / 2;
    if (kind == Certificate::other_name) names.alternative = "DNS:other.example";
    X509* certificate = certificate_for(keys.server_key, names, keys.authority, keys.authority_key);
    SSL_CTX* context = SSL_CTX_new(TLS_server_method());
    if (context == nullptr || SSL_CTX_use_certificate(context, certificate) != 1 ||
        SSL_CTX_use_PrivateKey(context, keys.server_key) != 1)
        give_up("SSL_CTX");
    X509_free(certificate);
    return context;
}

Authority::Authority() : keys_(std::make_unique<Keys>()) {
    keys_->authority_key = EVP_EC_gen("P-256");
    keys_->server_key = EVP_EC_gen("P-256");
    if (keys_->authority_key == nullptr || keys_->server_key == nullptr) give_up("EVP_EC_gen");
    keys_->authority = certificate_for(keys_->authority_key, {"throw-away authority", nullptr, -kDay, kDay},
                                       nullptr, keys_->authority_key);
    const char* base = std::getenv("TMPDIR");
    std::string folder = std::string(base != nullptr ? base : "/tmp") + "/gpucheck-authority-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) give_up("mkdtemp");
    keys_->folder = folder;
    keys_->ca_file = folder + "/ca.pem";
    std::FILE* file = std::fopen(keys_->ca_file.c_str(), "w");
    if (file == nullptr || PEM_write_X509(file, keys_->authority) != 1) give_up("ca.pem");
    std::fclose(file);
}

Authority::~Authority() {
    ::unlink(keys_->ca_file.c_str());
    ::rmdir(keys_->folder.c_str());
    X509_free(keys_->authority);
    EVP_PKEY_free(keys_->authority_key);
    EVP_PKEY_free(keys_->server_key);
}

const std::string& Authority::ca_file() const {
    return keys_->ca_file;
}

std::string Authority::pin() const {
    unsigned char* der = nullptr;
    const int bytes = i2d_PUBKEY(keys_->server_key, &der);
    if (bytes <= 0) give_up("i2d_PUBKEY");
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    EVP_Digest(der, static_cast<std::size_t>(bytes), digest.data(), &length, EVP_sha256(), nullptr);
    OPENSSL_free(der);
    std::vector<unsigned char> text(128);
    const int written = EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(length));
    return "sha256//" + std::string(text.begin(), text.begin() + written);
}

}  // namespace gpucheck::loopback
