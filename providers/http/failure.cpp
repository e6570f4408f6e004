// Tells failures apart; see failure.h.
#include "providers/http/failure.h"

#include <cerrno>

namespace gpucheck::http {
namespace {

Failure of_connect(long system_error) {
    switch (system_error) {
        case ECONNREFUSED:
            return Failure::refused;
        case ECONNRESET:
        case EPIPE:
            return Failure::reset;
        case ETIMEDOUT:
            return Failure::timeout;
        default:  // EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, and EACCES or EPERM of a local firewall
            return Failure::unreachable;
    }
}

}  // namespace

Failure failure_of(const CurlEnd& end) {
    const bool refused_by_proxy = end.connect_code != 0 && (end.connect_code < 200 || end.connect_code > 299);
    constexpr int kTooLarge = 100;  // CURLE_TOO_LARGE, since 8.6
    if (static_cast<int>(end.code) == kTooLarge) return Failure::too_large;
    switch (end.code) {
        case CURLE_OPERATION_TIMEDOUT:
            return Failure::timeout;
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_RESOLVE_PROXY:
            return Failure::dns;
        case CURLE_COULDNT_CONNECT:
            return refused_by_proxy ? Failure::unreachable : of_connect(end.system_error);
        case CURLE_PROXY:
            return Failure::unreachable;
        case CURLE_GOT_NOTHING:  // accepted, then closed without a byte
        case CURLE_SEND_ERROR:
        case CURLE_RECV_ERROR:
            if (refused_by_proxy) return Failure::unreachable;
            // libcurl has one code for a connection that broke and for chunks that are none, and tells them
            // apart in words alone ("... in chunked-encoding").
            return end.said.find("chunk") != std::string_view::npos ? Failure::malformed : Failure::reset;
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_SSL_CIPHER:
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_SSL_INVALIDCERTSTATUS:
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        case CURLE_USE_SSL_FAILED:
            return Failure::tls;
        case CURLE_FILESIZE_EXCEEDED:
        case CURLE_OUT_OF_MEMORY:  // before 8.6 also of a header line over 100 KiB, and malloc(3) rarely
                                   // fails
            return Failure::too_large;
        case CURLE_PARTIAL_FILE:          // less than Content-Length told
        case CURLE_WEIRD_SERVER_REPLY:    // a status line or a length that is none
        case CURLE_UNSUPPORTED_PROTOCOL:  // no status line at all ("HTTP/0.9"); the scheme was looked at
                                          // before
        case CURLE_BAD_CONTENT_ENCODING:
        case CURLE_TOO_MANY_REDIRECTS:
            return Failure::malformed;
        default:
            return Failure::local;
    }
}

}  // namespace gpucheck::http
