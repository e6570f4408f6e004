// Reads a report; see report_facts.h.
#include "providers/render/report_facts.h"

#include <algorithm>
#include <optional>

#include "checks/json/json.h"
#include "checks/json/utf8.h"

namespace gpucheck::faults {
namespace {

constexpr std::size_t kMaxText = 2000;

// One line of bounded length: it goes into other people's consoles.
std::string tamed(std::string text) {
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
    }
    if (text.size() > kMaxText) {
        text.resize(kMaxText);
        while (!text.empty() && !is_utf8(text)) text.pop_back();
    }
    return text;
}

const Json* member(const Json& object, std::string_view key) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

std::string text_at(const Json& object, std::string_view key) {
    const Json* value = member(object, key);
    return value != nullptr && value->is_string() ? tamed(value->get<std::string>()) : std::string();
}

Fact<std::string> fact_at(const Json& object, std::string_view key) {
    std::string text = text_at(object, key);
    const std::string source = "the report's " + std::string(key);
    if (text.empty()) return Missing{source, "not in the report"};
    return Fact<std::string>(std::move(text), source);
}

std::optional<ReportProblem> problem_of(const Json& object) {
    ReportProblem problem;
    problem.code = text_at(object, "code");
    const auto verdict = verdict_from(text_at(object, "verdict"));
    const auto scope = scope_from(text_at(object, "scope"));
    if (problem.code.empty() || !verdict || !scope) return std::nullopt;
    problem.verdict = *verdict;
    problem.scope = *scope;
    problem.check = text_at(object, "check");
    problem.subject = text_at(object, "subject");
    problem.expected = text_at(object, "expected");
    problem.observed = text_at(object, "observed");
    problem.first = text_at(object, "first");
    return problem;
}

ReportGpu gpu_of(const Json& object) {
    return {text_at(object, "bdf"), text_at(object, "vendor"), text_at(object, "board_name"),
            fact_at(object, "serial")};
}

std::optional<std::string> read_lists(const Json& document, ReportFacts& facts) {
    const Json* problems = member(document, "findings");
    const Json* gpus = member(document, "gpus");
    if (problems == nullptr || !problems->is_array()) return "it has no findings";
    for (const Json& object : *problems) {
        auto problem = problem_of(object);
        if (!problem) return "a finding lacks its code, verdict or scope";
        facts.problems.push_back(std::move(*problem));
    }
    if (gpus != nullptr && gpus->is_array()) {
        for (const Json& object : *gpus) facts.gpus.push_back(gpu_of(object));
    }
    return std::nullopt;
}

// "2026-11-30T10:00:00Z", also with a fraction.
bool is_time(std::string_view text) {
    constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
    if (text.size() < kShape.size() + 1 || text.back() != 'Z') return false;
    return std::equal(kShape.begin(), kShape.end(), text.begin(),
                      [](char shape, char c) { return shape == 'd' ? c >= '0' && c <= '9' : c == shape; });
}

bool is_uuid(std::string_view text) {
    constexpr std::string_view kShape = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
    constexpr std::string_view kDigits = "0123456789abcdef";
    return text.size() == kShape.size() &&
           std::equal(kShape.begin(), kShape.end(), text.begin(), [&](char shape, char c) {
               return shape == 'h' ? kDigits.find(c) != std::string_view::npos : c == shape;
           });
}

}  // namespace

const ReportGpu* ReportFacts::gpu(std::string_view bdf) const {
    const auto found =
        std::find_if(gpus.begin(), gpus.end(), [&](const ReportGpu& one) { return one.bdf == bdf; });
    return found == gpus.end() ? nullptr : &*found;
}

std::variant<ReportFacts, std::string> read_report(std::string_view json) {
    const auto parsed = parse_json(json);
    if (const auto* error = std::get_if<JsonError>(&parsed)) return "no JSON: " + error->what;
    const Json& document = std::get<Json>(parsed);
    ReportFacts facts;
    if (text_at(document, "schema_version").substr(0, 2) != "1.") return "not a report of schema version 1";
    facts.report_id = text_at(document, "report_id");
    facts.created = text_at(document, "created");
    if (!is_uuid(facts.report_id)) return "its report_id is no UUID";
    if (!is_time(facts.created)) return "its time is no time in UTC";
    const auto verdict = verdict_from(text_at(document, "verdict"));
    const Json* simulated = member(document, "simulated");
    if (!verdict || simulated == nullptr || !simulated->is_boolean())
        return "it lacks its verdict, or whether it is simulated";
    facts.verdict = *verdict;
    facts.simulated = simulated->get<bool>();
    const Json* injected = member(document, "injected");
    if (injected != nullptr && !injected->is_null())
        facts.injected = injected->is_string() ? tamed(injected->get<std::string>()) : "something";
    facts.boot_id = fact_at(document, "boot_id");
    const Json empty = Json::object();
    const Json* host = member(document, "host");
    const Json* instance = member(document, "instance");
    facts.hostname = fact_at(host != nullptr ? *host : empty, "hostname");
    const Json& who = instance != nullptr ? *instance : empty;
    facts.provider = fact_at(who, "provider");
    facts.instance_id = fact_at(who, "id");
    facts.region = fact_at(who, "region");
    facts.zone = fact_at(who, "zone");
    if (const auto why = read_lists(document, facts)) return *why;
    return facts;
}

}  // namespace gpucheck::faults
