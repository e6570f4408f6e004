// Entries of the spool; see entry.h.
#include "providers/delivery/entry.h"

#include <array>
#include <charconv>

#include "checks/json/json.h"

namespace gpucheck::delivery {
namespace {

constexpr std::string_view kSuffix = ".report";
constexpr unsigned kMostAttempts = 1'000'000;

template <class Number>
bool read_number(std::string_view text, Number& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

bool is_hex(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string text_of(const Json& object, const char* name) {
    const auto found = object.find(name);
    const auto* text = found == object.end() ? nullptr : found->get_ptr<const std::string*>();
    return text != nullptr ? *text : std::string();
}

bool flag_of(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_boolean() && found->get<bool>();
}

Json json_of(const Sink& sink) {
    return Json{{"url", sink.url},
                {"token_file", sink.token_file},
                {"token_credential", sink.token_credential},
                {"ca_file", sink.ca_file},
                {"pin", sink.pin},
                {"timeout_s", sink.timeout_s},
                {"insecure_http", sink.insecure_http},
                {"prove_identity", sink.prove_identity},
                {"enrolment_token_file", sink.enrolment_token_file}};
}

Sink sink_from(const Json& json) {
    Sink sink;
    sink.url = text_of(json, "url");
    sink.token_file = text_of(json, "token_file");
    sink.token_credential = text_of(json, "token_credential");
    sink.ca_file = text_of(json, "ca_file");
    sink.pin = text_of(json, "pin");
    const auto timeout = json.find("timeout_s");
    if (timeout != json.end() && timeout->is_number()) sink.timeout_s = timeout->get<double>();
    sink.insecure_http = flag_of(json, "insecure_http");
    sink.prove_identity = flag_of(json, "prove_identity");
    sink.enrolment_token_file = text_of(json, "enrolment_token_file");
    return sink;
}

}  // namespace

bool is_report_id(std::string_view text) {
    if (text.size() != 36) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-' : !is_hex(text.substr(i, 1))) return false;
    }
    return true;
}

std::string EntryName::file() const {
    return report_id + "." + std::string(name_of(verdict)) + "." + sink + "." + std::to_string(attempts) +
           "." + std::to_string(next_try_s) + "." + last + std::string(kSuffix);
}

std::optional<EntryName> EntryName::parse(std::string_view file) {
    if (file.size() > 200 || file.size() < kSuffix.size() ||
        file.substr(file.size() - kSuffix.size()) != kSuffix)
        return std::nullopt;
    file.remove_suffix(kSuffix.size());
    std::array<std::string_view, 6> parts;
    std::size_t count = 0;
    for (;;) {
        const std::size_t dot = file.find('.');
        if (count == parts.size()) return std::nullopt;
        parts[count++] = file.substr(0, dot);
        if (dot == std::string_view::npos) break;
        file.remove_prefix(dot + 1);
    }
    const auto verdict = verdict_from(parts[1]);
    EntryName name{std::string(parts[0]), verdict.value_or(Verdict::unknown), std::string(parts[2]), 0, 0,
                   std::string(parts[5])};
    const bool fits = count == parts.size() && is_report_id(parts[0]) && verdict && parts[2].size() == 16 &&
                      is_hex(parts[2]) && read_number(parts[3], name.attempts) &&
                      read_number(parts[4], name.next_try_s) && !parts[5].empty();
    if (!fits || name.attempts > kMostAttempts) return std::nullopt;
    return name;
}

std::string encode(const Entry& entry) {
    const Json head{{"gpucheck_spool", 1},        {"report_id", entry.report_id},
                    {"created", entry.created},   {"source", entry.source},
                    {"provider", entry.provider}, {"content_type", entry.content_type},
                    {"gzip", entry.gzip},         {"sink", json_of(entry.sink)},
                    {"bytes", entry.body.size()}, {"fnv1a64", hex16(fnv1a(entry.body))}};
    return dump_json(head, -1) + "\n" + entry.body;
}

std::variant<Entry, std::string> decode(std::string_view file) {
    const std::size_t end = file.find('\n');
    if (end == std::string_view::npos) return std::string("cut off in its head");
    auto parsed = parse_json(file.substr(0, end), 4);
    const Json* head = std::get_if<Json>(&parsed);
    if (head == nullptr || !head->is_object() || head->value("gpucheck_spool", Json()) != Json(1))
        return std::string("its head is no head");
    const std::string_view body = file.substr(end + 1);
    if (head->value("bytes", Json()) != Json(body.size()))
        return std::string("its body has another length than its head says");
    if (text_of(*head, "fnv1a64") != hex16(fnv1a(body)))
        return std::string("its body has another checksum than its head says");
    const auto sink = head->find("sink");
    Entry entry;
    if (sink != head->end() && sink->is_object()) entry.sink = sink_from(*sink);
    entry.report_id = text_of(*head, "report_id");
    entry.created = text_of(*head, "created");
    entry.source = text_of(*head, "source");
    entry.provider = text_of(*head, "provider");
    entry.content_type = text_of(*head, "content_type");
    entry.gzip = flag_of(*head, "gzip");
    entry.body = body;
    if (!is_report_id(entry.report_id) || entry.sink.url.empty() || entry.content_type.empty())
        return std::string("its head lacks a member");
    return entry;
}

}  // namespace gpucheck::delivery
