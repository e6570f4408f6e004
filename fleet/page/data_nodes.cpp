// Each node once, worst first: who it is, what was decided of it and by what.
#include <algorithm>
#include <set>
#include <span>

#include "fleet/page/data.h"

namespace gpucheck::fleet {
namespace {

constexpr std::size_t kMostEarlier = 8;       // of a node's older reports the newest
constexpr std::size_t kMostReasons = 24;      // of a node, worst first
constexpr std::size_t kMostHistoryCodes = 6;  // of an older report
constexpr std::size_t kReasonBytes = 400;

char digit(auto number) {
    return static_cast<char>('0' + static_cast<int>(number));
}

// A column of names, as numbers of the page's table.
void add_names(PageData& data, std::string_view member, Name NodeReport::*field) {
    std::vector<std::int64_t> column;
    for (std::size_t node = 0; node < data.listed; ++node)
        column.push_back(data.name(data.report(node).*field));
    data.json.wholes(member, column);
}

void add_texts(PageData& data, std::string_view member, std::string NodeReport::*field) {
    data.json.key(member);
    data.json.open('[');
    for (std::size_t node = 0; node < data.listed; ++node) data.json.text(data.report(node).*field);
    data.json.close(']');
}

void add_labels(PageData& data) {
    data.json.key("labels");
    data.json.open('[');
    for (std::size_t node = 0; node < data.listed; ++node) {
        data.json.open('[');
        for (const auto& [name, value] : data.report(node).labels) {
            data.json.whole(data.name(name));
            data.json.whole(data.name(value));
        }
        data.json.close(']');
    }
    data.json.close(']');
}

void add_worst(PageData& data) {
    std::vector<double> ratios;
    std::vector<std::int64_t> metrics, gpus;
    for (const WorstRatio& worst : worst_ratios(data)) {
        ratios.push_back(worst.ratio);
        metrics.push_back(data.names.number(worst.metric));
        gpus.push_back(worst.gpu);
    }
    data.json.numbers("worst_ratio", ratios);
    data.json.wholes("worst_metric", metrics);
    data.json.wholes("worst_gpu", gpus);
}

}  // namespace

void add_nodes(PageData& data) {
    data.json.key("node");
    data.json.open('{');
    std::string decisions, verdicts, flags;
    std::vector<double> evidence, price;
    std::vector<std::int64_t> expected, found, gpus;
    for (std::size_t node = 0; node < data.listed; ++node) {
        const NodeResult& result = data.analysis.nodes[node];
        const NodeReport& report = data.report(node);
        decisions += digit(result.decision);
        verdicts += digit(report.verdict);
        flags += digit((report.simulated ? 1 : 0) + (report.injected ? 2 : 0) + (report.verified ? 4 : 0));
        evidence.push_back(result.evidence);
        price.push_back(report.usd_per_hour);
        expected.push_back(report.gpus_expected);
        found.push_back(report.gpus_found);
        gpus.push_back(static_cast<std::int64_t>(report.gpus.size()));
    }
    add_texts(data, "name", &NodeReport::node);
    add_texts(data, "key", &NodeReport::key);
    add_texts(data, "created", &NodeReport::created);
    add_texts(data, "report_id", &NodeReport::report_id);
    add_texts(data, "where", &NodeReport::where);
    data.json.key("verdict");
    data.json.digits(verdicts);
    data.json.key("decision");
    data.json.digits(decisions);
    data.json.key("flags");
    data.json.digits(flags);
    data.json.numbers("evidence", evidence);
    data.json.numbers("usd_per_hour", price);
    data.json.wholes("gpus_expected", expected);
    data.json.wholes("gpus_found", found);
    data.json.wholes("gpus", gpus);
    add_names(data, "provider", &NodeReport::provider);
    add_names(data, "instance_type", &NodeReport::instance_type);
    add_names(data, "region", &NodeReport::region);
    add_names(data, "zone", &NodeReport::zone);
    add_names(data, "driver", &NodeReport::driver);
    add_names(data, "kernel", &NodeReport::kernel);
    add_names(data, "os", &NodeReport::os);
    add_names(data, "tool", &NodeReport::tool_version);
    add_names(data, "profile", &NodeReport::profile);
    add_labels(data);
    add_worst(data);
    data.json.close('}');
}

void add_reasons(PageData& data) {
    std::vector<std::int64_t> count, all, rule, gpu;
    std::vector<std::string> text;
    std::string decision;
    for (std::size_t node = 0; node < data.listed; ++node) {
        const std::vector<Reason>& reasons = data.analysis.nodes[node].reasons;
        const std::size_t shown = std::min(reasons.size(), kMostReasons);
        count.push_back(static_cast<std::int64_t>(shown));
        all.push_back(static_cast<std::int64_t>(reasons.size()));
        for (const Reason& reason : std::span(reasons).first(shown)) {
            decision += digit(reason.decision);
            rule.push_back(data.names.number(reason.rule));
            text.push_back(reason.text);
            gpu.push_back(reason.gpu);
        }
    }
    data.json.key("reason");
    data.json.open('{');
    data.json.wholes("count", count);
    data.json.wholes("all", all);
    data.json.key("decision");
    data.json.digits(decision);
    data.json.wholes("rule", rule);
    data.json.texts("text", text, kReasonBytes);
    data.json.wholes("gpu", gpu);
    data.json.close('}');
}

void add_problems(PageData& data) {
    std::vector<std::int64_t> count, code, check, scope, action, subject, gpu;
    std::string verdict;
    for (std::size_t node = 0; node < data.listed; ++node) {
        std::vector<Problem> problems = data.report(node).problems;
        std::stable_sort(problems.begin(), problems.end(),
                         [](const Problem& a, const Problem& b) { return a.verdict > b.verdict; });
        count.push_back(static_cast<std::int64_t>(problems.size()));
        for (const Problem& problem : problems) {
            verdict += digit(problem.verdict);
            code.push_back(data.name(problem.code));
            check.push_back(data.name(problem.check));
            scope.push_back(data.name(problem.scope));
            action.push_back(data.name(problem.action));
            subject.push_back(data.name(problem.subject));
            gpu.push_back(problem.gpu);
        }
    }
    data.json.key("problem");
    data.json.open('{');
    data.json.wholes("count", count);
    data.json.key("verdict");
    data.json.digits(verdict);
    data.json.wholes("code", code);
    data.json.wholes("check", check);
    data.json.wholes("scope", scope);
    data.json.wholes("action", action);
    data.json.wholes("subject", subject);
    data.json.wholes("gpu", gpu);
    data.json.close('}');
}

void add_history(PageData& data) {
    std::vector<std::int64_t> count, all, profile, driver;
    std::vector<std::string> created;
    std::vector<std::vector<std::int64_t>> codes;
    std::string verdict;
    for (std::size_t node = 0; node < data.listed; ++node) {
        const std::vector<std::size_t>& earlier = data.analysis.nodes[node].earlier;
        const std::size_t shown = std::min(earlier.size(), kMostEarlier);
        count.push_back(static_cast<std::int64_t>(shown));
        all.push_back(static_cast<std::int64_t>(earlier.size()));
        for (const std::size_t index : std::span(earlier).first(shown)) {
            const NodeReport& report = report_of(data.fleet, index);
            verdict += digit(report.verdict);
            created.push_back(report.created);
            profile.push_back(data.name(report.profile));
            driver.push_back(data.name(report.driver));
            std::set<std::string> once;
            for (const Problem& problem : report.problems) once.insert(data.fleet.names.text(problem.code));
            codes.emplace_back();
            for (const std::string& code : once) {
                if (codes.back().size() < kMostHistoryCodes) codes.back().push_back(data.names.number(code));
            }
        }
    }
    data.json.key("earlier");
    data.json.open('{');
    data.json.wholes("count", count);
    data.json.wholes("all", all);
    data.json.key("verdict");
    data.json.digits(verdict);
    data.json.texts("created", created);
    data.json.wholes("profile", profile);
    data.json.wholes("driver", driver);
    data.json.key("codes");
    data.json.open('[');
    for (const std::vector<std::int64_t>& row : codes) {
        data.json.open('[');
        for (const std::int64_t code : row) data.json.whole(code);
        data.json.close(']');
    }
    data.json.close(']');
    data.json.close('}');
}

}  // namespace gpucheck::fleet
