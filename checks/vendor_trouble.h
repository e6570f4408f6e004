// How a vendor call that did not end as calls should becomes a finding: said once for the two checks that do.
#pragma once

#include "checks/model/check.h"

namespace gpucheck {

/// The first call on a GPU without persistence mode initialises it, which takes seconds on a healthy one
/// (NVIDIA's driver persistence guide): no answer to it within a second is no sign of anything.
bool is_slow_start(const VendorTrouble& trouble);
Finding finding_of(const VendorTrouble& trouble);

}  // namespace gpucheck
