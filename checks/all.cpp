// The explicit list of checks, in report order.
#include "checks/all.h"

namespace gpucheck {

const std::vector<Check>& all_checks() {
    static const std::vector<Check> checks{
        kClockCheck,
        kKernelLogCheck,
    };
    return checks;
}

}  // namespace gpucheck
