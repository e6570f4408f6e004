// An analysis for programs: docs/fleet.schema.json describes it, and a scheduler drains nodes by it.
#include <set>
#include <utility>

#include "fleet/analysis/files.h"
#include "fleet/model/read.h"
#include "fleet/read/splitter.h"
#include "fleet/show/json_out.h"

namespace gpucheck::fleet {
namespace {

void write_reason(JsonOut& out, const Fleet& fleet, const NodeReport& report, const Reason& reason) {
    out.begin('{').key("decision").text(name_of(reason.decision)).key("rule").text(reason.rule);
    out.key("text").text(reason.text).key("gpu");
    const auto gpu = static_cast<std::size_t>(reason.gpu);
    out.text_or_null(reason.gpu >= 0 && gpu < report.gpus.size() ? fleet.names.text(report.gpus[gpu].bdf)
                                                                 : "");
    out.end('}');
}

void write_node(JsonOut& out, const Fleet& fleet, const NodeResult& node) {
    const NodeReport& report = fleet.reports[node.report];
    out.begin('{').key("node").text(report.node).key("key").text(report.key);
    out.key("decision").text(name_of(node.decision)).key("evidence").number(node.evidence);
    out.key("verdict").text(name_of(report.verdict));
    out.key("gpus").count(report.gpus.size());
    out.key("report_id").text(report.report_id).key("created").text(report.created);
    out.key("where").text_or_null(report.where);
    out.key("verified").flag(report.verified).key("simulated").flag(report.simulated || report.injected);
    out.list("earlier", node.earlier, [&](std::size_t index) { out.text(fleet.reports[index].report_id); });
    out.list("reasons", node.reasons,
             [&](const Reason& reason) { write_reason(out, fleet, report, reason); });
    out.end('}');
}

void write_distribution(JsonOut& out, const Distribution& distribution) {
    out.key("distribution").begin('{').key("count").count(distribution.count);
    const std::pair<std::string_view, double> parts[] = {
        {"min", distribution.min},       {"p05", distribution.p05}, {"p25", distribution.p25},
        {"median", distribution.median}, {"p75", distribution.p75}, {"p95", distribution.p95},
        {"max", distribution.max},       {"mad", distribution.mad}};
    for (const auto& [name, value] : parts) out.key(name).number(value);
    out.end('}');
}

void write_metric(JsonOut& out, const MetricSummary& metric) {
    out.begin('{').key("metric").text(metric.metric);
    out.key("more_is_better").flag(metric.more_is_better).key("judged").flag(metric.judged);
    write_distribution(out, metric.distribution);
    out.key("centre");
    if (metric.centre) {
        const Centre& centre = *metric.centre;
        out.begin('{').key("value").number(centre.value).key("spread").number(centre.spread);
        out.key("bar").number(centre.bar).key("kept").count(centre.kept);
        out.key("dropped").count(centre.dropped).end('}');
    } else {
        out.null();
    }
    out.key("from_baseline").flag(metric.from_baseline).end('}');
}

void write_group(JsonOut& out, const Group& group) {
    out.begin('{').key("board").text(group.key.board);
    out.key("instance_type").text_or_null(group.key.instance_type);
    out.key("driver").text(group.key.driver).key("profile").text(group.key.profile);
    out.key("mode").text_or_null(group.key.mode).key("memory_gib");
    if (group.key.memory_gib != 0) {
        out.count(group.key.memory_gib);
    } else {
        out.null();
    }
    out.key("nodes").count(group.nodes.size()).key("verdicts").begin('{');
    for (const auto& [verdict, count] : group.verdicts) out.key(name_of(verdict)).count(count);
    out.end('}');
    out.list("metrics", group.metrics, [&](const MetricSummary& metric) { write_metric(out, metric); });
    out.end('}');
}

void write_outlier(JsonOut& out, const Fleet& fleet, const Analysis& analysis, const Outlier& outlier) {
    const NodeReport& report = fleet.reports[analysis.nodes[outlier.node].report];
    out.begin('{').key("node").text(report.node).key("against").text(name_of(outlier.against));
    const bool known = outlier.gpu < report.gpus.size();
    out.key("gpu").text_or_null(known ? fleet.names.text(report.gpus[outlier.gpu].bdf) : "");
    out.key("identity").text_or_null(known ? report.gpus[outlier.gpu].identity : "");
    out.key("group").count(outlier.group).key("metric").text(outlier.metric);
    out.key("value").number(outlier.value).key("centre").number(outlier.centre);
    out.key("ratio").number(outlier.ratio).key("z").number(outlier.z).end('}');
}

void write_common(JsonOut& out, const Common& common) {
    out.begin('{').key("property").text(common.property).key("value").text(common.value);
    out.key("problem").text(common.problem).key("bad_with").count(common.bad_with);
    out.key("with").count(common.with).key("bad").count(common.bad).key("all").count(common.all);
    out.key("p").number(common.p).end('}');
}

void write_offender(JsonOut& out, const Offender& offender) {
    out.begin('{').key("identity").text(offender.identity);
    out.list("times", offender.times, [&](const Offender::Time& time) {
        out.begin('{').key("created").text(time.created).key("node").text(time.node);
        out.key("problem").text(time.problem).end('}');
    });
    out.end('}');
}

void write_rejected(JsonOut& out, const Fleet& fleet) {
    std::set<std::pair<std::string, std::string>> conflicts;
    for (Rejected& row : conflict_rows(fleet)) conflicts.emplace(std::move(row.where), std::move(row.why));
    out.table("rejected", fleet.rejected, [&](const Rejected& row) {
        out.begin('{').key("where").text(row.where).key("why").text(row.why);
        if (row.inputs != 1) out.key("inputs").count(row.inputs);
        if (row.missing) out.key("missing").flag(true);
        // Who reads this again finds it out from "conflicting".
        if (conflicts.contains({row.where, row.why})) out.key("shares_an_id").flag(true);
        out.end('}');
    });
}

void write_head(JsonOut& out, const Fleet& fleet, const Analysis& analysis, const ShowOptions& options) {
    const auto texts = [&](std::string_view name, const std::vector<std::string>& lines) {
        out.line();
        out.list(name, lines, [&](const std::string& line) { out.text(line); });
    };
    out.begin('{').key(kSummaryKey).text("1.0");
    out.line();
    out.key("decision").text(name_of(analysis.decision));
    out.line();
    out.key("policy").text(options.policy).key("baseline").text_or_null(options.baseline);
    texts("why", analysis.why);
    texts("notes", analysis.notes);
    texts("remarks", fleet.remarks);
    out.line();
    out.key("counts").begin('{').key("reports").count(fleet.reports.size());
    out.key("nodes").count(analysis.nodes.size());
    for (const Decision each :
         {Decision::accept, Decision::quarantine, Decision::reject, Decision::no_evidence}) {
        const auto count = analysis.decisions.find(each);
        out.key(name_of(each)).count(count == analysis.decisions.end() ? 0 : count->second);
    }
    out.key("rejected_inputs").count(fleet.rejected.size());
    out.key("conflicting").count(fleet.conflicting.size()).end('}');
}

}  // namespace

std::string_view name_of(Against against) {
    switch (against) {
        case Against::gpus:
            return "gpus";
        case Against::nodes:
            return "nodes";
        case Against::own_node:
            return "own_node";
    }
    return "gpus";
}

void summary_json(const Fleet& fleet, const Analysis& analysis, const ShowOptions& options,
                  const Sink& sink) {
    JsonOut out(sink);
    write_head(out, fleet, analysis, options);
    out.line();
    out.table("nodes", analysis.nodes, [&](const NodeResult& node) { write_node(out, fleet, node); });
    out.line();
    out.table("groups", analysis.groups, [&](const Group& group) { write_group(out, group); });
    out.line();
    out.table("outliers", analysis.outliers,
              [&](const Outlier& outlier) { write_outlier(out, fleet, analysis, outlier); });
    out.line();
    out.table("commons", analysis.commons, [&](const Common& common) { write_common(out, common); });
    out.line();
    out.table("offenders", analysis.offenders,
              [&](const Offender& offender) { write_offender(out, offender); });
    out.line();
    write_rejected(out, fleet);
    out.line();
    out.table("conflicting", fleet.conflicting,
              [&](const NodeReport& report) { out.raw(condensed(fleet, report)); });
    out.line();
    out.table("reports", fleet.reports, [&](const NodeReport& report) { out.raw(condensed(fleet, report)); });
    out.end('}');
    out.finish();
}

void summary_jsonl(const Fleet& fleet, const Analysis& analysis, const Sink& sink) {
    for (const NodeResult& node : analysis.nodes) {
        JsonOut out(sink);
        write_node(out, fleet, node);
        out.finish();
    }
}

void comparison_json(const Comparison& comparison, const Sink& sink) {
    JsonOut out(sink);
    out.begin('{').key("gpucheck_comparison").text("1.0");
    out.line();
    out.key("decision").text(name_of(comparison.decision));
    out.line();
    out.list("why", comparison.why, [&](const std::string& reason) { out.text(reason); });
    out.line();
    out.key("nodes_both").count(comparison.nodes_both);
    out.key("nodes_only_before").count(comparison.nodes_only_before);
    out.key("nodes_only_after").count(comparison.nodes_only_after);
    out.key("compared").count(comparison.compared).key("two_samples").flag(comparison.two_samples);
    out.line();
    out.list("notes", comparison.notes, [&](const std::string& note) { out.text(note); });
    out.line();
    out.table("significant", comparison.significant, [&](const Change& change) {
        out.begin('{').key("node").text_or_null(change.node).key("subject").text(change.subject);
        out.key("metric").text(change.metric).key("before").text(change.before);
        out.key("after").text(change.after).key("ratio");
        if (change.ratio > 0) {
            out.number(change.ratio);
        } else {
            out.null();
        }
        out.key("p").number(change.p).key("worse").flag(change.worse).end('}');
    });
    out.end('}');
    out.finish();
}

}  // namespace gpucheck::fleet
