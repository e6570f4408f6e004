// A report's head; see report_head.h.
#include "fleet/collect/report_head.h"

#include <simdjson.h>

#include <algorithm>
#include <vector>

#include "agent/report/report_id.h"
#include "checks/model/verdict.h"

namespace gpucheck::fleet::collect {
namespace {

namespace dom = simdjson::dom;

struct Members {
    dom::object object;
    bool text(std::string_view name, std::string& into) const {
        std::string_view value;
        if (object.at_key(name).get(value) != simdjson::SUCCESS) return false;
        into = value;
        return true;
    }
};

// Two readers of a member that is named twice would see two reports.
std::string named_twice(const dom::object& object) {
    std::vector<std::string_view> names;
    for (const auto& field : object) names.push_back(field.key);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    return twice == names.end() ? std::string() : std::string(twice->substr(0, 64));
}

}  // namespace

std::variant<ReportHead, std::string> report_head(std::string_view report) {
    constexpr std::size_t kDepth = 64;  // as checks/json: what is deeper is no report of ours
    dom::parser parser;
    if (parser.allocate(std::max<std::size_t>(report.size(), 1), kDepth) != simdjson::SUCCESS)
        return "not enough memory to read it";
    dom::element document;
    if (const auto error = parser.parse(report.data(), report.size(), true).get(document))
        return std::string("not JSON: ") + simdjson::error_message(error);
    Members members;
    if (document.get(members.object) != simdjson::SUCCESS) return "not a report: no object";
    if (const std::string twice = named_twice(members.object); !twice.empty())
        return "not a report: \"" + twice + "\" is there twice";
    ReportHead head;
    std::string version;
    if (!members.text("schema_version", version) || !version.starts_with("1."))
        return "not a report: schema_version is not 1.x";
    if (!members.text("report_id", head.report_id) || !report::is_report_id(head.report_id))
        return "not a report: report_id is not a UUID in lower case";
    if (!members.text("created", head.created) || !report::unix_seconds(head.created))
        return "not a report: created is not a time of RFC 3339";
    if (!members.text("verdict", head.verdict) || !verdict_from(head.verdict))
        return "not a report: verdict is none of the known ones";
    if (members.object.at_key("simulated").get(head.simulated) != simdjson::SUCCESS)
        return "not a report: simulated is not true or false";
    dom::array findings;
    if (members.object.at_key("findings").get(findings) != simdjson::SUCCESS)
        return "not a report: findings is not a list";
    return head;
}

}  // namespace gpucheck::fleet::collect
