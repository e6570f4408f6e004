// Chooses and words what is told; see told.h.
#include "providers/render/told.h"

#include <algorithm>
#include <utility>

#include "checks/json/utf8.h"

namespace gpucheck::faults {
namespace {

std::string reason_to_leave_out(const ReportProblem& problem, const FaultTable& table, Verdict least) {
    if (problem.verdict == Verdict::unknown) return "nobody could look, which is no fault";
    if (problem.scope == Scope::guest) return "the guest's to mend";
    if (problem.scope == Scope::unknown) return "not known whether the guest or the host has to mend it";
    if (problem.verdict < least) return "a warning";
    if (table.row(problem.code) == nullptr) {
        const std::string_view why = table.why_not(problem.code);
        return why.empty() ? "no provider has a word for it" : std::string(why);
    }
    return {};
}

}  // namespace

std::vector<Told> told(const ReportFacts& report, const FaultTable& table, Verdict least,
                       std::vector<std::string>& left_out) {
    std::vector<Told> all;
    for (const ReportProblem& problem : report.problems) {
        const std::string why = reason_to_leave_out(problem, table, least);
        if (why.empty()) {
            all.push_back({&problem, table.row(problem.code)});
        } else {
            left_out.push_back(problem.code + " on " + problem.subject + ": " + why);
        }
    }
    return all;
}

std::vector<ToldGroup> grouped(const std::vector<Told>& all, std::string FaultRow::*column) {
    std::vector<ToldGroup> groups;
    for (const Told& one : all) {
        const std::string& word = one.row->*column;
        auto group = std::find_if(groups.begin(), groups.end(),
                                  [&](const ToldGroup& candidate) { return candidate.word == word; });
        if (group == groups.end()) group = groups.insert(groups.end(), {word, {}});
        group->members.push_back(one);
    }
    return groups;
}

std::string sentence(const ReportProblem& problem) {
    std::string text = problem.code + " on " + (problem.subject.empty() ? "host" : problem.subject);
    if (!problem.expected.empty()) text += ": expected " + problem.expected;
    if (!problem.observed.empty())
        text += (problem.expected.empty() ? ": " : ", observed ") + problem.observed;
    return text;
}

std::string sentences(const std::vector<Told>& members, std::size_t limit) {
    constexpr std::size_t kRoomForMore = 24;
    std::string text;
    for (std::size_t i = 0; i < members.size(); ++i) {
        std::string next = (text.empty() ? "" : "; ") + sentence(*members[i].problem);
        if (text.empty() && next.size() + kRoomForMore > limit) {
            next.resize(limit > kRoomForMore ? limit - kRoomForMore : 0);
            while (!next.empty() && !is_utf8(next)) next.pop_back();
        }
        if (text.size() + next.size() + kRoomForMore > limit && !text.empty())
            return text + "; and " + std::to_string(members.size() - i) + " more";
        text += next;
    }
    return text;
}

std::string start_of(const std::vector<Told>& members, const ReportFacts& report) {
    constexpr std::size_t kToTheSecond = 19;
    std::string start = report.created;
    for (const Told& one : members) {
        const std::string& first = one.problem->first;
        // Only what is in UTC compares as text.
        if (first.size() > kToTheSecond && first.back() == 'Z' && first < start) start = first;
    }
    return start.substr(0, kToTheSecond) + "Z";
}

// What a metadata service said must not change where a request goes.
bool fits_a_url(std::string_view text, bool path) {
    return !text.empty() && text.find("..") == std::string_view::npos &&
           std::all_of(text.begin(), text.end(), [path](unsigned char c) {
               return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == ':' ||
                      (path && c == '/');
           });
}

std::string value_or_hole(const Fact<std::string>& fact, std::string_view name, Rendered& rendered) {
    if (fact.known() && fits_a_url(*fact, name == "resource-id")) return *fact;
    if (std::find(rendered.holes.begin(), rendered.holes.end(), name) == rendered.holes.end())
        rendered.holes.emplace_back(name);
    return "<" + std::string(name) + ">";
}

http::Request json_request(std::string method, std::string url, const Json& body) {
    http::Request request;
    request.method = std::move(method);
    request.url = std::move(url);
    request.headers = {{"Content-Type", "application/json"}};
    request.body = dump_json(body);
    return request;
}

}  // namespace gpucheck::faults
