// GET /v1/summary: the decision for a program, with the sentences that a person would read on the page.
#include "checks/json/json.h"
#include "fleet/analysis/files.h"
#include "fleet/collect/live.h"

namespace gpucheck::fleet::collect {

std::string summary_json(const Fleet& fleet, const Analysis& analysis, std::size_t max_nodes) {
    Json json;
    json["decision"] = name_of(analysis.decision);
    json["why"] = analysis.why;
    json["notes"] = analysis.notes;
    json["reports"] = fleet.reports.size();
    json["decisions"] = Json::object();
    for (const auto& [decision, count] : analysis.decisions)
        json["decisions"][std::string(name_of(decision))] = count;
    json["nodes_left_out"] = analysis.nodes.size() > max_nodes ? analysis.nodes.size() - max_nodes : 0;
    Json& nodes = json["nodes"] = Json::array();
    for (const NodeResult& node : analysis.nodes) {
        if (nodes.size() == max_nodes) break;
        const NodeReport& report = fleet.reports.at(node.report);
        Json row = {{"node", report.node},
                    {"machine", report.key},
                    {"report_id", report.report_id},
                    {"created", report.created},
                    {"verdict", gpucheck::name_of(report.verdict)},
                    {"verified", report.verified},
                    {"decision", name_of(node.decision)},
                    {"evidence", node.evidence},
                    {"reasons", Json::array()}};
        for (const Reason& reason : node.reasons) {
            Json& why = row["reasons"].emplace_back(
                Json{{"decision", name_of(reason.decision)}, {"rule", reason.rule}, {"text", reason.text}});
            if (reason.gpu >= 0) why["gpu"] = reason.gpu;
        }
        nodes.push_back(std::move(row));
    }
    return dump_json(json, -1) + "\n";
}

}  // namespace gpucheck::fleet::collect
