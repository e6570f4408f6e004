// The explicit list of checks, in report order.
#include "checks/all.h"

namespace gpucheck {

const std::vector<Check>& all_checks() {
    // clang-format off: one check a line, in report order
    static const std::vector<Check> checks{
        // GPUs, their driver and their nodes
        kGpuCountCheck,
        kGpuExpectedCheck,
        kDriverBoundCheck,
        kDriverLoadedCheck,
        kDkmsCheck,
        kDriverVersionCheck,
        kRocmVersionCheck,
        kKernelVersionCheck,
        kFirmwareCheck,
        kBoardCheck,
        kUnitsCheck,
        kMemoryCheck,
        kNodesCheck,
        kKfdCheck,
        kKfdEccCheck,
        kAmdIdentityCheck,
        kExcludedCheck,
        // Links, partitions, environment and the machine around them.
        kPcieWidthCheck,
        kPciePathCheck,
        kPciePinnedCheck,
        kPcieGenerationCheck,
        kPcieAerCheck,
        kPciePowerCheck,
        kPcieBarCheck,
        kPartitionCheck,
        kGpuLinkCheck,
        kRdmaNicsCheck,
        kLocalNvmeCheck,
        kPriceCheck,
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
        kKernelLogCheck,
        // what NVML says
        kNvmlCoverageCheck,
        kNvidiaRecoveryCheck,
        kNvidiaInforomCheck,
        kNvidiaEccCheck,
        kNvidiaEccErrorsCheck,
        kNvidiaRowRemapCheck,
        kNvidiaRetiredPagesCheck,
        kNvidiaRepairCheck,
        kNvidiaNvlinkCheck,
        kNvidiaNvlinkErrorsCheck,
        kNvidiaC2cCheck,
        kNvidiaFabricCheck,
        kNvidiaFabricHealthCheck,
        kNvidiaThrottleCheck,
        kNvidiaTemperatureCheck,
        kNvidiaPowerCheck,
        kNvidiaClocksCheck,
        kNvidiaPcieErrorsCheck,
        kNvidiaModesCheck,
        kNvidiaMigCheck,
        kNvidiaConfidentialCheck,
        // what files cannot tell
        kVendorCallsCheck,
        kTelemetryCheck,
        kSensorsCoverageCheck,
        // what amdgpu says of its GPUs' health
        kAmdMetricsCheck,
        kAmdRasCheck,
        kAmdBadPagesCheck,
        kAmdTemperatureCheck,
        kAmdThrottleCheck,
        kAmdClocksCheck,
        kAmdPowerCheck,
        kAmdPcieCheck,
        kAmdXgmiCheck,
        kExperimentsCheck,
        kBurnInCheck,
    };
    // clang-format on
    return checks;
}

}  // namespace gpucheck
