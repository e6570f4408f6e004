// See run_readings.h.
#include "agent/run_readings.h"

#include <unistd.h>

#include <algorithm>
#include <random>
#include <string_view>

#include "agent/boot_prepare.h"
#include "agent/burn_in.h"
#include "agent/burn_in_terminal.h"
#include "agent/host/kfd_processes.h"
#include "agent/readings.h"
#include "agent/run_promise.h"

namespace gpucheck {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// What NVML may take: its share of the profile's budget, and never what judging needs of the time that is
// left.
milliseconds vendor_deadline(Profile profile, milliseconds budget, Clock::time_point end) {
    constexpr milliseconds kQuick{1000}, kLong{20'000}, kJudging{500}, kLeast{50};
    const auto left =
        std::chrono::duration_cast<milliseconds>(end - Clock::now()) - std::min(kJudging, budget / 4);
    return std::clamp(left, kLeast, profile == Profile::quick ? kQuick : kLong);
}

constexpr std::string_view kExperiments = "experiments";

Fact<unsigned> kfd_processes(const host::Sysroot& root, const Device& gpu) {
    if (gpu.vendor != Vendor::amd) return Missing{"KFD", "not an AMD GPU"};
    std::vector<unsigned> own;
    if (root.is_live()) own = {static_cast<unsigned>(::getpid()), static_cast<unsigned>(::getppid())};
    return host::read_kfd_processes(root, gpu, own);
}

// Kernels on every GPU, between the two readings: what they cost shows as a difference. Not on a recording.
void burn_in(const cli::RunOptions& options, const Target& target, const experiments::Settings& settings,
             const RunTime& time, Progress& progress, boot::RunMarker& marker, Snapshot& snapshot) {
    const bool asked = !options.experiments.empty() || !options.inject.empty();
    if (snapshot.gpus.empty() || !target.libraries.allowed || (options.profile == Profile::quick && !asked))
        return;
    if (was_given_up(time.refused, kExperiments)) {
        snapshot.measurements.experiments = Missing{std::string(kExperiments), "given up: no answer"};
        return;
    }
    constexpr milliseconds kAfter{6000}, kLeast{500};  // for the second reading and the report
    const auto left = std::chrono::duration_cast<milliseconds>(time.end - Clock::now());
    BurnInOptions plan;
    plan.libraries = target.libraries;
    plan.settings = settings;
    plan.budget = std::max(kLeast, left - std::min(kAfter, left / 4));
    plan.all_peers = options.profile == Profile::acceptance;
    plan.forced = options.force;
    // Before the wait is announced: each reading is a step of its own, with a shorter one.
    for (const Device& gpu : snapshot.gpus) plan.kfd_processes.push_back(kfd_processes(target.root, gpu));
    BurnInLineOnTerminal line(snapshot);
    boot::MarkedExperiments marked(snapshot, marker);
    plan.progress = [&](std::size_t gpu, const BurnInProgress& news) {
        line.show(gpu, news);
        marked.note(gpu, news.stage);
    };
    progress.wait(kExperiments, plan.budget + milliseconds(1000));
    run_burn_in(plan, snapshot);
}

}  // namespace

std::variant<experiments::Settings, std::string> settings_of(const cli::RunOptions& options) {
    const bool asked = !options.experiments.empty() || !options.inject.empty();
    if (asked && !options.machine.machine.empty() && options.machine.driver_dir.empty())
        return std::string(
            "--experiment and --inject: nothing runs on a recorded machine without --driver-dir");
    experiments::Settings settings = experiments::settings_for(options.profile);
    settings.simulated = !options.machine.driver_dir.empty();
    // Sizes for hardware would keep a simulated device busy for hours.
    if (settings.simulated) {
        if (std::string error = experiments::apply(experiments::kSimulationSizes, settings); !error.empty())
            return error;
    }
    // Other data each time finds more; the report tells which it was.
    settings.seed = options.seed ? *options.seed : std::random_device{}();
    for (const std::string& text : options.experiments) {
        if (std::string error = experiments::apply(text, settings); !error.empty())
            return "--experiment: " + error;
    }
    if (!options.inject.empty()) {
        if (std::string error = experiments::parse_injection(options.inject, settings.inject); !error.empty())
            return "--inject: " + error;
    }
    return settings;
}

void read_vendors(const cli::RunOptions& options, const Target& target, const RunTime& time,
                  const experiments::Settings& settings, Progress& progress, boot::RunMarker& marker,
                  Snapshot& snapshot) {
    ReadingPlan plan{target.libraries, target.answers, time.start,
                     [&](std::string_view what, milliseconds at_most) { progress.wait(what, at_most); }};
    if (was_given_up(time.refused, kVendorLibraries)) plan.libraries = {false, ""};
    read_first(target.root, plan, vendor_deadline(options.profile, time.budget, time.end), snapshot);
    burn_in(options, target, settings, time, progress, marker, snapshot);
    constexpr milliseconds kSecondNeeds{2500};
    if (options.profile != Profile::quick && time.end - Clock::now() > kSecondNeeds) {
        read_last(target.root, plan,
                  vendor_deadline(options.profile, time.budget, time.end - kBetweenReadings), snapshot);
    }
    snapshot.measurements.vendor_telemetry = telemetry_was_read(snapshot);
}

}  // namespace gpucheck
