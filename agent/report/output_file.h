// A report that is half written when the power goes is worse than none: the node exporter, the spool and
// people read it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpucheck::report {

/// Writes `content` to `path` so that a reader sees the old file or the new one, whole, and the new one is on
/// disk when this returns: a temporary file in the same folder, fsync, rename, fsync of the folder; mode
/// 0644. A link is followed; devices and FIFOs are written into and never replaced. "-" is standard output.
/// Returns what went wrong, in one sentence: "/run/x/report.json: the disk is full". nullopt: written.
[[nodiscard]] std::optional<std::string> atomic_write(const std::string& path, std::string_view content);

}  // namespace gpucheck::report
