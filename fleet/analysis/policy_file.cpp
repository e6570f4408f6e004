// A policy read member by member; see files.h.
#include <algorithm>
#include <array>
#include <cmath>

#include "checks/json/json.h"
#include "checks/specs/data_file.h"
#include "checks/specs/row_reader.h"
#include "fleet/analysis/files.h"
#include "fleet/analysis/policy_names.h"

namespace gpucheck::fleet {
namespace {

constexpr std::array kDecisions{
    std::pair("accept", Decision::accept), std::pair("quarantine", Decision::quarantine),
    std::pair("reject", Decision::reject), std::pair("no_evidence", Decision::no_evidence)};
constexpr std::size_t kMostRules = 1000;

std::vector<std::string> texts(RowReader& reader, const Json& rule, const char* key) {
    std::vector<std::string> all;
    const Json* list = reader.array(rule, key);
    if (list == nullptr) return all;
    if (!list->is_array() || list->empty())
        reader.complain(std::string(key) + " has to be a list of texts, not empty");
    for (const Json& each : *list) {
        if (!each.is_string() || each.get_ref<const std::string&>().empty())
            reader.complain(std::string(key) + " has to hold texts that are not empty");
        else
            all.push_back(each.get<std::string>());
    }
    return all;
}

/// A "*" stands for the rest of a name, and nothing else is a pattern.
bool plain_code(const std::string& code) {
    const auto star = code.find('*');
    return star == std::string::npos || (star == code.size() - 1 && code.size() > 2 && code.ends_with(".*"));
}

bool plain_metric(const std::string& metric) {
    const auto stars = std::count(metric.begin(), metric.end(), '*');
    return stars == 0 || (stars == 1 && (metric.starts_with('*') || metric.ends_with('*')));
}

void complain_if(RowReader& reader, const std::string& wrong) {
    if (!wrong.empty()) reader.complain(wrong);
}

/// A name that nothing has is a slip, and its rule would never speak.
void check_names(RowReader& reader, const Rule& rule) {
    for (const std::string& code : rule.codes) {
        if (!plain_code(code)) reader.complain("code '" + code + "' may hold '*' only as '.*' at its end");
        complain_if(reader, wrong_code(code));
    }
    for (const std::string& board : rule.boards) complain_if(reader, wrong_board(board));
    if (!plain_metric(rule.metric))
        reader.complain("metric '" + rule.metric + "' may hold one '*', at its beginning or its end");
    if (!rule.metric.empty()) complain_if(reader, wrong_metric(rule.metric));
}

void check_sense(RowReader& reader, const Rule& rule) {
    check_names(reader, rule);
    if (rule.value_below && !rule.metric.empty() && names_a_time(rule.metric))
        reader.complain("value_below cannot be over '" + rule.metric +
                        "': a time is among it, of which less is better");
    const bool bars = rule.ratio_below || rule.z_below || rule.value_below;
    if (rule.missing_metric && rule.metric.empty()) reader.complain("missing_metric needs a metric");
    if (rule.missing_metric && bars)
        reader.complain("missing_metric cannot be with ratio_below, z_below or value_below");
    if (bars && rule.metric.empty()) reader.complain("ratio_below, z_below and value_below need a metric");
    if (!rule.metric.empty() && !bars && !rule.missing_metric)
        reader.complain("a metric needs ratio_below, z_below, value_below or missing_metric");
    if (rule.metric.empty() && rule.codes.empty() && rule.verdicts.empty() && rule.scopes.empty() &&
        rule.boards.empty())
        reader.complain("it matches nothing: codes, verdicts, scopes, boards or a metric is needed");
    if (rule.decision == Decision::accept && (rule.codes.empty() || !rule.metric.empty()))
        reader.complain("accept is for codes: it says which problems do not count, and that only");
}

Rule read_rule(RowReader& reader, const Json& row) {
    Rule rule;
    if (!reader.object(row, "rule",
                       {"name", "decision", "codes", "verdicts", "scopes", "metric", "ratio_below", "z_below",
                        "value_below", "boards", "missing_metric", "comment"}))
        return rule;
    rule.name = reader.text(row, "name");
    const std::string decision = reader.text(row, "decision");
    const auto known = decision_from(decision);
    if (!known)
        reader.complain("decision '" + decision + "' is none of accept, quarantine, reject, no_evidence");
    rule.decision = known.value_or(Decision::reject);
    rule.codes = texts(reader, row, "codes");
    rule.boards = texts(reader, row, "boards");
    rule.scopes = texts(reader, row, "scopes");
    for (const std::string& scope : rule.scopes) {
        if (!scope_from(scope)) reader.complain("scope '" + scope + "' is none of guest, host, unknown");
    }
    for (const std::string& name : texts(reader, row, "verdicts")) {
        const auto verdict = verdict_from(name);
        if (!verdict)
            reader.complain("verdict '" + name + "' is none of pass, warn, unknown, fail, not_applicable");
        else
            rule.verdicts.push_back(*verdict);
    }
    rule.metric = reader.optional_text(row, "metric").value_or("");
    rule.ratio_below = reader.number(row, "ratio_below", 0.01, 1);
    rule.z_below = reader.number(row, "z_below", -1000, -1);
    rule.value_below = reader.number(row, "value_below", 1e-6, 1e12);
    rule.missing_metric = reader.flag(row, "missing_metric");
    reader.optional_text(row, "comment");
    check_sense(reader, rule);
    return rule;
}

bool flag_or(RowReader& reader, const Json& document, const char* key, bool otherwise) {
    return RowReader::member(document, key) == nullptr ? otherwise : reader.flag(document, key);
}

void read_members(RowReader& reader, const Json& document, Policy& policy) {
    policy.name = reader.text(document, "name");
    policy.min_group = reader.whole(document, "min_group", 2, 1'000'000).value_or(policy.min_group);
    policy.max_age_hours = reader.number(document, "max_age_hours", 0, 1e6).value_or(policy.max_age_hours);
    policy.accept_unverified = flag_or(reader, document, "accept_unverified", policy.accept_unverified);
    policy.accept_unknown = flag_or(reader, document, "accept_unknown", policy.accept_unknown);
    policy.accept_uncompared = flag_or(reader, document, "accept_uncompared", policy.accept_uncompared);
    policy.unlike_share = reader.number(document, "unlike_share", 0, 0.5).value_or(policy.unlike_share);
    policy.max_reject_share =
        reader.number(document, "max_reject_share", 0, 1).value_or(policy.max_reject_share);
    const Json* rules = reader.array(document, "rules");
    if (rules == nullptr || !rules->is_array() || rules->size() > kMostRules) {
        reader.complain("rules has to be a list of at most 1000 rules");
        return;
    }
    for (std::size_t index = 0; index < rules->size() && reader.ok(); ++index) {
        const Json& row = (*rules)[index];
        const Json* name = row.is_object() ? RowReader::member(row, "name") : nullptr;
        reader.at_row("rule " + std::to_string(index + 1) +
                      (name != nullptr && name->is_string() ? " (" + name->get<std::string>() + ")" : ""));
        policy.rules.push_back(read_rule(reader, row));
    }
}

template <class T>
void put(Json& json, const char* key, const std::vector<T>& list) {
    if (!list.empty()) json[key] = list;
}

}  // namespace

std::string_view name_of(Decision decision) {
    for (const auto& [name, value] : kDecisions) {
        if (value == decision) return name;
    }
    return "no_evidence";
}

std::optional<Decision> decision_from(std::string_view name) {
    for (const auto& [text, value] : kDecisions) {
        if (text == name) return value;
    }
    return std::nullopt;
}

std::variant<Policy, std::string> read_policy(std::string_view text, const std::string& file) {
    const auto parsed = parse_data(text);
    if (const auto* error = std::get_if<std::string>(&parsed)) return file + ": " + *error;
    const Json& document = std::get<Json>(parsed);
    RowReader reader(file);
    Policy policy;
    if (reader.object(document, "policy",
                      {"$schema", "schema_version", "name", "min_group", "max_age_hours", "accept_unverified",
                       "accept_unknown", "accept_uncompared", "unlike_share", "max_reject_share", "rules",
                       "comment"})) {
        reader.optional_text(document, "$schema");
        reader.optional_text(document, "comment");
        if (!reader.whole(document, "schema_version", 1, 1)) reader.complain("schema_version has to be 1");
        read_members(reader, document, policy);
    }
    if (!reader.ok()) return reader.error();
    return policy;
}

std::string write_policy(const Policy& policy) {
    Json document{{"schema_version", 1},
                  {"name", policy.name},
                  {"min_group", policy.min_group},
                  {"max_age_hours", policy.max_age_hours},
                  {"accept_unverified", policy.accept_unverified},
                  {"accept_unknown", policy.accept_unknown},
                  {"accept_uncompared", policy.accept_uncompared},
                  {"unlike_share", policy.unlike_share},
                  {"max_reject_share", policy.max_reject_share},
                  {"rules", Json::array()}};
    for (const Rule& rule : policy.rules) {
        Json row{{"name", rule.name}, {"decision", name_of(rule.decision)}};
        put(row, "codes", rule.codes);
        for (const Verdict verdict : rule.verdicts) row["verdicts"].push_back(gpucheck::name_of(verdict));
        put(row, "scopes", rule.scopes);
        if (!rule.metric.empty()) row["metric"] = rule.metric;
        if (rule.ratio_below) row["ratio_below"] = *rule.ratio_below;
        if (rule.z_below) row["z_below"] = *rule.z_below;
        if (rule.value_below) row["value_below"] = *rule.value_below;
        put(row, "boards", rule.boards);
        if (rule.missing_metric) row["missing_metric"] = true;
        document["rules"].push_back(std::move(row));
    }
    return dump_json(document) + "\n";
}

}  // namespace gpucheck::fleet
