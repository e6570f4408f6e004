// Looks at requests before they are sent; see request_rules.h.
#include "providers/http/request_rules.h"

#include <algorithm>
#include <cctype>

namespace gpucheck::http {
namespace {

bool is_token(std::string_view text) {  // RFC 9110, 5.6.2
    constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || kMarks.find(c) != std::string_view::npos;
    });
}

bool one_line(std::string_view text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

std::string_view raw_authority(std::string_view url) {
    const std::size_t begin = url.find("://") + 3;
    return url.substr(begin, url.find_first_of("/?#", begin) - begin);
}

}  // namespace

std::string lowered(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return out;
}

std::string refusal_of(const Request& request) {
    const std::size_t colon = request.url.find("://");
    const std::string scheme = lowered(std::string_view(request.url).substr(0, colon));
    if (colon == std::string::npos || (scheme != "http" && scheme != "https"))
        return "not an http or https URL";
    if (!std::all_of(request.url.begin(), request.url.end(), [](char c) { return c > ' ' && c < '\x7f'; }))
        return "a URL with blanks or unprintable characters";
    if (raw_authority(request.url).find('@') != std::string_view::npos)
        return "a URL with a user name or password in it";
    if (authority_of(request.url).host.empty()) return "a URL without a host";
    if (!is_token(request.method)) return "a method that is none";
    for (const Header& header : request.headers) {
        if (!is_token(header.name) || !one_line(header.value))
            return "a header that would break the request: " + header.name.substr(0, 40);
    }
    return {};
}

Authority authority_of(std::string_view url) {
    const std::string whole = lowered(raw_authority(url));
    const std::size_t bracket = whole.rfind(']');
    const std::size_t colon = whole.find(':', bracket == std::string::npos ? 0 : bracket);
    Authority authority{whole.substr(0, colon), ""};
    if (colon != std::string::npos) authority.port = whole.substr(colon + 1);
    if (authority.port.empty()) authority.port = lowered(url.substr(0, 6)) == "https:" ? "443" : "80";
    if (!authority.host.empty() && authority.host.front() == '[')
        authority.host = authority.host.substr(1, bracket - 1);
    return authority;
}

bool is_link_local(std::string_view host) {
    constexpr std::string_view kBegins[] = {"169.254.", "fe80:", "fd00:ec2:"};
    constexpr std::string_view kNames[] = {"metadata.google.internal", "metadata.nebius.internal"};
    return std::any_of(std::begin(kBegins), std::end(kBegins),
                       [&](std::string_view begin) { return host.substr(0, begin.size()) == begin; }) ||
           std::find(std::begin(kNames), std::end(kNames), host) != std::end(kNames);
}

}  // namespace gpucheck::http
