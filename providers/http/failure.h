// Which of the nine ways to fail a request took: "refused" on a metadata address means another cloud,
// "timeout" a hop limit or a firewall, and "tls" that somebody else answers.
#pragma once

#include <curl/curl.h>

#include "providers/http/http.h"

namespace gpucheck::http {

/// What libcurl says about a request that gave no whole answer.
struct CurlEnd {
    CURLcode code = CURLE_OK;
    long system_error = 0;    ///< CURLINFO_OS_ERRNO
    long connect_code = 0;    ///< CURLINFO_HTTP_CONNECTCODE: what a proxy answered
    std::string_view said{};  ///< CURLOPT_ERRORBUFFER
};

Failure failure_of(const CurlEnd& end);

}  // namespace gpucheck::http
