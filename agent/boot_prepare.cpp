// Before a run; see boot_prepare.h.
#include "agent/boot_prepare.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "agent/log.h"
#include "agent/readiness_wait.h"
#include "agent/report/escape.h"
#include "agent/report/report_id.h"
#include "agent/vendor/telemetry.h"

namespace gpucheck::boot {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// nullopt: do not wait.
std::optional<readiness::WaitOptions> wait_options(const cli::RunOptions& options, const Target& target) {
    // Nothing comes up later on a recorded machine.
    if (options.wait.empty() || !target.root.is_live()) return std::nullopt;
    readiness::WaitOptions wait;
    if (options.wait != "auto") {
        const double seconds = std::strtod(options.wait.c_str(), nullptr);
        if (!(seconds > 0)) return std::nullopt;
        wait.limit = milliseconds(static_cast<long long>(seconds * 1000));
    }
    wait.promised = target.promise.expected.gpu_count;
    wait.ask_nvml = [libraries = target.libraries](Snapshot& snapshot, milliseconds deadline) {
        vendor::read_nvml_presence({libraries, deadline}, snapshot);
    };
    wait.on_change = [](const readiness::State& state, milliseconds at) {
        log_info(report::plain("after " + std::to_string(at.count() / 1000) + " s: " + state.text + " [" +
                               std::string(readiness::name_of(state.hurdle)) + ", " +
                               std::string(readiness::name_of(state.cause)) + "]"));
    };
    return wait;
}

RunMarker begin_marker(const cli::RunOptions& options, const Places& where, const std::string& boot_id) {
    MarkerRecord record;
    record.boot_id = boot_id;
    record.started = report::rfc3339_now();
    record.profile = name_of(options.profile);
    record.stage = "start";
    return RunMarker::begin(where.state, record);
}

}  // namespace

bool may_announce(const cli::MachineOptions& machine, const Places& where) {
    return (machine.machine.empty() && machine.driver_dir.empty()) || where.given;
}

std::variant<Prepared, std::string> prepare(const cli::RunOptions& options, Target& target) {
    Prepared prepared;
    prepared.places = places();
    if (options.boot && !may_announce(options.machine, prepared.places)) {
        return std::string(
            "--boot gives the verdict of this machine to everybody on it; to try it on another one, set "
            "RUNTIME_DIRECTORY and STATE_DIRECTORY to folders of your own");
    }
    if (options.boot) forget_verdict(prepared.places);
    if (options.profile != Profile::quick && may_announce(options.machine, prepared.places)) {
        const Fact<std::string> boot_id = target.root.read_line("/proc/sys/kernel/random/boot_id");
        const std::string this_boot = boot_id.known() ? *boot_id : std::string();
        RunMarker marker = begin_marker(options, prepared.places, this_boot);
        if (marker.left())
            prepared.findings.push_back(interruption(*marker.left(), this_boot, marker.path()));
        prepared.marker = std::move(marker);
    }
    if (const auto wait = wait_options(options, target)) {
        prepared.marker.stage("waiting for drivers");
        prepared.readiness = readiness::wait_supervised(target.root, *wait);
        prepared.findings.push_back(readiness::finding_of(*prepared.readiness, "run"));
    }
    return prepared;
}

void MarkedProgress::wait(std::string_view what, milliseconds at_most) {
    constexpr milliseconds kForTheDisk{5000};  // a slow one must not look like a GPU that hangs
    progress_.wait(what, at_most + kForTheDisk);
    marker_.stage(what);
    progress_.wait(what, at_most);
}

void MarkedProgress::concluded() {
    progress_.concluded();
    marker_.stage("telling the verdict");
}

MarkedExperiments::MarkedExperiments(const Snapshot& snapshot, RunMarker& marker) : marker_(marker) {
    for (const Device& gpu : snapshot.gpus) addresses_.push_back(gpu.bdf.str());
    stages_.resize(addresses_.size());
}

void MarkedExperiments::note(std::size_t gpu, std::string_view stage) {
    if (stage.empty() || gpu >= stages_.size() || stages_[gpu] == stage) return;
    stages_[gpu] = std::string(stage);
    const bool fresh = std::find(seen_.begin(), seen_.end(), stage) == seen_.end();
    if (fresh) seen_.emplace_back(stage);
    const Clock::time_point now = Clock::now();
    if (!fresh && now - last_ < milliseconds(500)) return;
    last_ = now;
    std::map<std::string_view, std::string> by_stage;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        if (!stages_[i].empty()) by_stage[stages_[i]] += " " + addresses_[i];
    }
    std::string text = "experiments:";
    for (const auto& [name, gpus] : by_stage) text += " " + std::string(name) + " (" + gpus.substr(1) + ")";
    marker_.stage(text, addresses_.size() == 1 ? addresses_.front() : std::string());
}

}  // namespace gpucheck::boot
