// Reads /proc/driver/nvidia: which module really runs, and which GPUs it took. The count here, beside the PCI
// count, names the GPU that the driver refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/host/sysroot.h"
#include "checks/model/device.h"
#include "checks/model/host.h"

namespace gpucheck::host {

struct NvidiaModuleVersion {
    std::string version;       ///< "570.133.20"
    bool open_module = false;  ///< the open kernel modules
    bool operator==(const NvidiaModuleVersion&) const = default;
};

/// The module's own sentence, in /proc/driver/nvidia/version or a log line, of any architecture:
/// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.06  Wed ..." and
/// "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  575.57.08  Release Build ...". nullopt for
/// anything else.
std::optional<NvidiaModuleVersion> parse_nvidia_version(std::string_view line);

NvidiaDriver read_nvidia_driver(const Sysroot& root);

/// Fills gpu.nvidia from /proc/driver/nvidia/gpus/<address>/information.
void read_nvidia_gpu(const Sysroot& root, Device& gpu);

}  // namespace gpucheck::host
