// Reports from files; see report_document.h.
#include "agent/report_document.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "agent/report/report_id.h"
#include "checks/json/json.h"
#include "providers/delivery/message.h"
#include "providers/sign/dsse.h"

namespace gpucheck {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

std::variant<disk::Content, disk::Error> read_standard_input() {
    disk::Content content;
    char block[65536];
    for (;;) {
        const ssize_t got = ::read(STDIN_FILENO, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return disk::Error{errno, "standard input: " + disk::reason(errno)};
        if (got == 0) return content;
        content.text.append(block, static_cast<std::size_t>(got));
        if (content.text.size() > kMostBytes) return disk::Error{EFBIG, "standard input: larger than 64 MiB"};
    }
}

std::string text_of(const Json& json, const char* name) {
    const auto found = json.is_object() ? json.find(name) : json.end();
    const auto* text = found == json.end() ? nullptr : found->get_ptr<const std::string*>();
    return text != nullptr ? *text : std::string();
}

std::string text_in(const Json& json, const char* object, const char* name) {
    const auto found = json.find(object);
    return found == json.end() ? std::string() : text_of(*found, name);
}

std::variant<Outgoing, std::string> bare_report(const std::string& text, const Json& json) {
    Outgoing report;
    report.report_id = text_of(json, "report_id");
    report.created = text_of(json, "created");
    const auto verdict = verdict_from(text_of(json, "verdict"));
    if (!delivery::is_report_id(report.report_id)) return std::string("no report: report_id is not a UUID");
    if (!report::unix_seconds(report.created)) return std::string("no report: created is not a time");
    if (!verdict || *verdict == Verdict::not_applicable) return std::string("no report: verdict is none");
    report.verdict = *verdict;
    report.source = delivery::source_uri(text_in(json, "instance", "provider"),
                                         text_in(json, "instance", "id"), text_in(json, "host", "hostname"));
    report.provider = text_in(json, "instance", "provider");
    report.json = text;
    return report;
}

}  // namespace

std::variant<disk::Content, disk::Error> read_input(const std::string& path) {
    return path == "-" ? read_standard_input() : disk::read_file(path, kMostBytes);
}

std::variant<Outgoing, std::string> report_document(const std::string& text) {
    const auto parsed = parse_json(text);
    if (const auto* error = std::get_if<JsonError>(&parsed))
        return "no report: " + error->what.substr(0, error->what.find("; last read"));
    const Json& json = *std::get_if<Json>(&parsed);
    if (!json.is_object()) return std::string("no report: not a JSON object");
    if (!json.contains("payloadType")) return bare_report(text, json);
    const auto envelope = sign::open_envelope(text);
    if (const auto* error = std::get_if<sign::Error>(&envelope)) return error->what;
    const auto& opened = *std::get_if<sign::Envelope>(&envelope);
    if (opened.type != sign::kReportType)
        return std::string("an envelope around something else than a report");
    const auto inner = parse_json(opened.payload);
    const Json* payload = std::get_if<Json>(&inner);
    if (payload == nullptr || !payload->is_object()) return std::string("an envelope around no JSON object");
    auto report = bare_report(opened.payload, *payload);
    if (auto* read = std::get_if<Outgoing>(&report)) {
        read->json = text;
        read->enveloped = true;
    }
    return report;
}

std::variant<Outgoing, std::string> read_report_document(const std::string& path) {
    const auto content = read_input(path);
    if (const auto* error = std::get_if<disk::Error>(&content)) return error->what;
    auto report = report_document(std::get_if<disk::Content>(&content)->text);
    if (auto* error = std::get_if<std::string>(&report)) *error = path + ": " + *error;
    return report;
}

}  // namespace gpucheck
