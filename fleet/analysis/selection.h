// Which report speaks for a node: a rehearsal, a copy or last month's report must not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fleet/analysis/excuse.h"
#include "fleet/model/policy.h"

namespace gpucheck::fleet {

struct Selection {
    std::vector<NodeResult> nodes;  ///< by node name, then key; reasons: only why it is no evidence
    std::vector<bool> counts;       ///< of each node: its report is evidence about hardware
    std::vector<std::string> notes;
};

/// One result a node: the newest report that counts, else the newest of all with the reason why it does not.
/// A date that cannot be believed wins over none.
/// Reports of one name that have no GPU in common are of two machines. A report id counts once. The same for
/// every order of `fleet.reports`.
Selection select_reports(const Fleet& fleet, const Policy& policy);

}  // namespace gpucheck::fleet
