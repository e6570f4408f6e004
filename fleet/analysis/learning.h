// What a fleet can teach another, and what it cannot: a normal learned from sick nodes accepts sick nodes.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/policy.h"

namespace gpucheck::fleet {

struct Learned {
    Baseline baseline;
    std::vector<std::string> left_out;  ///< nodes that are no example of what is normal
    std::vector<std::string> unlearnt;  ///< measurements without a row, each with the reason
};

Learned learn_from(const Fleet& fleet, const Policy& policy);

}  // namespace gpucheck::fleet
