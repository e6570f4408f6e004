// What a request's head may say; see http_session.h. Whatever two programs could read differently is refused:
// a proxy in front of this one is such a second program.
#include <algorithm>
#include <array>
#include <set>
#include <variant>

#include "fleet/collect/http_session.h"

namespace gpucheck::fleet::collect {
namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    return result;
}

// A list may be spread over several lines (RFC 9110, 5.3); what is one value may not.
bool may_repeat(const std::string& name) {
    constexpr std::array<std::string_view, 9> kLists = {
        "accept", "accept-encoding", "accept-language", "cache-control", "connection", "cookie", "forwarded",
        "via",    "x-forwarded-for"};
    return std::find(kLists.begin(), kLists.end(), name) != kLists.end();
}

}  // namespace

std::string_view HttpHead::header(std::string_view lower_case_name) const {
    for (const auto& [name, value] : headers)
        if (name == lower_case_name) return value;
    return {};
}

HttpAnswer plain_refusal(int status, const std::string& detail) {
    HttpAnswer answer;
    answer.status = status;
    answer.content_type = "application/problem+json";  // RFC 9457; `detail` is our own and needs no escapes
    answer.body = std::make_shared<const std::string>("{\"status\":" + std::to_string(status) +
                                                      ",\"detail\":\"" + detail + "\"}\n");
    return answer;
}

std::variant<HttpHead, HttpAnswer> head_of(const Parser& parser, const HttpLimits& limits) {
    const auto& request = parser.get();
    if (request.version() != 10 && request.version() != 11)
        return plain_refusal(505, "only HTTP/1.1 is spoken");
    HttpHead head;
    head.method = std::string(request.method_string());
    constexpr std::size_t kLongestTarget = 8192;
    const std::string target(request.target());
    if (target.size() > kLongestTarget) return plain_refusal(414, "the target is too long");
    if (!target.starts_with('/')) return plain_refusal(400, "the target is no path");
    const std::size_t mark = target.find('?');
    head.path = target.substr(0, mark);
    if (mark != std::string::npos) head.query = target.substr(mark + 1);
    std::set<std::string> names;
    for (const auto& field : request) {
        std::string name = lower(std::string(field.name_string()));
        if (head.headers.size() == limits.max_headers) return plain_refusal(431, "too many headers");
        if (!names.insert(name).second && !may_repeat(name))
            return plain_refusal(400, "a header is there twice");
        head.headers.emplace_back(std::move(name), std::string(field.value()));
    }
    if (request.version() == 11 && head.header("host").empty()) return plain_refusal(400, "Host is missing");
    if (parser.chunked() || !head.header("transfer-encoding").empty())
        return plain_refusal(411, "Content-Length is needed");
    if (!head.header("expect").empty() && lower(head.header("expect")) != "100-continue")
        return plain_refusal(417, "only 100-continue can be expected");
    const auto length = parser.content_length();
    if (!length && (head.method == "POST" || head.method == "PUT" || head.method == "PATCH"))
        return plain_refusal(411, "Content-Length is needed");
    if (length && *length > limits.max_body_bytes) return plain_refusal(413, "the body is too large");
    head.body_bytes = length ? static_cast<std::size_t>(*length) : 0;
    return head;
}

}  // namespace gpucheck::fleet::collect
