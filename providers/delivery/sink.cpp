// Receivers and tokens; see sink.h.
#include "providers/delivery/sink.h"

#include <arpa/inet.h>
#include <string.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "providers/disk/files.h"
#include "providers/http/request_rules.h"

namespace gpucheck::delivery {
namespace {

constexpr std::size_t kMostUrl = 2048, kMostToken = 8192;

struct Parts {
    std::string scheme, authority, host, port;
};

std::optional<Parts> parts_of(std::string_view url) {
    const std::size_t colon = url.find("://");
    if (colon == std::string_view::npos) return std::nullopt;
    Parts parts;
    parts.scheme = http::lowered(url.substr(0, colon));
    const std::string_view rest = url.substr(colon + 3);
    parts.authority = http::lowered(rest.substr(0, rest.find_first_of("/?#")));
    const std::string& authority = parts.authority;
    const std::size_t bracket =
        authority.empty() || authority[0] != '[' ? std::string::npos : authority.find(']');
    const std::size_t end =
        bracket != std::string::npos ? bracket + 1 : std::min(authority.find(':'), authority.size());
    parts.host = authority.substr(0, end);
    if (end < authority.size()) {
        if (authority[end] != ':') return std::nullopt;
        parts.port = authority.substr(end + 1);
    }
    return parts;
}

bool valid_port(const std::string& text) {
    unsigned port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc() && end == text.data() + text.size() && port > 0 && port < 65536;
}

// Addresses only, and "localhost", which RFC 6761 binds to loopback: any other name is what DNS says it is.
bool stays_here(const std::string& host) {
    if (host == "localhost") return true;
    in_addr v4{};
    if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) {
        const std::uint32_t address = ntohl(v4.s_addr);
        return address >> 24U == 127 || address >> 16U == 0xa9fe;  // 127.0.0.0/8, 169.254.0.0/16
    }
    if (host.size() < 3 || host.front() != '[' || host.back() != ']') return false;
    const std::string inner = host.substr(1, std::min(host.find('%'), host.size() - 1) - 1);
    in6_addr v6{};
    if (::inet_pton(AF_INET6, inner.c_str(), &v6) != 1) return false;
    if (IN6_IS_ADDR_LOOPBACK(&v6)) return true;
    return IN6_IS_ADDR_LINKLOCAL(&v6);  // fe80::/10
}

std::string text_refusal(const Sink& sink) {
    if (sink.url.empty() || sink.url.size() > kMostUrl) return "a URL of 1 to 2048 characters is needed";
    if (std::any_of(sink.url.begin(), sink.url.end(), [](char c) { return c <= ' ' || c >= '\x7f'; }))
        return "the URL holds blanks or unprintable characters";
    if (sink.url.find('#') != std::string::npos) return "a fragment (#...) never reaches a server";
    return {};
}

std::string pin_refusal(const std::string& pin) {
    constexpr std::string_view kHead = "sha256//";
    constexpr std::size_t kBase64OfSha256 = 44;
    if (pin.empty()) return {};
    const bool fits = pin.compare(0, kHead.size(), kHead) == 0 &&
                      pin.size() == kHead.size() + kBase64OfSha256 && pin.find(';') == std::string::npos;
    return fits ? std::string() : "the pin must be sha256// and 44 characters of base64";
}

}  // namespace

std::string refusal_of(const Sink& sink) {
    if (std::string why = text_refusal(sink); !why.empty()) return why;
    const std::optional<Parts> parts = parts_of(sink.url);
    if (!parts || (parts->scheme != "https" && parts->scheme != "http")) return "not an https:// URL";
    if (parts->authority.find('@') != std::string::npos)
        return "a user name or password in a URL is read by everybody who may list processes: use token_file";
    if (parts->host.empty() || parts->host == "[]") return "the URL names no host";
    if (parts->authority.size() > parts->host.size() && !valid_port(parts->port))
        return "the URL's port is none";
    if (std::string why = pin_refusal(sink.pin); !why.empty()) return why;
    if (!sink.token_file.empty() && !sink.token_credential.empty())
        return "token_file and token_credential exclude each other";
    if (parts->scheme == "https") return {};
    if (!sink.pin.empty() || !sink.ca_file.empty()) return "a pin or ca_file without https proves nothing";
    if (stays_here(parts->host)) return {};
    if (!sink.insecure_http)
        return "over http anybody on the way can read and change a report: use https (http is for loopback "
               "and "
               "link-local addresses, or with \"insecure_http\": true)";
    if (sink.has_token() || sink.prove_identity)
        return "over http anybody on the way could read the token and use it: use https";
    return {};
}

std::string shown(std::string_view url) {
    const std::string_view head = url.substr(0, url.find_first_of("?#"));
    const std::size_t begin = head.find("://");
    const std::size_t authority = begin == std::string_view::npos ? 0 : begin + 3;
    const std::size_t at = head.substr(0, head.find('/', authority)).rfind('@');
    std::string text = at == std::string_view::npos || at < authority
                           ? std::string(head)
                           : std::string(head.substr(0, authority)) + std::string(head.substr(at + 1));
    for (char& c : text)
        if (c < ' ' || c >= '\x7f') c = '?';
    return text.substr(0, 200);
}

std::uint64_t fnv1a(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return hash;
}

std::string hex16(std::uint64_t value) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (unsigned shift = 64; shift > 0;) text += kDigits[value >> (shift -= 4) & 15U];
    return text;
}

std::string key_of(std::string_view url) {
    return hex16(fnv1a(url));
}

std::variant<Token, std::string> read_token(const Sink& sink) {
    if (!sink.has_token()) return Token{};
    std::string path = sink.token_file;
    if (path.empty()) {
        const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
        if (folder == nullptr || *folder == '\0')
            return "token_credential " + sink.token_credential +
                   ": CREDENTIALS_DIRECTORY is not set (systemd sets it for LoadCredential=)";
        path = std::string(folder) + "/" + sink.token_credential;
    }
    auto token = read_token_file(path);
    // systemd gives credentials mode 0400 or 0440 in a folder that only the service enters.
    if (auto* read = std::get_if<Token>(&token); read != nullptr && !sink.token_credential.empty())
        read->warning.clear();
    return token;
}

std::variant<Token, std::string> read_token_file(const std::string& path) {
    auto content = disk::read_file(path, kMostToken);
    if (const auto* error = std::get_if<disk::Error>(&content)) return error->what;
    auto& [text, mode] = *std::get_if<disk::Content>(&content);
    std::size_t size = text.size();
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r')) --size;
    Token token{text.substr(0, size), {}};
    ::explicit_bzero(text.data(), text.size());
    const bool printable =
        std::all_of(token.value.begin(), token.value.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (token.value.empty()) return path + ": holds no token";
    if (!printable) return path + ": holds something else than one token on one line";
    if (disk::readable_by_others(mode))
        token.warning = path + ": others than its owner may read this token: chmod 600 " + path;
    return token;
}

}  // namespace gpucheck::delivery
