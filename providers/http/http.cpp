// Names and look-ups; see http.h.
#include "providers/http/http.h"

namespace gpucheck::http {

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (kPlain.find(c) != std::string_view::npos) {
            out += c;
        } else {
            out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
        }
    }
    return out;
}

std::string_view Response::header(std::string_view name) const {
    for (const Header& header : headers) {
        if (header.name == name) return header.value;
    }
    return {};
}

std::string_view name_of(Failure failure) {
    switch (failure) {
        case Failure::timeout:
            return "timeout";
        case Failure::refused:
            return "refused";
        case Failure::unreachable:
            return "unreachable";
        case Failure::reset:
            return "reset";
        case Failure::dns:
            return "dns";
        case Failure::tls:
            return "tls";
        case Failure::too_large:
            return "too_large";
        case Failure::malformed:
            return "malformed";
        case Failure::local:
            return "local";
    }
    return "local";
}

}  // namespace gpucheck::http
