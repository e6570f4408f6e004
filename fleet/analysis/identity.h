// Whether two reports speak of one machine, and two machines of one GPU: a name that two machines share hides
// the bad one behind the good one, and a GPU in two places is in one of them a copy.
#pragma once

#include "fleet/model/fleet.h"

namespace gpucheck::fleet {

/// Both know all their GPUs' identities, by the same kind of number, and share none.
bool strangers(const NodeReport& a, const NodeReport& b);

}  // namespace gpucheck::fleet
