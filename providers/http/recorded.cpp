// Answers from a metadata.json; see recorded.h.
#include "providers/http/recorded.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "checks/json/json.h"
#include "providers/http/request_rules.h"

namespace gpucheck::http {
namespace {

constexpr std::size_t kMaxDocument = std::size_t{16} << 20U;  // as the other documents of a recorded machine

struct Entry {
    Outcome outcome;
    std::vector<Header> requires_headers;  ///< names in lower case
};

std::optional<Failure> failure_named(const std::string& name) {
    constexpr std::array kAll = {Failure::timeout, Failure::refused,   Failure::unreachable,
                                 Failure::reset,   Failure::dns,       Failure::tls,
                                 Failure::local,   Failure::too_large, Failure::malformed};
    const auto* found =
        std::find_if(kAll.begin(), kAll.end(), [&](Failure one) { return name_of(one) == name; });
    if (found == kAll.end()) return std::nullopt;
    return *found;
}

std::optional<std::vector<Header>> headers_of(const Json& object) {
    if (!object.is_object()) return std::nullopt;
    std::vector<Header> headers;
    for (const auto& [name, value] : object.items()) {
        if (!value.is_string()) return std::nullopt;
        headers.push_back({lowered(name), value.get<std::string>()});
    }
    return headers;
}

std::variant<Entry, std::string> entry_of(const Json& object) {
    if (!object.is_object()) return "not an object";
    Entry entry;
    Response response;
    bool answered = false;
    for (const auto& [member, value] : object.items()) {
        if (member == "status") {
            const bool sane = value.is_number_integer() && value.get<std::int64_t>() >= 100 &&
                              value.get<std::int64_t>() <= 599;
            if (!sane) return "its status is no HTTP status";
            response.status = static_cast<int>(value.get<std::int64_t>());
            answered = true;
        } else if (member == "headers" || member == "requires") {
            auto headers = headers_of(value);
            if (!headers) return "its " + member + " is no object of texts";
            (member == "headers" ? response.headers : entry.requires_headers) = std::move(*headers);
        } else if (member == "body") {
            if (!value.is_string()) return "its body is no text";
            response.body = value.get<std::string>();
        } else if (member == "error") {
            const auto failure = value.is_string() ? failure_named(value.get<std::string>()) : std::nullopt;
            if (!failure) return "its error is unknown";
            entry.outcome = Failed{*failure, "as recorded"};
        } else {
            return "it has an unknown member: " + member.substr(0, 40);
        }
    }
    if (object.contains("error") == answered) return "it needs a status or an error, and not both";
    if (answered) entry.outcome = std::move(response);
    return entry;
}

class Recorded final : public Client {
  public:
    explicit Recorded(std::map<std::string, Entry> entries) : entries_(std::move(entries)) {}

    Outcome perform(const Request& request) override {
        const auto found = entries_.find(request.method + " " + request.url);
        if (found == entries_.end()) return Failed{Failure::refused, "not in metadata.json"};
        const Entry& entry = found->second;
        for (const Header& wanted : entry.requires_headers) {
            const bool sent =
                std::any_of(request.headers.begin(), request.headers.end(), [&](const Header& header) {
                    return lowered(header.name) == wanted.name && header.value == wanted.value;
                });
            if (!sent) return Response{401, {}, {}};
        }
        if (const auto* response = std::get_if<Response>(&entry.outcome)) {
            if (response->body.size() > request.max_body_bytes)
                return Failed{Failure::too_large,
                              "larger than " + std::to_string(request.max_body_bytes) + " bytes"};
        }
        return entry.outcome;
    }

  private:
    std::map<std::string, Entry> entries_;
};

class NobodyAsked final : public Client {
  public:
    Outcome perform(const Request&) override { return Failed{Failure::local, "not captured"}; }
};

}  // namespace

std::variant<std::unique_ptr<Client>, std::string> recorded_client(std::string_view text) {
    if (text.size() > kMaxDocument) return "metadata.json: larger than 16 MiB";
    const auto parsed = parse_json(text);
    if (const auto* error = std::get_if<JsonError>(&parsed)) return "metadata.json: " + error->what;
    const Json& document = std::get<Json>(parsed);
    if (!document.is_object()) return "metadata.json: not an object";
    std::map<std::string, Entry> entries;
    for (const auto& [key, value] : document.items()) {
        auto entry = entry_of(value);
        if (const auto* why = std::get_if<std::string>(&entry))
            return "metadata.json: \"" + key.substr(0, 200) + "\": " + *why;
        entries.insert_or_assign(key, std::get<Entry>(std::move(entry)));
    }
    return std::make_unique<Recorded>(std::move(entries));
}

std::unique_ptr<Client> nobody_asked() {
    return std::make_unique<NobodyAsked>();
}

}  // namespace gpucheck::http
