// Queries; see query.h.
#include "fleet/collect/query.h"

#include <charconv>
#include <map>

#include "agent/report/report_id.h"
#include "checks/json/json.h"
#include "checks/model/verdict.h"

namespace gpucheck::fleet::collect {
namespace {

constexpr std::int64_t kMostRows = 1000;

using Parameters = std::map<std::string, std::string, std::less<>>;

std::optional<std::string> decoded(std::string_view text) {
    const auto digit = [](char c) {
        return c >= '0' && c <= '9'                     ? c - '0'
               : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                        : -1;
    };
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '+') c = ' ';
        if (c == '%') {
            if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) return std::nullopt;
            c = static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
            i += 2;
        }
        if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
        plain += c;
    }
    return plain;
}

std::variant<Parameters, std::string> parameters(std::string_view query,
                                                 std::initializer_list<std::string_view> known) {
    Parameters result;
    while (!query.empty()) {
        const std::string_view pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), pair.size() + 1));
        const std::size_t equals = pair.find('=');
        const std::string_view name = pair.substr(0, equals);
        bool is_known = false;
        for (const std::string_view each : known) is_known = is_known || each == name;
        if (!is_known) return std::string("a parameter that is not known");
        const auto value = decoded(equals == std::string_view::npos ? "" : pair.substr(equals + 1));
        if (!value || value->empty()) return std::string(name) + " has no value that can be read";
        if (!result.emplace(name, *value).second) return std::string(name) + " is there twice";
    }
    return result;
}

const std::string* given(const Parameters& all, std::string_view name) {
    const auto found = all.find(name);
    return found == all.end() ? nullptr : &found->second;
}

// 0: not a number between 1 and `most`.
std::int64_t number(const std::string& text, std::int64_t most) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && value >= 1 && value <= most ? value
                                                                                                   : 0;
}

Json row_json(const Row& row) {
    return {{"report_id", row.report_id}, {"received", report::rfc3339_utc(row.received_ms / 1000)},
            {"created", row.created},     {"node", row.node},
            {"machine", row.machine},     {"verdict", row.verdict},
            {"verified", row.verified},   {"simulated", row.simulated},
            {"key_id", row.key_id},       {"token", row.token}};
}

std::string list_json(const char* name, const std::vector<Row>& rows, const std::string& next) {
    Json json;
    Json& list = json[name] = Json::array();
    for (const Row& row : rows) list.push_back(row_json(row));
    if (!next.empty()) json["next"] = next;
    return dump_json(json, -1) + "\n";
}

}  // namespace

std::variant<Question, std::string> question_of(std::string_view query) {
    auto read = parameters(query, {"node", "since", "verdict", "limit", "cursor"});
    if (auto* why = std::get_if<std::string>(&read)) return std::move(*why);
    const auto& all = *std::get_if<Parameters>(&read);
    Question question;
    if (const auto* node = given(all, "node")) question.node = *node;
    if (const auto* verdict = given(all, "verdict")) {
        if (!verdict_from(*verdict)) return std::string("verdict is none of the known ones");
        question.verdict = *verdict;
    }
    if (const auto* since = given(all, "since")) {
        const auto seconds = report::unix_seconds(*since);
        if (!seconds) return std::string("since is not a time of RFC 3339");
        question.since_ms = *seconds * 1000;
    }
    if (const auto* limit = given(all, "limit"))
        if ((question.limit = number(*limit, kMostRows)) == 0) return std::string("limit is not 1 to 1000");
    if (const auto* cursor = given(all, "cursor"))
        if ((question.before_seq = number(*cursor, INT64_MAX)) == 0)
            return std::string("cursor is not one that was given out");
    return question;
}

std::variant<NodesQuestion, std::string> nodes_question_of(std::string_view query) {
    auto read = parameters(query, {"limit", "cursor"});
    if (auto* why = std::get_if<std::string>(&read)) return std::move(*why);
    const auto& all = *std::get_if<Parameters>(&read);
    NodesQuestion question;
    if (const auto* cursor = given(all, "cursor")) question.after = *cursor;
    if (const auto* limit = given(all, "limit"))
        if ((question.limit = number(*limit, kMostRows)) == 0) return std::string("limit is not 1 to 1000");
    return question;
}

std::string reports_json(const std::vector<Row>& rows, std::int64_t limit) {
    const bool more = !rows.empty() && rows.size() == static_cast<std::size_t>(limit);
    return list_json("reports", rows, more ? std::to_string(rows.back().seq) : std::string());
}

std::string nodes_json(const std::vector<Row>& rows, std::int64_t limit) {
    const bool more = !rows.empty() && rows.size() == static_cast<std::size_t>(limit);
    return list_json("nodes", rows, more ? rows.back().machine : std::string());
}

std::string problem_json(int status, std::string_view detail) {
    return dump_json(Json{{"status", status}, {"detail", detail}}, -1) + "\n";
}

}  // namespace gpucheck::fleet::collect
