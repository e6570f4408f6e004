// Asks metadata services; see metadata.h.
#include "providers/identity/metadata.h"

#include "checks/json/json.h"

namespace gpucheck::identity {
namespace {

using Answer = std::variant<http::Response, Missing>;

std::string without_query(const std::string& url) {
    return url.substr(0, url.find('?'));
}

Answer perform(http::Client& client, const std::string& url, std::vector<http::Header> headers,
               const char* method) {
    http::Request request;
    request.method = method;
    request.url = url;
    request.headers = std::move(headers);
    const std::string source = std::string(method) + " " + without_query(url);
    http::Outcome outcome = client.perform(request);
    if (const auto* failed = std::get_if<http::Failed>(&outcome)) {
        if (failed->failure == http::Failure::local) return Missing{source, failed->detail};
        return Missing{source, std::string(name_of(failed->failure))};
    }
    auto& response = std::get<http::Response>(outcome);
    if (response.status != 200) return Missing{source, "HTTP " + std::to_string(response.status)};
    if (response.body.empty()) return Missing{source, "empty"};
    return std::move(response);
}

}  // namespace

std::variant<std::string, Missing> ask(http::Client& client, const std::string& url,
                                       std::vector<http::Header> headers, const char* method) {
    Answer answer = perform(client, url, std::move(headers), method);
    if (auto* missing = std::get_if<Missing>(&answer)) return std::move(*missing);
    return std::move(std::get<http::Response>(answer).body);
}

std::variant<std::string, Missing> member_of(const std::string& json, const std::string& source,
                                             std::string_view member) {
    const Missing malformed{source, "malformed: no " + std::string(member)};
    const auto parsed = parse_json(json);
    if (!std::holds_alternative<Json>(parsed)) return Missing{source, "malformed: no JSON"};
    const Json* value = &std::get<Json>(parsed);
    for (std::size_t at = 0; at <= member.size();) {  // "compute.resourceId" goes down
        const std::size_t dot = std::min(member.find('.', at), member.size());
        if (!value->is_object()) return malformed;
        const auto found = value->find(member.substr(at, dot - at));
        if (found == value->end()) return malformed;
        value = &*found;
        at = dot + 1;
    }
    if (value->is_number_unsigned()) return std::to_string(value->get<std::uint64_t>());
    if (!value->is_string() || value->get_ref<const std::string&>().empty()) return malformed;
    return value->get<std::string>();
}

std::variant<AwsSession, Missing> AwsSession::open(http::Client& client) {
    auto token = ask(client, std::string(kAwsService) + "/latest/api/token",
                     {{"X-aws-ec2-metadata-token-ttl-seconds", "300"}}, "PUT");
    if (auto* missing = std::get_if<Missing>(&token)) {
        // The reply to this request alone has the hop limit as its TTL, and that is 1 unless somebody raised
        // it.
        if (missing->why == "timeout")
            missing->why = "timeout (in a container: the instance's metadata hop limit)";
        return std::move(*missing);
    }
    return AwsSession(client, std::get<std::string>(std::move(token)));
}

std::variant<std::string, Missing> AwsSession::get(const std::string& path) {
    return ask(*client_, kAwsService + path, {{"X-aws-ec2-metadata-token", token_}});
}

std::variant<std::string, Missing> gcp_get(http::Client& client, const std::string& path) {
    const std::string url = kGcpService + path;
    Answer answer = perform(client, url, {{"Metadata-Flavor", "Google"}}, "GET");
    if (auto* missing = std::get_if<Missing>(&answer)) return std::move(*missing);
    auto& response = std::get<http::Response>(answer);
    if (response.header("metadata-flavor") != "Google")
        return Missing{"GET " + without_query(url), "not Google's metadata service"};
    return std::move(response.body);
}

std::variant<std::string, Missing> azure_get(http::Client& client, const std::string& path_and_query) {
    return ask(client, kAzureService + path_and_query, {{"Metadata", "true"}});
}

}  // namespace gpucheck::identity
