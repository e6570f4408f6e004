// Processors, memory and disks around the GPUs: a full /boot loses the driver at the next kernel, a full /var
// the report.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "agent/host/sysroot.h"
#include "checks/model/host.h"

namespace gpucheck::host {

/// The places whose space is judged.
inline constexpr std::array<std::string_view, 4> kWatchedFilesystems{"/", "/boot", "/var", "/tmp"};

/// Fills cpu_model, cpus_online, numa_nodes, memory_* and filesystems (those that exist).
void read_resources(const Sysroot& root, Host& host);

/// How many numbers a kernel list such as "0-3,8" names; nullopt when it is malformed, overlaps or names
/// absurdly many.
std::optional<unsigned> count_of_list(std::string_view text);

}  // namespace gpucheck::host
