// Which requests leave the machine at all: what would break out of its line, carry a password in its URL or
// show a metadata service's token to a proxy does not.
#pragma once

#include <string>
#include <string_view>

#include "providers/http/http.h"

namespace gpucheck::http {

/// Why a request is not sent; empty: it is.
std::string refusal_of(const Request& request);

struct Authority {
    std::string host;  ///< lower case, without brackets
    std::string port;  ///< "443" where the URL has none
};
/// Of a URL that refusal_of let pass.
Authority authority_of(std::string_view url);

/// Metadata services, which know their caller by its link: never through a proxy, whatever was asked for.
bool is_link_local(std::string_view host);

/// ASCII letters as lower case.
std::string lowered(std::string_view text);

}  // namespace gpucheck::http
