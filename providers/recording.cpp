// Keeps of each answer what clients read; see recording.h.
#include "providers/recording.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace gpucheck::providers {
namespace {

constexpr std::size_t kLongestText = 128;
// The token of IMDSv2 as a recording has it: what follows must show that it was asked for, not which one it
// was.
constexpr std::string_view kToken = "RECORDED-TOKEN";

// Members that a client of ours reads, or that lead to one. Nothing of price lists: a capture asks for none.
constexpr std::array<std::string_view, 34> kKept{"droplet_id",
                                                 "region",
                                                 "droplet",
                                                 "size",
                                                 "size_slug",
                                                 "price_hourly",
                                                 "gpu_info",
                                                 "count",
                                                 "instanceId",
                                                 "instanceType",
                                                 "availabilityZone",
                                                 "instance",
                                                 "id",
                                                 "machineType",
                                                 "machine-type",
                                                 "zone",
                                                 "scheduling",
                                                 "preemptible",
                                                 "compute",
                                                 "vmId",
                                                 "vmSize",
                                                 "location",
                                                 "priority",
                                                 "shape",
                                                 "canonicalRegionName",
                                                 "availabilityDomain",
                                                 "instance-v2-id",
                                                 "instance-id",
                                                 "instanceid",
                                                 "regioncode",
                                                 "platform",
                                                 "preset",
                                                 "uuid",
                                                 "availability_zone"};

bool is_kept(std::string_view member) {
    return std::find(kKept.begin(), kKept.end(), member) != kKept.end();
}

bool is_short_text(std::string_view text) {
    return text.size() <= kLongestText &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

std::string_view word_of(http::Failure failure) {
    return failure == http::Failure::local ? http::name_of(http::Failure::unreachable)
                                           : http::name_of(failure);
}

bool is_token(const http::Request& request) {
    return request.method == "PUT" && request.url.ends_with("/latest/api/token");
}

std::string body_of(const http::Request& request, const std::string& body) {
    if (is_token(request)) return std::string(kToken);
    const auto parsed = parse_json(body);
    if (const auto* document = std::get_if<Json>(&parsed); document != nullptr && document->is_structured())
        return dump_json(without_secrets(*document), -1);
    std::string_view text = body;
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    return is_short_text(text) ? std::string(text) : std::string();
}

// Headers without which the service refuses, as far as they hold no token.
Json requirements(const http::Request& request) {
    Json needed = Json::object();
    for (const http::Header& header : request.headers) {
        if (header.name == "Metadata" || header.name == "Metadata-Flavor") needed[header.name] = header.value;
    }
    return needed;
}

}  // namespace

Json without_secrets(const Json& document) {
    if (document.is_array()) {
        Json list = Json::array();
        for (const Json& each : document) list.push_back(without_secrets(each));
        return list;
    }
    if (!document.is_object()) return document;
    Json kept = Json::object();
    for (const auto& [member, value] : document.items()) {
        if (is_kept(member)) kept[member] = without_secrets(value);
    }
    return kept;
}

http::Outcome Recorder::perform(const http::Request& request) {
    http::Outcome outcome = client_.perform(request);
    Json entry = Json::object();
    if (const auto* response = std::get_if<http::Response>(&outcome)) {
        entry["status"] = response->status;
        entry["body"] = response->status == 200 ? body_of(request, response->body) : std::string();
        if (Json needed = requirements(request); !needed.empty()) entry["requires"] = std::move(needed);
    } else {
        entry["error"] = word_of(std::get<http::Failed>(outcome).failure);
    }
    document_[request.method + " " + request.url] = std::move(entry);
    return outcome;
}

}  // namespace gpucheck::providers
