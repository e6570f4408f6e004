// Finds what the bad nodes share: eight nodes of one rack are one bad rack, and sending back eight machines
// mends nothing.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <unordered_map>

#include "fleet/analysis/deliberation.h"

namespace gpucheck::fleet {
namespace {

constexpr double kSignificant = 0.01;
constexpr std::size_t kFewestBad = 2;

/// One property of every node: a value each, or none.
struct Property {
    std::string name;
    std::vector<Name> of_node;
};

std::vector<Property> properties_of(const Deliberation& work) {
    std::vector<Property> all;
    const auto plain = [&](const char* name, Name NodeReport::*member) {
        Property property{name, std::vector<Name>(work.nodes.size())};
        for (std::size_t node = 0; node < work.nodes.size(); ++node)
            property.of_node[node] = work.report(node).*member;
        all.push_back(std::move(property));
    };
    plain("driver", &NodeReport::driver);
    plain("instance type", &NodeReport::instance_type);
    plain("kernel", &NodeReport::kernel);
    plain("os", &NodeReport::os);
    plain("provider", &NodeReport::provider);
    plain("region", &NodeReport::region);
    plain("tool version", &NodeReport::tool_version);
    plain("zone", &NodeReport::zone);
    Property firmware{"firmware", std::vector<Name>(work.nodes.size())};
    std::map<std::string, Property> labels;
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        const NodeReport& report = work.report(node);
        if (!report.gpus.empty()) firmware.of_node[node] = report.gpus.front().firmware;
        for (const auto& [name, value] : report.labels) {
            Property& label = labels[work.text(name)];
            if (label.of_node.empty())
                label = {"label " + work.text(name), std::vector<Name>(work.nodes.size())};
            label.of_node[node] = value;
            if (labels.size() > 64) break;  // a label a node is no property
        }
    }
    all.push_back(std::move(firmware));
    for (auto& [name, label] : labels) all.push_back(std::move(label));
    return all;
}

struct Problems {
    std::vector<std::string> names;
    std::vector<std::vector<std::uint32_t>> bad;  ///< nodes, ascending, for each name
};

Problems problems_of(const Deliberation& work) {
    Problems problems;
    std::map<std::string, std::vector<std::uint32_t>> by_name;
    for (const Mark& mark : work.marks) {
        by_name[work.problems[mark.problem]].push_back(mark.node);
        if (mark.hard) by_name["any"].push_back(mark.node);
    }
    for (auto& [name, nodes] : by_name) {
        std::sort(nodes.begin(), nodes.end());
        nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
        if (nodes.size() < kFewestBad) continue;
        problems.names.push_back(name);
        problems.bad.push_back(std::move(nodes));
    }
    return problems;
}

/// That a node has an unlike driver because of its driver is no news.
bool says_itself(const std::string& problem, const std::string& property) {
    return problem == "unlike " + property;
}

void compare_nodes(const Deliberation& work, const Problems& problems, std::vector<Common>& commons,
                   std::size_t& tried) {
    for (const Property& property : properties_of(work)) {
        std::unordered_map<Name, std::size_t> with;
        std::size_t all = 0;
        for (std::size_t node = 0; node < work.nodes.size(); ++node) {
            if (!work.counts[node] || property.of_node[node] == kNoName) continue;
            ++all;
            ++with[property.of_node[node]];
        }
        if (with.size() < 2) continue;
        for (const auto& [value, count] : with) tried += count >= kFewestBad ? problems.names.size() : 0;
        for (std::size_t problem = 0; problem < problems.names.size(); ++problem) {
            if (says_itself(problems.names[problem], property.name)) continue;
            std::unordered_map<Name, std::size_t> bad_with;
            std::size_t bad = 0;
            for (const std::uint32_t node : problems.bad[problem]) {
                if (property.of_node[node] == kNoName) continue;
                ++bad;
                ++bad_with[property.of_node[node]];
            }
            for (const auto& [value, count] : bad_with) {
                if (count < kFewestBad) continue;
                commons.push_back({property.name, work.text(value), problems.names[problem], count,
                                   with[value], bad, all, fisher(count, with[value], bad, all)});
            }
        }
    }
}

/// Slots are properties of GPUs: bad GPUs with this address among all GPUs.
void compare_slots(const Deliberation& work, std::vector<Common>& commons, std::size_t& tried) {
    std::unordered_map<Name, std::size_t> with;
    std::size_t all = 0;
    for (std::size_t node = 0; node < work.nodes.size(); ++node) {
        if (!work.counts[node]) continue;
        for (const Gpu& gpu : work.report(node).gpus) {
            ++all;
            ++with[gpu.bdf];
        }
    }
    if (with.size() < 2) return;
    std::map<std::string, std::set<std::pair<std::uint32_t, int>>> bad;
    for (const Mark& mark : work.marks) {
        if (mark.gpu < 0) continue;
        bad[work.problems[mark.problem]].emplace(mark.node, mark.gpu);
        bad["any"].emplace(mark.node, mark.gpu);
    }
    for (const auto& [problem, gpus] : bad) {
        if (gpus.size() < kFewestBad) continue;
        tried += with.size();
        std::unordered_map<Name, std::size_t> bad_with;
        for (const auto& [node, gpu] : gpus)
            ++bad_with[work.report(node).gpus[static_cast<std::size_t>(gpu)].bdf];
        for (const auto& [slot, count] : bad_with) {
            if (count < kFewestBad || slot == kNoName) continue;
            commons.push_back({"slot", work.text(slot), problem, count, with[slot], gpus.size(), all,
                               fisher(count, with[slot], gpus.size(), all)});
        }
    }
}

}  // namespace

std::vector<Common> find_commons(const Deliberation& work) {
    std::vector<Common> commons;
    const Problems problems = problems_of(work);
    std::size_t tried = 0;
    compare_nodes(work, problems, commons, tried);
    compare_slots(work, commons, tried);
    // Bonferroni's correction: with a thousand racks one of them looks bad by chance.
    for (Common& common : commons) common.p = std::min(1.0, common.p * static_cast<double>(tried));
    std::erase_if(commons, [](const Common& common) { return common.p > kSignificant; });
    std::sort(commons.begin(), commons.end(), [](const Common& a, const Common& b) {
        return std::tie(a.p, a.property, a.value, a.problem) < std::tie(b.p, b.property, b.value, b.problem);
    });
    return commons;
}

}  // namespace gpucheck::fleet
