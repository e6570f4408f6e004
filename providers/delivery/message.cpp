// Requests; see message.h.
#include "providers/delivery/message.h"

#include <algorithm>

namespace gpucheck::delivery {
namespace {

std::string short_part(std::string_view text) {
    constexpr std::size_t kMost = 255;  // POSIX's longest host name: what is longer is no name
    return http::percent_encoded(text.substr(0, kMost));
}

}  // namespace

std::string source_uri(std::string_view provider, std::string_view instance_id, std::string_view hostname) {
    if (!instance_id.empty())
        return "gpucheck://" + (provider.empty() ? "unknown" : short_part(provider)) + "/" +
               short_part(instance_id);
    return "gpucheck:///" + short_part(hostname);
}

http::Request request_of(const Entry& entry, std::string_view token, std::chrono::milliseconds most) {
    using std::chrono::milliseconds;
    constexpr milliseconds kLongestConnect{5000};
    http::Request request;
    request.method = "POST";
    request.url = entry.sink.url;
    request.headers = {{"Content-Type", entry.content_type}, {"ce-specversion", "1.0"},
                       {"ce-id", entry.report_id},           {"ce-type", std::string(kEventType)},
                       {"ce-source", entry.source},          {"ce-time", entry.created},
                       {"Idempotency-Key", entry.report_id}};
    if (entry.gzip) request.headers.push_back({"Content-Encoding", "gzip"});
    if (!token.empty()) request.headers.push_back({"Authorization", "Bearer " + std::string(token)});
    request.body = entry.body;
    request.connect_timeout = std::min(most, kLongestConnect);
    request.total_timeout = most;
    request.max_body_bytes = 64U << 10U;  // of the answer, of which only the status counts
    request.proxy = http::Proxy::environment;
    request.ca_file = entry.sink.ca_file;
    request.pinned_public_key = entry.sink.pin;
    return request;
}

}  // namespace gpucheck::delivery
