// The `capture` command: a machine becomes a folder that anybody can judge again.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>

#include "agent/capture/capture.h"
#include "agent/collect.h"
#include "agent/host/kernel_log/read.h"
#include "agent/host/node_probe.h"
#include "agent/identify.h"
#include "agent/log.h"
#include "agent/machine.h"
#include "agent/readings.h"
#include "agent/run.h"
#include "agent/run_promise.h"
#include "agent/supervise/supervise.h"
#include "agent/vendor/recorded.h"

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

constexpr int kNodeDeadlineMs = 5000;
// Bounds of the whole, for a machine whose files and libraries hang one after the other.
constexpr Supervision kLimits{std::chrono::minutes(5), std::chrono::seconds(10)};
constexpr std::chrono::milliseconds kVendorDeadline{20'000}, kMetadataDeadline{5'000};

// UUIDs are known by their shape; a serial is a number like any other.
std::vector<std::string> serials_of(const Snapshot& snapshot) {
    std::vector<std::string> serials;
    for (const Device& gpu : snapshot.gpus) {
        for (const Reading* reading : {&gpu.telemetry.first, &gpu.telemetry.last}) {
            const Fact<std::string>& serial = reading->nvidia.identity.serial;
            if (serial.known()) serials.push_back(*serial);
        }
    }
    return serials;
}

capture::Learned learned_of(const Snapshot& snapshot, const Identified& who) {
    capture::Learned learned;
    if (!who.metadata_json.empty()) learned.beside.push_back({"metadata.json", who.metadata_json});
    if (std::string answers = vendor::vendor_json(snapshot); !answers.empty()) {
        learned.beside.push_back({"vendor.json", std::move(answers)});
        learned.serials = serials_of(snapshot);
    }
    // An instance's id names it like a serial.
    if (who.instance.id.known()) learned.serials.push_back(*who.instance.id);
    return learned;
}

// The folder that an earlier try of this run had begun; it held nothing yet, or it stays.
void remove_begun(std::string folder) {
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    ::rmdir((folder + ".partial").c_str());
}

// The child's part: everything. Its return value is the exit status.
int record_machine(const cli::CaptureOptions& options, Target& target,
                   const std::vector<std::string>& refused, Progress& progress) {
    target.root.refuse(refused);
    if (!refused.empty()) remove_begun(options.folder);
    capture::Options how;
    how.on_step = [&](std::string_view path) { progress.step(path); };
    how.on_read = [&] { progress.reading_done(); };
    if (target.root.is_live()) {
        how.probe = [](const std::vector<std::string>& paths) {
            return host::probe_nodes(paths, kNodeDeadlineMs);
        };
    }
    if (std::string log = kernel_log_of(target.root); !log.empty())
        how.beside.push_back({"kernel.log", std::move(log)});
    Snapshot snapshot;
    Identified who;
    std::string unusable;
    how.learned = [&] { return learned_of(snapshot, who); };
    ReadingPlan plan{
        target.libraries, target.answers, std::chrono::steady_clock::now(),
        [&](std::string_view what, std::chrono::milliseconds at_most) { progress.wait(what, at_most); }};
    if (was_given_up(refused, kVendorLibraries)) plan.libraries = {false, ""};
    const auto written = capture::capture(
        target.root, options.folder,
        [&](const host::Sysroot& root) {
            IdentifyPlan identity{kMetadataDeadline, was_given_up(refused, kMetadataService), false, true,
                                  plan.waiting};
            auto told = identify(root, options.machine, identity);
            if (auto* error = std::get_if<std::string>(&told)) {
                unusable = std::move(*error);
            } else {
                who = std::move(std::get<Identified>(told));
            }
            collect_facts(root, snapshot, kNodeDeadlineMs);
            read_first(root, plan, kVendorDeadline, snapshot);
        },
        how);
    if (const auto* error = std::get_if<std::string>(&written)) {
        log_error(*error);
        return kUsage;
    }
    if (!unusable.empty()) log_warn(unusable + "; the metadata service was not asked");
    for (const std::string& path : refused) log_warn(path + ": did not answer; it was left out");
    const capture::Summary& summary = std::get<capture::Summary>(written);
    return print(options.folder + ": " + std::to_string(summary.files) + " files, " +
                 std::to_string(summary.links) + " links, " + std::to_string(summary.nodes) +
                 " device nodes and read errors\n" +
                 "Serials, UUIDs, addresses, host and user names are replaced; look through it before you "
                 "pass it on.\n" +
                 "Judge it with: gpucheck --machine " + options.folder + "\n");
}

}  // namespace

int capture_machine(const cli::CaptureOptions& options) {
    auto opened = open_target(options.machine);
    if (const auto* error = std::get_if<std::string>(&opened)) {
        log_error(*error);
        return kUsage;
    }
    Target& target = std::get<Target>(opened);
    const Outcome outcome =
        supervise(kLimits, [&](const std::vector<std::string>& refused, Progress& progress) {
            return record_machine(options, target, refused, progress);
        });
    if (outcome.kind == Outcome::Kind::finished) return outcome.status;
    remove_begun(options.folder);
    log_error("nothing was recorded: ended at " +
              (outcome.last_step.empty() ? "the start" : outcome.last_step));
    return kSoftware;
}

}  // namespace gpucheck
