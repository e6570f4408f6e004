// Signs requests; see sigv4.h.
#include "providers/send/sigv4.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "providers/http/request_rules.h"

namespace gpucheck::aws {
namespace {

struct Url {
    std::string host, path, query;
};

Url url_of(const std::string& url) {
    Url parts;
    const std::size_t begin = url.find("://") == std::string::npos ? 0 : url.find("://") + 3;
    const std::size_t path = std::min(url.find_first_of("/?", begin), url.size());
    const std::size_t query = std::min(url.find('?', begin), url.size());
    parts.host = url.substr(begin, path - begin);
    parts.path = path < query ? url.substr(path, query - path) : "/";
    if (query < url.size()) parts.query = url.substr(query + 1);
    return parts;
}

// By name, then by value; "name" alone is "name=".
std::string canonical_query(const std::string& query) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < query.size();) {
        const std::size_t end = std::min(query.find('&', at), query.size());
        std::string part = query.substr(at, end - at);
        if (part.find('=') == std::string::npos) part += '=';
        parts.push_back(std::move(part));
        at = end + 1;
    }
    std::sort(parts.begin(), parts.end(), [](const std::string& a, const std::string& b) {
        const std::string_view name_a = std::string_view(a).substr(0, a.find('='));
        const std::string_view name_b = std::string_view(b).substr(0, b.find('='));
        return name_a != name_b ? name_a < name_b : a < b;
    });
    std::string out;
    for (const std::string& part : parts) out += (out.empty() ? "" : "&") + part;
    return out;
}

// Without blanks at its ends, and with one for every row of them within.
std::string squeezed(std::string_view value) {
    std::string out;
    for (const char c : value) {
        const bool blank = c == ' ' || c == '\t';
        if (!blank) out += c;
        if (blank && !out.empty() && out.back() != ' ') out += ' ';
    }
    if (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

struct Canonical {
    std::string headers, names;
};

// Sorted by name; the values of one name in the order in which they are sent.
Canonical canonical_headers(const std::vector<http::Header>& sent) {
    std::vector<http::Header> sorted;
    for (const http::Header& header : sent)
        sorted.push_back({http::lowered(header.name), squeezed(header.value)});
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const http::Header& a, const http::Header& b) { return a.name < b.name; });
    Canonical canonical;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const bool again = i > 0 && sorted[i].name == sorted[i - 1].name;
        if (again) {
            canonical.headers.back() = ',';  // the line's end
        } else {
            canonical.headers += sorted[i].name + ":";
            canonical.names += (canonical.names.empty() ? "" : ";") + sorted[i].name;
        }
        canonical.headers += sorted[i].value + "\n";
    }
    return canonical;
}

}  // namespace

void sign(http::Request& request, const Credentials& credentials, const Scope& scope,
          const crypto::Hash& hash) {
    const Url url = url_of(request.url);
    request.headers.push_back({"X-Amz-Date", scope.time});
    if (!credentials.session_token.empty())
        request.headers.push_back({"X-Amz-Security-Token", credentials.session_token});
    std::vector<http::Header> sent = request.headers;
    sent.push_back({"Host", url.host});
    const Canonical canonical = canonical_headers(sent);
    const std::string text = request.method + "\n" + url.path + "\n" + canonical_query(url.query) + "\n" +
                             canonical.headers + "\n" + canonical.names + "\n" +
                             crypto::hex(hash.sha256(request.body));

    const std::string date = scope.time.substr(0, 8);
    const std::string where = date + "/" + scope.region + "/" + scope.service + "/aws4_request";
    const std::string to_sign =
        "AWS4-HMAC-SHA256\n" + scope.time + "\n" + where + "\n" + crypto::hex(hash.sha256(text));
    std::string key = "AWS4" + credentials.secret_access_key;
    for (const std::string& part : {date, scope.region, scope.service, std::string("aws4_request")})
        key = hash.hmac_sha256(key, part);
    request.headers.push_back(
        {"Authorization", "AWS4-HMAC-SHA256 Credential=" + credentials.access_key_id + "/" + where +
                              ", SignedHeaders=" + canonical.names +
                              ", Signature=" + crypto::hex(hash.hmac_sha256(key, to_sign))});
}

}  // namespace gpucheck::aws
