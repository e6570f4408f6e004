// A GPU among those beside it: the machine's own median is a bar that needs no published figure, as long as
// only like is compared with like.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/burn_facts.h"

namespace gpucheck {

inline constexpr std::string_view kFewOthers = "fewer than two other GPUs of the same board and partition";

/// One rate of one GPU, and what has to be alike to compare it: board, partition, units, power limit.
struct NodeRate {
    const Device* gpu = nullptr;
    MeasuredRate rate;
    std::string kind;
};
std::vector<NodeRate> node_rates(const Snapshot& snapshot);

/// How the others of the same kind did. The median withstands one that is broken; with fewer than two others
/// nobody can say which of two is.
struct Standing {
    double median = 0;
    double usual_distance =
        0;  ///< three times how far the others lie from their own median, as for a normal spread
    std::size_t count = 0;
};
std::optional<Standing> standing(const NodeRate& mine, const std::vector<NodeRate>& all);
/// Of values alone; nullopt for fewer than two.
std::optional<Standing> standing(const std::vector<double>& others);

}  // namespace gpucheck
