// Questions to a provider's metadata service whose answers are secrets: tokens, credentials, signed
// documents. They are answered to every process of the machine, and what we do with them must not make that
// worse.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checks/model/fact.h"
#include "providers/http/http.h"

namespace gpucheck::identity {

/// The body of a 200, or why there is none: "HTTP 404", "timeout", "empty". Never a part of what was sent or
/// answered.
std::variant<std::string, Missing> ask(http::Client& client, const std::string& url,
                                       std::vector<http::Header> headers, const char* method = "GET");

/// A text member of a JSON object; Missing "malformed" names the member and not its value. Numbers are given
/// as text.
std::variant<std::string, Missing> member_of(const std::string& json, const std::string& source,
                                             std::string_view member);

inline constexpr const char* kAwsService = "http://169.254.169.254";
inline constexpr const char* kAzureService = "http://169.254.169.254";
inline constexpr const char* kGcpService = "http://metadata.google.internal/computeMetadata/v1/";

/// GET of `path` under an IMDSv2 token; one is taken for each session.
class AwsSession {
  public:
    static std::variant<AwsSession, Missing> open(http::Client& client);
    std::variant<std::string, Missing> get(const std::string& path);

  private:
    AwsSession(http::Client& client, std::string token) : client_(&client), token_(std::move(token)) {}
    http::Client* client_;
    std::string token_;
};

/// `path` below computeMetadata/v1/. The reply must carry Metadata-Flavor: Google, or somebody else answered.
std::variant<std::string, Missing> gcp_get(http::Client& client, const std::string& path);
std::variant<std::string, Missing> azure_get(http::Client& client, const std::string& path_and_query);

}  // namespace gpucheck::identity
