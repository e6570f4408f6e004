// Like with like: GPUs of one board in one instance type under one driver and profile, cut alike and with
// as much memory: a GPU in eight parts is not a slow one.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "fleet/analysis/deliberation.h"

namespace gpucheck::fleet {
namespace {

// Board, instance type, driver, profile, mode, memory.
using NameKey = std::tuple<Name, Name, Name, Name, Name, unsigned>;

std::vector<Name> metrics_of(const Deliberation& work, const std::vector<Member>& members) {
    std::vector<bool> seen(work.fleet.names.size());
    std::vector<Name> metrics;
    for (const Member& member : members) {
        for (const Value& value : work.report(member.node).gpus[member.gpu].values) {
            if (seen[value.metric]) continue;
            seen[value.metric] = true;
            metrics.push_back(value.metric);
        }
    }
    std::sort(metrics.begin(), metrics.end(), [&](Name a, Name b) { return work.text(a) < work.text(b); });
    return metrics;
}

void gather(Deliberation& work) {
    std::map<NameKey, std::size_t> places;  // for looking up alone: its order is that of input
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        const NodeReport& report = work.report(node);
        for (std::size_t gpu = 0; gpu < report.gpus.size(); ++gpu) {
            const NameKey key{report.gpus[gpu].board, report.instance_type,  report.driver,
                              report.profile,         report.gpus[gpu].mode, work.memory.of(report, gpu)};
            const auto [place, fresh] = places.emplace(key, work.groups.size());
            if (fresh) {
                work.groups.emplace_back().group.key = {
                    work.text(std::get<0>(key)), work.text(std::get<1>(key)), work.text(std::get<2>(key)),
                    work.text(std::get<3>(key)), work.text(std::get<4>(key)), std::get<5>(key)};
            }
            WorkGroup& group = work.groups[place->second];
            if (group.group.nodes.empty() || group.group.nodes.back() != node) {
                group.group.nodes.push_back(node);
                ++group.group.verdicts[report.verdict];
            }
            if (work.counts[node])
                group.members.push_back({static_cast<std::uint32_t>(node), static_cast<std::uint32_t>(gpu)});
        }
    }
    std::sort(work.groups.begin(), work.groups.end(),
              [](const WorkGroup& a, const WorkGroup& b) { return a.group.key < b.group.key; });
}

}  // namespace

void Deliberation::mark(std::size_t node, int gpu, std::string_view problem, bool hard) {
    auto known = problem_numbers.find(problem);
    if (known == problem_numbers.end()) {
        known = problem_numbers.emplace(problem, static_cast<std::uint32_t>(problems.size())).first;
        problems.emplace_back(problem);
    }
    marks.push_back({static_cast<std::uint32_t>(node), gpu, known->second, hard});
}

void group_nodes(Deliberation& work) {
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        work.first_gpu.push_back(work.measured.size());
        work.measured.resize(work.measured.size() + work.report(node).gpus.size());
    }
    work.compared.resize(work.measured.size());
    work.plausibility.resize(work.nodes.size());
    work.memory = memory_sizes(work);
    gather(work);
    std::map<GroupKey, std::size_t> cohorts;
    for (std::size_t index = 0; index < work.groups.size(); ++index) {
        WorkGroup& group = work.groups[index];
        group.metrics = metrics_of(work, group.members);
        GroupKey key = group.group.key;
        key.driver.clear();
        const auto [place, fresh] = cohorts.emplace(std::move(key), work.cohorts.size());
        if (fresh) work.cohorts.emplace_back();
        group.cohort = place->second;
        work.cohorts[group.cohort].push_back(index);
        const auto judged = static_cast<std::size_t>(
            std::count_if(group.metrics.begin(), group.metrics.end(),
                          [&](Name metric) { return direction_of(work.text(metric)).judged; }));
        work.gpu_comparisons += judged * group.members.size();
        work.node_comparisons += judged * group.group.nodes.size();
    }
}

std::vector<Cell> column_of(const Deliberation& work, const std::vector<Member>& members, Name metric) {
    std::vector<Cell> column;
    column.reserve(members.size());
    const bool speed = direction_of(work.text(metric)).judged;
    std::size_t hint = 0;  // most GPUs of a group have the same metrics
    for (const Member& member : members) {
        const std::vector<Value>& values = work.report(member.node).gpus[member.gpu].values;
        if (hint >= values.size() || values[hint].metric != metric) {
            const auto found = std::find_if(values.begin(), values.end(),
                                            [&](const Value& value) { return value.metric == metric; });
            if (found == values.end()) continue;
            hint = static_cast<std::size_t>(found - values.begin());
        }
        const float value = values[hint].value;
        if (speed ? is_speed(value) : std::isfinite(value) && value >= 0)
            column.push_back({value, member.node, member.gpu});
    }
    return column;
}

std::string number(double value, int digits) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return text;
}

std::string group_name(const GroupKey& key) {
    std::string name = key.board.empty() ? "unknown board" : key.board;
    for (const std::string* part : {&key.instance_type, &key.driver, &key.profile, &key.mode}) {
        if (!part->empty() && *part != "whole") name += ", " + *part;
    }
    if (key.memory_gib != 0) name += ", " + std::to_string(key.memory_gib) + " GiB";
    return name;
}

}  // namespace gpucheck::fleet
