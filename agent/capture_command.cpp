// The `capture` command: a machine becomes a folder that anybody can judge again.
#include <fstream>
#include <iterator>

#include "agent/capture/capture.h"
#include "agent/collect.h"
#include "agent/host/kernel_log/read.h"
#include "agent/host/node_probe.h"
#include "agent/log.h"
#include "agent/machine.h"
#include "agent/run.h"

namespace gpucheck {
namespace {

constexpr std::size_t kMaxLog = std::size_t{16} * 1024 * 1024;

// The machine's kernel log as text; nothing when it may not be read, is larger than a bug report should be,
// or is compressed (names inside could not be replaced).
std::string kernel_log_of(const host::Sysroot& root) {
    std::string text;
    if (root.is_live()) {
        std::uint64_t lost = 0;
        bool stopped = false;
        const auto error = host::each_kmsg_record(
            "/dev/kmsg",
            [&](std::string_view record) {
                if (text.size() < kMaxLog) text.append(record).append("\n");
            },
            lost, stopped);
        if (error) log_warn("/dev/kmsg: " + *error + "; the recorded machine has no kernel log");
        return text;
    }
    std::ifstream file(root.folder() + "/kernel.log", std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (text.size() > kMaxLog || !host::is_text(text)) {
        log_warn("kernel.log is too large or no text; the copy has none");
        text.clear();
    }
    return text;
}

}  // namespace

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
        how.probe = [=](const std::vector<std::string>& paths) {
            return host::probe_nodes(paths, deadline_ms);
        };
    }
    if (std::string log = kernel_log_of(target.root); !log.empty())
        how.beside.push_back({"kernel.log", std::move(log)});
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
    return print(options.folder + ": " + std::to_string(summary.files) + " files, " +
                 std::to_string(summary.links) + " links, " + std::to_string(summary.nodes) +
                 " device nodes and read errors\n" +
                 "Serials, UUIDs, addresses, host and user names are replaced; look through it before you "
                 "pass it on.\n" +
                 "Judge it with: gpucheck --machine " + options.folder + "\n");
}

}  // namespace gpucheck
