// The children of the burn-in, and how what they said becomes facts.
#include "agent/burn_in.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "agent/burn_in_child.h"
#include "agent/burn_in_lines.h"
#include "agent/child/child.h"
#include "kernels/driver/driver.h"
#include "kernels/experiments/run.h"

namespace gpucheck {
namespace {

using Clock = std::chrono::steady_clock;
using experiments::Kind;
using std::chrono::milliseconds;

const std::string kSource = "experiments";

/// A GPU under test, and what its child has said so far.
struct GpuUnderTest {
    std::size_t index = 0;  ///< in Snapshot::gpus
    std::vector<ExperimentResult> results;
    std::optional<BurnIn> about;
    LoadSamples load;
    std::optional<Missing> missing;
    std::string stage;
    child::Outcome outcome;
};

void take_line(const BurnInLine& line, GpuUnderTest& subject) {
    if (line.result) subject.results.push_back(*line.result);
    if (line.about) subject.about = line.about;
    if (line.load) subject.load = *line.load;
    if (line.missing) subject.missing = line.missing;
    if (line.stage) subject.stage = *line.stage;
}

ExperimentResult not_run(std::string experiment, Missing why) {
    ExperimentResult result;
    result.experiment = std::move(experiment);
    result.ran = std::move(why);
    return result;
}

/// What the child was about to do and did not: its stage at the end, and all that would have followed.
void add_what_was_lost(const experiments::Settings& settings, const Missing& why, GpuUnderTest& subject) {
    bool lost = subject.stage.empty();
    for (const Kind kind : experiments::order()) {
        if (!settings.runs(kind)) continue;
        const std::string name(name_of(kind));
        const bool here = name == subject.stage;
        lost = lost || here;
        // Most GPUs have no second path, and which do is known only once it runs.
        if (kind == Kind::matrix_native && !here) continue;
        const bool direct = here || subject.stage.empty();
        if (lost)
            subject.results.push_back(not_run(name, direct ? why : Missing{why.source, "after: " + why.why}));
    }
}

VendorTrouble trouble_of(const Device& device, const child::Outcome& outcome, const child::Limits& limits) {
    VendorTrouble trouble;
    trouble.library = gpu::library_of(device.vendor);
    trouble.call = outcome.last_step;
    trouble.device = device.bdf.str();
    trouble.outcome = std::string(name_of(outcome.kind));
    trouble.detail = detail_of(outcome, limits);
    return trouble;
}

/// A GPU that is split is one address and several devices, of which the library opens the first by it.
std::optional<Missing> part_of(const Device& device) {
    const std::size_t partitions = device.amd.kfd_nodes.size();
    if (partitions > 1)
        return Missing{"KFD topology", "1 of " + std::to_string(partitions) + " partitions was tested"};
    const Fact<bool>& mig = device.telemetry.first.nvidia.state.mig_current;
    if (mig.is(true)) return Missing{mig.source(), "MIG is on: one instance at most was tested"};
    return std::nullopt;
}

void add_trouble(Snapshot& snapshot, VendorTrouble trouble) {
    Fact<std::vector<VendorTrouble>>& troubles = snapshot.host.vendor_troubles;
    std::vector<VendorTrouble> all;
    if (troubles.known()) all = *troubles;
    all.push_back(std::move(trouble));
    troubles =
        Fact<std::vector<VendorTrouble>>(std::move(all), troubles.known() ? troubles.source() : kSource);
}

void conclude(const BurnInOptions& options, const child::Limits& limits, GpuUnderTest& subject,
              Snapshot& snapshot) {
    Device& device = snapshot.gpus[subject.index];
    BurnIn& burn_in = device.burn_in;
    if (subject.about) burn_in = *subject.about;
    burn_in.load = subject.load;
    const child::Outcome& outcome = subject.outcome;
    burn_in.ended = Fact<std::string>(std::string(name_of(outcome.kind)), outcome.last_step);
    if (outcome.kind != child::Outcome::Kind::finished) {
        const std::string what = std::string(name_of(outcome.kind)) + ": " + detail_of(outcome, limits);
        add_what_was_lost(options.settings, Missing{outcome.last_step, what}, subject);
        add_trouble(snapshot, trouble_of(device, outcome, limits));
    }
    if (subject.missing && subject.results.empty()) {
        burn_in.results = *subject.missing;
        return;
    }
    if (const auto part = part_of(device)) subject.results.push_back(not_run("partitions", *part));
    burn_in.results = Fact<std::vector<ExperimentResult>>(std::move(subject.results), kSource);
}

Fact<unsigned> processes_on(const BurnInOptions& options, const Snapshot& snapshot, std::size_t gpu) {
    const Device& device = snapshot.gpus[gpu];
    if (device.vendor == Vendor::nvidia) return device.telemetry.first.nvidia.state.compute_processes;
    if (gpu >= options.kfd_processes.size()) return Missing{"KFD", "not looked at"};
    return options.kfd_processes[gpu];
}

/// GPUs that others compute on are left alone: an experiment would take their memory, and they its time.
/// Where nobody can tell, it is tested: who asks for a test in a container may not see the machine's
/// processes.
std::optional<Missing> in_use(const BurnInOptions& options, const Snapshot& snapshot, std::size_t gpu) {
    const Fact<unsigned> processes = processes_on(options, snapshot, gpu);
    if (!processes.known() || *processes == 0) return std::nullopt;
    return Missing{processes.source(),
                   "in use by " + std::to_string(*processes) + (*processes == 1 ? " process" : " processes")};
}

std::vector<GpuUnderTest> subjects_of(const BurnInOptions& options, Snapshot& snapshot) {
    std::vector<GpuUnderTest> subjects;
    for (std::size_t i = 0; i < snapshot.gpus.size(); ++i) {
        if (const auto used = options.forced ? std::nullopt : in_use(options, snapshot, i)) {
            snapshot.gpus[i].burn_in.results = *used;
            continue;
        }
        subjects.emplace_back().index = i;
    }
    return subjects;
}

void test_each(const BurnInOptions& options, milliseconds time, std::vector<GpuUnderTest>& subjects,
               Snapshot& snapshot) {
    // The child stops beginning things early enough to end what it began.
    const Clock::time_point deadline = Clock::now() + time * 8 / 10;
    std::vector<child::Task> tasks;
    for (const GpuUnderTest& subject : subjects) {
        const Device& device = snapshot.gpus[subject.index];
        tasks.push_back(
            {"burn-in " + device.bdf.str(), [&options, &device, deadline](child::Reporter& reporter) {
                 test_gpu(options, device, deadline, reporter);
             }});
    }
    child::Limits limits;
    limits.deadline = time;
    // A call that has not come back after half of the time does not come back: the others need the rest.
    limits.stall = std::min<milliseconds>(time / 2, milliseconds(30000));
    limits.max_bytes = std::size_t{32} << 20;
    limits.max_line = std::size_t{1} << 20;
    const auto outcomes = child::run_all(tasks, limits, [&](std::size_t task, std::string_view text) {
        if (!options.progress) return;
        const auto line = parse_burn_in_line(text);
        if (!line) return;
        options.progress(subjects[task].index,
                         {line->stage ? std::string_view(*line->stage) : "",
                          line->result ? &*line->result : nullptr, line->load ? &*line->load : nullptr});
    });
    for (std::size_t i = 0; i < subjects.size(); ++i) {
        subjects[i].outcome = outcomes[i];
        for (const std::string& text : outcomes[i].lines) {
            if (const auto line = parse_burn_in_line(text)) take_line(*line, subjects[i]);
        }
        conclude(options, limits, subjects[i], snapshot);
    }
}

void add_peer_result(Device& device, ExperimentResult result) {
    Fact<std::vector<ExperimentResult>>& results = device.burn_in.results;
    if (!results.known()) return;
    std::vector<ExperimentResult> all = *results;
    all.push_back(std::move(result));
    results = Fact<std::vector<ExperimentResult>>(std::move(all), kSource);
}

void test_peers_of(const BurnInOptions& options, Vendor vendor, milliseconds time,
                   const std::vector<GpuUnderTest>& subjects, Snapshot& snapshot) {
    std::vector<const Device*> devices;
    std::vector<std::size_t> indices;
    for (const GpuUnderTest& subject : subjects) {
        const Device& device = snapshot.gpus[subject.index];
        // One that hung would hang the others' copies too.
        if (device.vendor != vendor || subject.missing ||
            subject.outcome.kind != child::Outcome::Kind::finished)
            continue;
        devices.push_back(&device);
        indices.push_back(subject.index);
    }
    if (devices.size() < 2) return;
    child::Limits limits;
    limits.deadline = time;
    limits.max_bytes = std::size_t{32} << 20;
    limits.max_line = std::size_t{1} << 20;
    const Clock::time_point deadline = Clock::now() + time * 8 / 10;
    const auto outcomes = child::run_all(
        {{"peers", [&](child::Reporter& reporter) { test_peers(options, devices, deadline, reporter); }}},
        limits);
    const child::Outcome& outcome = outcomes.front();
    std::string stage;
    std::optional<Missing> missing;
    for (const std::string& text : outcome.lines) {
        const auto line = parse_burn_in_line(text);
        if (!line) continue;
        if (line->stage) stage = *line->stage;
        if (line->missing) missing = line->missing;
        if (line->result && line->sender < indices.size())
            add_peer_result(snapshot.gpus[indices[line->sender]], *line->result);
    }
    if (outcome.kind != child::Outcome::Kind::finished) {
        VendorTrouble trouble = trouble_of(*devices.front(), outcome, limits);
        trouble.device = stage;  // "0000:19:00.0 to 0000:29:00.0"
        add_trouble(snapshot, std::move(trouble));
        missing = Missing{stage + ", " + outcome.last_step, std::string(name_of(outcome.kind))};
    }
    if (!missing) return;
    for (const std::size_t index : indices)
        add_peer_result(snapshot.gpus[index], not_run(std::string(name_of(Kind::peer)), *missing));
}

/// Whether everything ran on every GPU; if not, the first thing that did not.
Fact<bool> all_ran(const Snapshot& snapshot) {
    for (const Device& device : snapshot.gpus) {
        const std::string who = device.bdf.str();
        const auto& results = device.burn_in.results;
        if (!results.known()) return Missing{who + " " + results.source(), results.why()};
        if (results->empty()) return Missing{who, "no experiment ran"};
        for (const ExperimentResult& result : *results) {
            if (!result.ran.known())
                return Missing{who + " " + result.experiment + " " + result.variant, result.ran.why()};
        }
    }
    return Fact<bool>(true, kSource);
}

}  // namespace

void run_burn_in(const BurnInOptions& options, Snapshot& snapshot) {
    const Clock::time_point start = Clock::now();
    std::vector<GpuUnderTest> subjects = subjects_of(options, snapshot);
    const bool peers = subjects.size() > 1 && options.settings.runs(Kind::peer);
    if (!subjects.empty())
        test_each(options, peers ? options.budget * 7 / 10 : options.budget, subjects, snapshot);
    for (const Vendor vendor : {Vendor::nvidia, Vendor::amd}) {
        const auto used = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
        if (peers && used < options.budget)
            test_peers_of(options, vendor, options.budget - used, subjects, snapshot);
    }
    if (!snapshot.gpus.empty()) snapshot.measurements.experiments = all_ran(snapshot);
}

}  // namespace gpucheck
