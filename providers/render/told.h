// Which of a report's findings are told at all, and in which words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checks/json/json.h"
#include "providers/render/render.h"

namespace gpucheck::faults {

struct Told {
    const ReportProblem* problem = nullptr;
    const FaultRow* row = nullptr;
};

/// The host's problems of at least `least` (warn or fail) that the table has a word for, in report order.
/// What is left out is named with its reason in `left_out`.
std::vector<Told> told(const ReportFacts& report, const FaultTable& table, Verdict least,
                       std::vector<std::string>& left_out);

/// The same, one group for each value of a column, in order of appearance.
struct ToldGroup {
    std::string word;
    std::vector<Told> members;
};
std::vector<ToldGroup> grouped(const std::vector<Told>& all, std::string FaultRow::*column);

/// "gpu.count.missing on host: expected 8, observed 7".
std::string sentence(const ReportProblem& problem);
/// All of them, "; " between, at most `limit` bytes: what does not fit is counted ("and 3 more").
std::string sentences(const std::vector<Told>& members, std::size_t limit);
/// When the first of them was seen, to the second: "2026-11-30T10:00:00Z".
std::string start_of(const std::vector<Told>& members, const ReportFacts& report);

/// The fact's value, or "<name>" and the name among the holes.
std::string value_or_hole(const Fact<std::string>& fact, std::string_view name, Rendered& rendered);
/// A request with a JSON body.
http::Request json_request(std::string method, std::string url, const Json& body);

}  // namespace gpucheck::faults
