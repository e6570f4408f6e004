// The explicit list of checks, in report order.
#include "checks/all.h"

namespace gpucheck {

const std::vector<Check>& all_checks() {
    static const std::vector<Check> checks{
        // GPUs, their driver and their nodes
        kGpuCountCheck,
        kGpuExpectedCheck,
        kDriverBoundCheck,
        kDriverLoadedCheck,
        kDkmsCheck,
        kDriverVersionCheck,
        kKernelVersionCheck,
        kFirmwareCheck,
        kBoardCheck,
        kUnitsCheck,
        kMemoryCheck,
        kNodesCheck,
        kKfdCheck,
        kExcludedCheck,
        kClockCheck,
        // what files cannot tell
        kTelemetryCheck,
        kExperimentsCheck,
    };
    return checks;
}

}  // namespace gpucheck
