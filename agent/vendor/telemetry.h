// Reads what only the vendors' interfaces know, each GPU in a child of its own, and says what did not answer.
#pragma once

#include <chrono>

#include "agent/host/sysroot.h"
#include "agent/vendor/library.h"
#include "checks/model/snapshot.h"

namespace gpucheck::vendor {

struct TelemetryOptions {
    LibrarySource libraries;
    std::chrono::milliseconds deadline{800};  ///< for NVML as a whole: all GPUs are read at the same time
};

/// NVML: fills host.nvml and the NVIDIA part of `first` (or of `last` when `again`) of every NVIDIA GPU of
/// the snapshot, joined by PCI address, and appends to host.vendor_troubles. A GPU that PCI lists and NVML
/// does not has identity.handle Missing.
void read_nvml(const TelemetryOptions& options, Snapshot& snapshot, bool again);

/// The same for identity.handle and fabric of `first` alone: a GPU that is attached and not yet asked for
/// more.
void read_nvml_presence(const TelemetryOptions& options, Snapshot& snapshot);

/// amdgpu: fills the AMD part of `first` or `last` of every AMD GPU from sysfs through `root`. RAS counts are
/// read only in the first reading (reading them resets them on MI200).
void read_amdgpu_telemetry(const host::Sysroot& root, Snapshot& snapshot, bool again);

/// fabric manager, IMEX and persistence daemon from unit files and cgroups, into host.units.
void read_units(const host::Sysroot& root, Host& host);

}  // namespace gpucheck::vendor
