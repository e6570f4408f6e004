// The explicit list of checks, in report order.
#include "checks/all.h"

namespace gpucheck {

const std::vector<Check>& all_checks() {
    // clang-format off: one check a line, in report order
    static const std::vector<Check> checks{
        // Links, partitions, environment and the machine around them.
        kPcieWidthCheck,
        kPciePathCheck,
        kPciePinnedCheck,
        kPcieGenerationCheck,
        kPcieAerCheck,
        kPciePowerCheck,
        kPcieBarCheck,
        kPartitionCheck,
        kNumaCheck,
        kLibraryCheck,
        kVisibleDevicesCheck,
        kEnvironmentCheck,
        kContainerDevicesCheck,
        kHostSettingsCheck,
        kDiskCheck,
        kTimeSyncCheck,
        kProxyCheck,

        kClockCheck,
    };
    // clang-format on
    return checks;
}

}  // namespace gpucheck
