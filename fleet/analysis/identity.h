// Whether two reports speak of one machine, and two machines of one GPU: a name that two machines share hides
// the bad one behind the good one, and a GPU in two places is in one of them a copy.
#pragma once

#include <string>

#include "fleet/model/fleet.h"

namespace gpucheck::fleet {

/// Both know all their GPUs' identities, by the same kind of number, and share none.
bool strangers(const NodeReport& a, const NodeReport& b);

/// How a sentence about `own` names another node: with its key where both have one name.
inline std::string name_beside(const NodeReport& own, const NodeReport& other) {
    return other.node == own.node ? other.node + " (" + other.key + ")" : other.node;
}

}  // namespace gpucheck::fleet
