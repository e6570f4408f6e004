// Opens libcurl; see curl_library.h.
#include "providers/http/curl_library.h"

#include "providers/opened_library.h"

namespace gpucheck::http {
namespace {

constexpr const char* kInstall =
    "install libcurl (Debian, Ubuntu: apt-get install libcurl4; RHEL, SUSE: libcurl), version 7.81 or newer";

constexpr unsigned kOldest = 0x075100;

std::variant<CurlLibrary, std::string> open_library() {
    std::string why;
    // Debian and Ubuntu package libcurl with OpenSSL under the first name and with GnuTLS under the second;
    // minimal images of either may hold only one of them.
    void* handle = open_first({"libcurl.so.4", "libcurl-gnutls.so.4"}, kInstall, why);
    if (handle == nullptr) return why;
    CurlLibrary curl;
    const bool whole = take(handle, "curl_global_init", curl.global_init) &&
                       take(handle, "curl_version_info", curl.version_info) &&
                       take(handle, "curl_easy_init", curl.easy_init) &&
                       take(handle, "curl_easy_cleanup", curl.easy_cleanup) &&
                       take(handle, "curl_easy_reset", curl.easy_reset) &&
                       take(handle, "curl_easy_setopt", curl.easy_setopt) &&
                       take(handle, "curl_easy_perform", curl.easy_perform) &&
                       take(handle, "curl_easy_getinfo", curl.easy_getinfo) &&
                       take(handle, "curl_slist_append", curl.slist_append) &&
                       take(handle, "curl_slist_free_all", curl.slist_free_all);
    if (!whole) return std::string("a libcurl that lacks functions; ") + kInstall;
    if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return std::string("libcurl does not start");
    const curl_version_info_data* info = curl.version_info(CURLVERSION_NOW);
    curl.version = info != nullptr ? info->version_num : 0;
    if (curl.version < kOldest) return std::string("libcurl is too old; ") + kInstall;
    return curl;
}

}  // namespace

const std::variant<CurlLibrary, std::string>& curl_library() {
    static const std::variant<CurlLibrary, std::string> library = open_library();
    return library;
}

}  // namespace gpucheck::http
