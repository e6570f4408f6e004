// Temperatures and power of one GPU from hwmon, by label: the number of a sensor differs from board to board,
// and a memory that is taken for the die is never too hot.
#pragma once

#include <string>

#include "agent/host/sysroot.h"
#include "checks/model/amd_telemetry.h"

namespace gpucheck::vendor {

/// Reads DEVICE/hwmon/hwmonN (the one named amdgpu) into temperatures and the power facts.
void read_hwmon(const host::Sysroot& root, const std::string& device, AmdTelemetry& telemetry);

}  // namespace gpucheck::vendor
