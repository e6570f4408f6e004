// libcurl, opened at the first request: a machine without it must still be judged, and a run that asks
// nobody must not pay for it.
//
// Linked, libcurl brings 30 libraries with it (TLS, Kerberos, LDAP, SSH, IDN, compression), which the dynamic
// linker lays out at each start whether or not a request follows. Measured on Debian 12 (libcurl 7.88, median
// and 5th percentile of 100 starts of an empty program): 0.8 and 0.6 ms without, 14.1 and 8.0 ms with it.
#pragma once

#include <curl/curl.h>

#include <string>
#include <variant>

namespace gpucheck::http {

/// The functions that we use, with the types that curl/curl.h gives them.
struct CurlLibrary {
    decltype(&::curl_global_init) global_init = nullptr;
    decltype(&::curl_version_info) version_info = nullptr;
    decltype(&::curl_easy_init) easy_init = nullptr;
    decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
    decltype(&::curl_easy_reset) easy_reset = nullptr;
    decltype(&::curl_easy_setopt) easy_setopt = nullptr;
    decltype(&::curl_easy_perform) easy_perform = nullptr;
    decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
    decltype(&::curl_slist_append) slist_append = nullptr;
    decltype(&::curl_slist_free_all) slist_free_all = nullptr;
    unsigned version = 0;  ///< 0x075100 is 7.81.0
};

/// Opens it once for the process and keeps it; never closed. The text says what is missing and what to
/// install. Several threads may ask.
const std::variant<CurlLibrary, std::string>& curl_library();

}  // namespace gpucheck::http
