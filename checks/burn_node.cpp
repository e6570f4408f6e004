// The other GPUs of a machine; see burn_node.h.
#include "checks/burn_node.h"

#include <cmath>
#include <set>

#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

std::string kind_of(const Device& gpu) {
    std::string kind = gpu.board.known() ? gpu.board->key : pci_ids(gpu.pci);
    const AmdGpu& amd = gpu.amd;
    if (amd.compute_partition.known()) kind += " " + *amd.compute_partition;
    if (amd.memory_partition.known()) kind += " " + *amd.memory_partition;
    if (gpu.burn_in.units.known()) kind += " " + std::to_string(*gpu.burn_in.units);
    kind += slice_text(gpu);
    // A GPU with a lower limit than its neighbours is slower because somebody wanted it so.
    const Fact<double> limit = power_limit_w(gpu);
    if (limit.known()) kind += " " + std::to_string(static_cast<long>(*limit + 0.5)) + " W";
    return kind;
}

}  // namespace

std::vector<NodeRate> node_rates(const Snapshot& snapshot) {
    std::vector<NodeRate> all;
    for (const Device* gpu : tested_gpus(snapshot)) {
        const std::string kind = kind_of(*gpu);
        std::set<std::string_view> seen;  // a GPU stands for one number of each kind, however many it tells
        for (const MeasuredRate& rate : rates_of(*gpu)) {
            if (seen.insert(rate.metric).second) all.push_back({gpu, rate, kind});
        }
    }
    return all;
}

std::optional<Standing> standing(const NodeRate& mine, const std::vector<NodeRate>& all) {
    std::vector<double> others;
    for (const NodeRate& each : all) {
        if (each.gpu != mine.gpu && each.rate.metric == mine.rate.metric && each.kind == mine.kind)
            others.push_back(each.rate.quantity->median);
    }
    return standing(others);
}

std::optional<Standing> standing(const std::vector<double>& others) {
    if (others.size() < 2) return std::nullopt;
    Standing result;
    result.count = others.size();
    result.median = median_of(others);
    std::vector<double> distances;
    for (const double value : others) distances.push_back(std::fabs(value - result.median));
    // 1.4826 makes the median distance a standard deviation where the spread is normal.
    result.usual_distance = 3 * 1.4826 * median_of(distances);
    return result;
}

}  // namespace gpucheck
