// The check objects, one from each file, for the explicit list in all.cpp.
#pragma once

#include "checks/model/check.h"

namespace gpucheck {

// GPUs, their driver and their nodes
extern const Check kGpuCountCheck;
extern const Check kGpuExpectedCheck;
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
extern const Check kTelemetryCheck;
extern const Check kExperimentsCheck;

extern const Check kClockCheck;

}  // namespace gpucheck
