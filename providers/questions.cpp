// One deadline over all requests, and words for each way in which they fail; see questions.h.
#include "providers/questions.h"

#include <string.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <thread>

namespace gpucheck::providers {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kLongestValue = 256;
constexpr milliseconds kConnect{1000}, kFirstPause{50};
constexpr int kTries = 4;

bool is_value(std::string_view text) {
    return !text.empty() && text.size() <= kLongestValue &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

// Without what stands behind the question mark: it is no secret today and may be one tomorrow.
std::string shown(const std::string& url) {
    return url.substr(0, std::min(url.find('?'), kLongestValue));
}

std::string words_of(const http::Failed& failed, milliseconds waited) {
    switch (failed.failure) {
        case http::Failure::timeout:
            return "no answer within " + std::to_string(waited.count()) + " ms";
        case http::Failure::refused:
            return "connection refused: no such service here";
        case http::Failure::unreachable:
            return "unreachable: no route to the service";
        case http::Failure::reset:
            return "the connection was reset";
        case http::Failure::dns:
            return "its name does not resolve";
        case http::Failure::tls:
            return "TLS: not who it should be";
        case http::Failure::too_large:
            return "the answer is larger than such an answer can be";
        case http::Failure::malformed:
            return "malformed: the answer is no HTTP answer" +
                   (failed.detail.empty() ? "" : " (" + failed.detail + ")");
        case http::Failure::local:
            break;
    }
    return failed.detail.empty() ? "could not be asked" : failed.detail;
}

bool is_busy(int status) {
    return status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

Missing refusal(const http::Response& response, const std::string& url) {
    const std::string status = std::to_string(response.status);
    const int kind = response.status / 100;
    std::string why = status + ": not the answer of such a service";
    if (kind == 3) why = status + ": redirected elsewhere, which is not followed";
    if (response.status == 400) why = "400: the service does not take this request";
    if (response.status == 401) why = "401: it demands a token that this request did not have";
    if (response.status == 403) why = "403: forbidden, or switched off for this instance";
    if (response.status == 404) why = "404: the service has no such entry";
    if (response.status == 429) why = "429: asked too often";
    if (kind == 5) why = status + ": the service itself is at fault";
    return Missing{shown(url), why};
}

}  // namespace

Questions::Questions(http::Client& client, Clock::time_point deadline, Endpoints endpoints)
    : client_(client), deadline_(deadline), endpoints_(std::move(endpoints)) {}

milliseconds Questions::left() const {
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()));
}

std::string Questions::moved(std::string_view url, const std::string& base) {
    if (base.empty()) return std::string(url);
    const std::size_t host = url.find("://");
    const std::size_t path = host == std::string_view::npos ? host : url.find('/', host + 3);
    std::string moved = base;
    while (moved.ends_with('/')) moved.pop_back();
    return path == std::string_view::npos ? moved : moved + std::string(url.substr(path));
}

std::variant<http::Response, Missing> Questions::ask(http::Request request) {
    milliseconds pause = kFirstPause;
    const milliseconds most = request.total_timeout;
    for (int tries = 1;; ++tries) {
        const auto share = milliseconds(static_cast<long long>(static_cast<double>(left().count()) * part_));
        if (share.count() <= 0) return Missing{shown(request.url), "no time was left to ask"};
        request.total_timeout = std::min(share, most);
        request.connect_timeout = std::min(request.total_timeout, kConnect);
        http::Outcome outcome = client_.perform(request);
        if (const auto* failed = std::get_if<http::Failed>(&outcome))
            return Missing{shown(request.url), words_of(*failed, request.total_timeout)};
        auto& response = std::get<http::Response>(outcome);
        if (response.status == 200) return std::move(response);
        if (!is_busy(response.status) || tries == kTries || left() <= pause)
            return refusal(response, request.url);
        std::this_thread::sleep_for(pause);
        pause *= 2;
    }
}

Fact<std::string> Questions::text(http::Request request) {
    const std::string source = shown(request.url);
    auto answer = ask(std::move(request));
    if (const auto* missing = std::get_if<Missing>(&answer)) return *missing;
    std::string& body = std::get<http::Response>(answer).body;
    const std::size_t end = body.find_last_not_of("\r\n ");
    std::string text = body.substr(0, end == std::string::npos ? 0 : std::min(end + 1, kLongestValue + 1));
    wipe(body);
    if (!is_value(text)) return Missing{source, "malformed: no short text"};
    return Fact<std::string>(std::move(text), source);
}

Fact<Json> Questions::json(http::Request request) {
    const std::string source = shown(request.url);
    auto answer = ask(std::move(request));
    if (const auto* missing = std::get_if<Missing>(&answer)) return *missing;
    constexpr std::size_t kDeepest = 32;
    std::string& body = std::get<http::Response>(answer).body;
    auto parsed = parse_json(body, kDeepest);
    wipe(body);
    if (std::holds_alternative<JsonError>(parsed)) return Missing{source, "malformed: the answer is no JSON"};
    Json document = std::move(std::get<Json>(parsed));
    if (document.is_array() && document.size() == 1) {
        Json first = std::move(document[0]);
        document = std::move(first);
    }
    if (!document.is_object()) return Missing{source, "malformed: the answer is no JSON object"};
    return Fact<Json>(std::move(document), source);
}

http::Request get(std::string url, std::vector<http::Header> headers) {
    constexpr milliseconds kOneRequest{2000};
    http::Request request;
    request.total_timeout = kOneRequest;
    request.url = std::move(url);
    request.headers = std::move(headers);
    return request;
}

Fact<std::string> text_in(const Json& object, std::string_view member, const std::string& source) {
    const std::string place = source + " " + std::string(member);
    const auto found = object.is_object() ? object.find(std::string(member)) : object.end();
    if (!object.is_object() || found == object.end()) return Missing{place, "not in the answer"};
    if (found->is_null()) return Missing{place, "null"};
    std::string text;
    if (found->is_string()) {
        text = found->get_ref<const std::string&>();
    } else if (found->is_number_integer()) {
        text = found->dump();
    } else {
        return Missing{place, "malformed: neither text nor a whole number"};
    }
    if (text.empty()) return Missing{place, "empty"};
    if (!is_value(text)) return Missing{place, "malformed: no short text"};
    return Fact<std::string>(std::move(text), place);
}

Fact<std::string> text_in(const Fact<Json>& document, std::string_view member) {
    if (!document.known()) return document.missing();
    return text_in(*document, member, document.source());
}

Fact<Json> object_in(const Fact<Json>& document, std::string_view member) {
    if (!document.known()) return document.missing();
    const auto found = document->find(std::string(member));
    if (found == document->end() || !found->is_object())
        return Missing{document.source() + " " + std::string(member), "not in the answer"};
    return Fact<Json>(*found, document.source() + " " + std::string(member));
}

Fact<std::string> last_part(const Fact<std::string>& path) {
    if (!path.known()) return path;
    std::string text = *path;
    while (text.ends_with('/')) text.pop_back();
    text = text.substr(text.rfind('/') + 1);  // npos + 1 is 0
    if (text.empty()) return Missing{path.source(), "malformed: no name in it"};
    return Fact<std::string>(std::move(text), path.source());
}

void wipe(std::string& text) {
    if (!text.empty()) ::explicit_bzero(text.data(), text.size());
    text.clear();
}

}  // namespace gpucheck::providers
