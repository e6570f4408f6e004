// Which kernel and distribution run here: drivers that never supported them fail in ways that look like
// broken GPUs.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "agent/host/sysroot.h"
#include "checks/model/host.h"

namespace gpucheck::host {

/// Fills kernel_*, os_*, hostname, boot_id, uptime_s, tainted, numa_balancing and rocm_version.
void read_os(const Sysroot& root, Host& host);

/// The assignments of an os-release(5) file; a line whose quotes do not match is left out, the last
/// assignment wins.
std::map<std::string, std::string, std::less<>> parse_os_release(std::string_view text);

}  // namespace gpucheck::host
