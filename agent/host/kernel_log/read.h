// Reads kernel logs: this boot's ring buffer, the file of a recorded machine, or any file or pipe that an
// operator names.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "agent/host/kernel_log/scan.h"
#include "agent/host/sysroot.h"
#include "checks/model/fact.h"
#include "checks/model/log_event.h"

namespace gpucheck::host {

/// The log to judge a machine by. `override_path` ("" none, "-" standard input) wins; a recorded machine has
/// kernel.log in its folder; a live one /dev/kmsg. Missing EPERM or EACCES: not allowed to read it; "not
/// captured": the recording has none.
Fact<LogSummary> read_kernel_log(const Sysroot& root, const std::string& override_path);

/// One file, pipe or "-", compressed or not, streamed to its end.
Fact<LogSummary> read_log_file(const std::string& path, const ScanOptions& options);

/// Calls `record` with each record of /dev/kmsg, as the kernel prints it, oldest first, without waiting for
/// new ones. Returns the errno name of what went wrong; `lost` counts records that were overwritten. Bounded
/// in time and number (`stopped_early`).
std::optional<std::string> each_kmsg_record(const char* device,
                                            const std::function<void(std::string_view)>& record,
                                            std::uint64_t& lost, bool& stopped_early);

}  // namespace gpucheck::host
