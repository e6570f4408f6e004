// The check objects, one from each file, for the explicit list in all.cpp.
#pragma once

#include "checks/model/check.h"

namespace gpucheck {

// GPUs, their driver and their nodes
extern const Check kGpuCountCheck;
extern const Check kGpuExpectedCheck;
extern const Check kGpuLinkCheck;
extern const Check kRdmaNicsCheck;
extern const Check kLocalNvmeCheck;
extern const Check kPriceCheck;
extern const Check kDriverBoundCheck;
extern const Check kDriverLoadedCheck;
extern const Check kDkmsCheck;
extern const Check kDriverVersionCheck;
extern const Check kKernelVersionCheck;
extern const Check kFirmwareCheck;
extern const Check kBoardCheck;
extern const Check kUnitsCheck;
extern const Check kMemoryCheck;
extern const Check kNodesCheck;
extern const Check kKfdCheck;
extern const Check kExcludedCheck;
extern const Check kVendorCallsCheck;
extern const Check kTelemetryCheck;
extern const Check kExperimentsCheck;
extern const Check kBurnInCheck;

// What amdgpu says of its GPUs' health.
extern const Check kKfdEccCheck;
extern const Check kAmdIdentityCheck;
extern const Check kAmdRasCheck;
extern const Check kAmdBadPagesCheck;
extern const Check kAmdMetricsCheck;
extern const Check kAmdThrottleCheck;
extern const Check kAmdClocksCheck;
extern const Check kAmdTemperatureCheck;
extern const Check kAmdPowerCheck;
extern const Check kAmdPcieCheck;
extern const Check kAmdXgmiCheck;
extern const Check kRocmVersionCheck;
extern const Check kSensorsCoverageCheck;

extern const Check kClockCheck;
extern const Check kKernelLogCheck;

// Links, partitions, environment and the machine around them.
extern const Check kPcieWidthCheck;
extern const Check kPciePathCheck;
extern const Check kPciePinnedCheck;
extern const Check kPcieGenerationCheck;
extern const Check kPcieAerCheck;
extern const Check kPciePowerCheck;
extern const Check kPcieBarCheck;
extern const Check kPartitionCheck;
extern const Check kNumaCheck;
extern const Check kLibraryCheck;
extern const Check kVisibleDevicesCheck;
extern const Check kEnvironmentCheck;
extern const Check kContainerDevicesCheck;
extern const Check kHostSettingsCheck;
extern const Check kDiskCheck;
extern const Check kTimeSyncCheck;
extern const Check kProxyCheck;

// What NVML says.
extern const Check kNvmlCoverageCheck;
extern const Check kNvidiaRecoveryCheck;
extern const Check kNvidiaInforomCheck;
extern const Check kNvidiaEccCheck;
extern const Check kNvidiaEccErrorsCheck;
extern const Check kNvidiaRowRemapCheck;
extern const Check kNvidiaRetiredPagesCheck;
extern const Check kNvidiaRepairCheck;
extern const Check kNvidiaNvlinkCheck;
extern const Check kNvidiaNvlinkErrorsCheck;
extern const Check kNvidiaC2cCheck;
extern const Check kNvidiaFabricCheck;
extern const Check kNvidiaFabricHealthCheck;
extern const Check kNvidiaThrottleCheck;
extern const Check kNvidiaTemperatureCheck;
extern const Check kNvidiaPowerCheck;
extern const Check kNvidiaClocksCheck;
extern const Check kNvidiaPcieErrorsCheck;
extern const Check kNvidiaModesCheck;
extern const Check kNvidiaMigCheck;
extern const Check kNvidiaConfidentialCheck;

}  // namespace gpucheck
