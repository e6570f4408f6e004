// The `capture` command: a machine becomes a folder that anybody can judge again.
#include "agent/capture/capture.h"
#include "agent/collect.h"
#include "agent/host/node_probe.h"
#include "agent/log.h"
#include "agent/machine.h"
#include "agent/run.h"

namespace gpucheck {

int capture_machine(const cli::CaptureOptions& options) {
    auto opened = open_target(options.machine);
    if (const auto* error = std::get_if<std::string>(&opened)) {
        log_error(*error);
        return kUsage;
    }
    Target& target = std::get<Target>(opened);
    const int deadline_ms = 5000;
    capture::Options how;
    if (target.root.is_live()) {
        how.probe = [=](const std::vector<std::string>& paths) { return host::probe_nodes(paths, deadline_ms); };
    }
    const auto written = capture::capture(
        target.root, options.folder,
        [=](const host::Sysroot& root) {
            Snapshot unused;
            collect_facts(root, unused, deadline_ms);
        },
        how);
    if (const auto* error = std::get_if<std::string>(&written)) {
        log_error(*error);
        return kUsage;
    }
    const capture::Summary& summary = std::get<capture::Summary>(written);
    return print(options.folder + ": " + std::to_string(summary.files) + " files, " + std::to_string(summary.links) + " links, " +
                 std::to_string(summary.nodes) + " device nodes and read errors\n" +
                 "Serials, UUIDs, addresses, host and user names are replaced; look through it before you pass it on.\n" +
                 "Judge it with: gpucheck --machine " + options.folder + "\n");
}

}  // namespace gpucheck
