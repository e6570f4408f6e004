// One HTTP request with everything bounded: a metadata service or a receiver that is slow, hostile or
// somebody else's must cost a few seconds and never a token, a full disk or a hang.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gpucheck::http {

struct Header {
    std::string name, value;
    bool operator==(const Header&) const = default;
};

/// Everything but A-Z a-z 0-9 - . _ ~ as %XX (RFC 3986, 2.3): a value as a part of a path, a query or a form.
std::string percent_encoded(std::string_view text);

/// Whether the environment's proxy is used. Metadata services are link-local: a proxy would answer for the
/// wrong machine, or see its tokens.
enum class Proxy : std::uint8_t { bypass, environment };

struct Request {
    std::string method = "GET";
    std::string url;  ///< http or https
    std::vector<Header> headers;
    std::string body;
    std::chrono::milliseconds connect_timeout{1000};
    std::chrono::milliseconds total_timeout{3000};  ///< connect, send and receive together
    std::size_t max_body_bytes = 1U << 20U;         ///< of the answer, after decoding
    Proxy proxy = Proxy::bypass;
    std::string ca_file;            ///< PEM; empty: the system's. Verification cannot be turned off.
    std::string pinned_public_key;  ///< "sha256//BASE64"; empty: none
};

struct Response {
    int status = 0;
    std::vector<Header> headers;  ///< names in lower case
    std::string body;
    /// The value of the first such header, or empty. `name` in lower case.
    std::string_view header(std::string_view name) const;
};

/// Why no whole answer came. A redirect is never followed: the caller sees its 3xx as a Response.
enum class Failure : std::uint8_t {
    timeout,
    refused,
    unreachable,
    reset,
    dns,
    tls,
    too_large,
    malformed,
    local
};
std::string_view name_of(Failure failure);  ///< "timeout", "refused", ...

struct Failed {
    Failure failure = Failure::local;
    std::string detail;  ///< for people; never holds a header's value or a body
};

using Outcome = std::variant<Response, Failed>;

/// Where requests go: the network, or what a recorded machine's metadata.json answers.
class Client {
  public:
    virtual ~Client() = default;
    virtual Outcome perform(const Request& request) = 0;
};

/// The network over libcurl; keeps connections alive between requests. Not for several threads at once.
std::unique_ptr<Client> curl_client();

}  // namespace gpucheck::http
