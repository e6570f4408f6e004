// What is normal in each group, drawn with all of its GPUs, and the GPUs that are not: one slow board among
// four thousand shows only against the others.
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "fleet/page/data.h"

namespace gpucheck::fleet {
namespace {

constexpr std::size_t kBins = 60;
constexpr std::size_t kMostOutliers = 5000;
constexpr std::size_t kMostCommons = 200;
constexpr std::size_t kMostOffenders = 500;
constexpr std::size_t kMostTimes = 12;

// Calls `use` with each value of a group's metric: of the GPUs of its board, in its newest reports.
template <class Use>
void each_value(const PageData& data, const Group& group, Use use) {
    for (const std::size_t node : group.nodes) {
        if (node >= data.analysis.nodes.size()) continue;
        const NodeReport& report = data.report(node);
        if (report.simulated || report.injected) continue;  // no evidence about hardware
        for (std::size_t gpu = 0; gpu < report.gpus.size(); ++gpu) {
            if (data.fleet.names.text(report.gpus[gpu].board) != group.key.board) continue;
            for (const Value& value : report.gpus[gpu].values) {
                if (std::isfinite(value.value)) use(node, static_cast<int>(gpu), value);
            }
        }
    }
}

// Counts between a distribution's smallest and largest value.
using Histogram = std::vector<std::int64_t>;

std::vector<Histogram> histograms(const PageData& data, const Group& group) {
    std::unordered_map<Name, std::size_t> place;
    for (std::size_t i = 0; i < group.metrics.size(); ++i)
        place[data.fleet.names.find(group.metrics[i].metric)] = i;
    std::vector<Histogram> all(group.metrics.size(), Histogram(kBins));
    each_value(data, group, [&](std::size_t, int, const Value& value) {
        const auto found = place.find(value.metric);
        if (found == place.end()) return;
        const Distribution& range = group.metrics[found->second].distribution;
        const double width = range.max - range.min;
        const double share = width > 0 ? (static_cast<double>(value.value) - range.min) / width : 0.5;
        if (!(share >= -0.001 && share <= 1.001)) return;  // floats of a range in double
        const auto bin = static_cast<std::size_t>(std::clamp(share, 0.0, 0.999999) * kBins);
        ++all[found->second][bin];
    });
    return all;
}

void add_metric(PageData& data, const MetricSummary& metric, const Histogram& histogram) {
    const Distribution& d = metric.distribution;
    JsonText& json = data.json;
    json.open('{');
    json.member("name", metric.metric);
    json.key("more");
    json.yes_no(metric.more_is_better);
    json.key("judged");
    json.yes_no(metric.judged);
    json.key("baseline");
    json.yes_no(metric.from_baseline);
    json.key("count");
    json.whole(static_cast<std::int64_t>(d.count));
    json.numbers("spread", std::vector{d.min, d.p05, d.p25, d.median, d.p75, d.p95, d.max, d.mad});
    json.key("centre");
    if (metric.centre) {
        json.open('[');
        json.number(metric.centre->value);
        json.number(metric.centre->spread);
        json.number(metric.centre->bar);
        json.whole(static_cast<std::int64_t>(metric.centre->kept));
        json.whole(static_cast<std::int64_t>(metric.centre->dropped));
        json.close(']');
    } else {
        json.null();
    }
    json.wholes("bins", histogram);
    json.close('}');
}

void add_group(PageData& data, const Group& group) {
    JsonText& json = data.json;
    json.open('{');
    json.member("board", group.key.board);
    json.member("instance_type", group.key.instance_type);
    json.member("driver", group.key.driver);
    json.member("profile", group.key.profile);
    json.key("size");
    json.whole(static_cast<std::int64_t>(group.nodes.size()));
    std::vector<std::int64_t> nodes;
    for (const std::size_t node : group.nodes) {
        if (node < data.listed) nodes.push_back(static_cast<std::int64_t>(node));
    }
    std::sort(nodes.begin(), nodes.end());
    json.wholes("nodes", nodes);
    json.key("verdicts");
    json.open('{');
    for (const auto& [verdict, count] : group.verdicts) {
        json.key(name_of(verdict));
        json.whole(static_cast<std::int64_t>(count));
    }
    json.close('}');
    json.key("metrics");
    json.open('[');
    const std::vector<Histogram> bins = histograms(data, group);
    for (std::size_t i = 0; i < group.metrics.size(); ++i) add_metric(data, group.metrics[i], bins[i]);
    json.close(']');
    json.close('}');
}

}  // namespace

void add_groups(PageData& data) {
    data.json.key("groups");
    data.json.open('[');
    for (const Group& group : data.analysis.groups) add_group(data, group);
    data.json.close(']');
}

std::vector<WorstRatio> worst_ratios(const PageData& data) {
    std::vector<WorstRatio> worst(data.listed);
    for (const Group& group : data.analysis.groups) {
        std::unordered_map<Name, const MetricSummary*> judged;
        for (const MetricSummary& metric : group.metrics) {
            if (metric.judged && metric.centre && metric.centre->value > 0)
                judged[data.fleet.names.find(metric.metric)] = &metric;
        }
        each_value(data, group, [&](std::size_t node, int gpu, const Value& value) {
            const auto found = judged.find(value.metric);
            if (node >= worst.size() || found == judged.end() || !(value.value > 0)) return;
            const double against = static_cast<double>(value.value) / found->second->centre->value;
            const double ratio = found->second->more_is_better ? against : 1 / against;
            WorstRatio& known = worst[node];
            const bool same =
                known.ratio == ratio && (known.metric < found->second->metric || known.gpu <= gpu);
            if (known.ratio != 0 && (known.ratio < ratio || same)) return;
            known = {.ratio = ratio, .metric = found->second->metric, .gpu = gpu};
        });
    }
    return worst;
}

void add_outliers(PageData& data) {
    const std::vector<Outlier>& all = data.analysis.outliers;
    std::vector<std::int64_t> group, node, gpu, metric;
    std::vector<double> value, centre, ratio, z;
    std::string against;
    for (const Outlier& one : all) {
        if (one.node >= data.listed || node.size() >= kMostOutliers) continue;
        against += static_cast<char>('0' + static_cast<int>(one.against));
        group.push_back(static_cast<std::int64_t>(one.group));
        node.push_back(static_cast<std::int64_t>(one.node));
        gpu.push_back(static_cast<std::int64_t>(one.gpu));
        metric.push_back(data.names.number(one.metric));
        value.push_back(one.value);
        centre.push_back(one.centre);
        ratio.push_back(one.ratio);
        z.push_back(one.z);
    }
    data.json.key("outlier");
    data.json.open('{');
    data.json.key("all");
    data.json.whole(static_cast<std::int64_t>(all.size()));
    data.json.key("against");
    data.json.digits(against);
    data.json.wholes("group", group);
    data.json.wholes("node", node);
    data.json.wholes("gpu", gpu);
    data.json.wholes("metric", metric);
    data.json.numbers("value", value);
    data.json.numbers("centre", centre);
    data.json.numbers("ratio", ratio);
    data.json.numbers("z", z);
    data.json.close('}');
}

void add_shared_causes(PageData& data) {
    JsonText& json = data.json;
    const std::vector<Common>& commons = data.analysis.commons;
    json.key("commons_all");
    json.whole(static_cast<std::int64_t>(commons.size()));
    json.key("commons");
    json.open('[');
    for (std::size_t i = 0; i < std::min(commons.size(), kMostCommons); ++i) {
        const Common& one = commons[i];
        json.open('[');
        for (const std::string* text : {&one.property, &one.value, &one.problem}) json.text(*text);
        for (const std::size_t count : {one.bad_with, one.with, one.bad, one.all})
            json.whole(static_cast<std::int64_t>(count));
        json.number(one.p);
        json.close(']');
    }
    json.close(']');
    const std::vector<Offender>& offenders = data.analysis.offenders;
    json.key("offenders_all");
    json.whole(static_cast<std::int64_t>(offenders.size()));
    json.key("offenders");
    json.open('[');
    for (std::size_t i = 0; i < std::min(offenders.size(), kMostOffenders); ++i) {
        const std::vector<Offender::Time>& times = offenders[i].times;
        json.open('[');
        json.text(offenders[i].identity);
        json.whole(static_cast<std::int64_t>(times.size()));
        const std::size_t first = times.size() - std::min(times.size(), kMostTimes);  // the newest
        for (std::size_t at = first; at < times.size(); ++at) {
            for (const std::string* text : {&times[at].created, &times[at].node, &times[at].problem})
                json.text(*text);
        }
        json.close(']');
    }
    json.close(']');
}

}  // namespace gpucheck::fleet
