// The `run` command: facts, judgement, report, exit status, on time whatever hangs.
#include "agent/run.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <variant>

#include "agent/boot_prepare.h"
#include "agent/burn_in.h"
#include "agent/burn_in_terminal.h"
#include "agent/cost_answer.h"
#include "agent/delivery.h"
#include "agent/host/kfd_processes.h"
#include "agent/host/sysroot.h"
#include "agent/log.h"
#include "agent/machine.h"
#include "agent/readiness_wait.h"
#include "agent/report/output_file.h"
#include "agent/report/render.h"
#include "agent/report/report_id.h"
#include "agent/run_findings.h"
#include "agent/run_promise.h"
#include "agent/supervise/supervise.h"
#include "agent/version.h"

namespace gpucheck {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// What the run itself has to say is said by a check of its own, so that every format shows it.
constexpr Check kRunCheck{.id = "run",
                          .title = "The run itself",
                          .impact = Impact::passive,
                          .required_from = Profile::quick,
                          .applies = nullptr,
                          .judge = nullptr};

double budget_of(const cli::RunOptions& options) {
    if (options.budget_s) return *options.budget_s;
    switch (options.profile) {  // design.md, section 5
        case Profile::quick:
            return 2;
        case Profile::boot:
            return 60;
        case Profile::acceptance:
            return 600;
        case Profile::soak:
            return 600;
    }
    return 2;
}

report::CheckLine run_line(Findings findings) {
    report::CheckLine line;
    line.result.check = &kRunCheck;
    line.result.required = true;
    line.result.verdict = Verdict::pass;
    if (findings.empty())
        findings.push_back(finding(kRunCheck.id, Verdict::pass, {}, "ends on time", "it did", ""));
    for (const Finding& each : findings) line.result.verdict = std::max(line.result.verdict, each.verdict);
    line.result.findings = std::move(findings);
    return line;
}

report::Report blank_report(const cli::RunOptions& options) {
    report::Report report;
    report.report_id = report::new_report_id();
    report.created = report::rfc3339_now();
    report.tool_version = kVersion;
    report.profile = options.profile;
    report.simulated = !options.machine.machine.empty() || !options.machine.driver_dir.empty() ||
                       !options.machine.metadata_base.empty() || !options.machine.api_base.empty();
    report.machine = options.machine.machine;
    report.injected = options.inject;
    return report;
}

void judge(report::Report& report) {
    std::vector<CheckResult> results;
    for (const Check& check : all_checks()) {
        const Clock::time_point start = Clock::now();
        report::CheckLine line;
        line.result = run_check(check, report.snapshot, report.profile);
        line.duration_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
        report.checks.push_back(std::move(line));
    }
    if (report.readiness) readiness::excuse(*report.readiness, report.checks);
    for (const report::CheckLine& line : report.checks) results.push_back(line.result);
    report.verdict = aggregate(results);
}

// Prints and stores the report as the options say; the exit status.
int deliver(const cli::RunOptions& options, const report::Report& report) {
    const report::RenderOptions render{.colour = colours(), .width = 100, .exit_map = options.exit_map};
    int status = report::exit_status(report.verdict, options.exit_map);
    if (options.boot) {
        if (const auto error = boot::announce(report, status, boot::places())) log_warn(*error);
    }
    if (!options.output.empty()) {
        const report::Format format = options.format.value_or(report::Format::json);
        if (const auto error = report::atomic_write(options.output, report::render(report, format, render))) {
            log_error(*error);
            status = kSoftware;
        }
        if (options.format) return status;
    }
    if (options.boot && !options.format) {
        const int printed = print(boot::verdict_line(report) + "\n");
        return printed != 0 ? printed : status;
    }
    const int printed = print(report::render(report, options.format.value_or(report::Format::text), render));
    return printed != 0 ? printed : status;
}

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
             Clock::time_point end, const std::vector<std::string>& refused, Progress& progress,
             boot::RunMarker& marker, Snapshot& snapshot) {
    const bool asked = !options.experiments.empty() || !options.inject.empty();
    if (snapshot.gpus.empty() || !target.libraries.allowed || (options.profile == Profile::quick && !asked))
        return;
    if (was_given_up(refused, kExperiments)) {
        snapshot.measurements.experiments = Missing{std::string(kExperiments), "given up: no answer"};
        return;
    }
    constexpr milliseconds kAfter{6000}, kLeast{500};  // for the second reading and the report
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
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

// The vendors' facts: once in a quick run, at both ends of a longer one.
void read_vendors(const cli::RunOptions& options, const Target& target, const Supervision& limits,
                  Clock::time_point start, Clock::time_point end, const std::vector<std::string>& refused,
                  const experiments::Settings& settings, Progress& progress, boot::RunMarker& marker,
                  Snapshot& snapshot) {
    ReadingPlan plan{target.libraries, target.answers, start,
                     [&](std::string_view what, milliseconds at_most) { progress.wait(what, at_most); }};
    if (was_given_up(refused, kVendorLibraries)) plan.libraries = {false, ""};
    read_first(target.root, plan, vendor_deadline(options.profile, limits.budget, end), snapshot);
    burn_in(options, target, settings, end, refused, progress, marker, snapshot);
    constexpr milliseconds kSecondNeeds{2500};
    if (options.profile != Profile::quick && end - Clock::now() > kSecondNeeds) {
        read_last(target.root, plan, vendor_deadline(options.profile, limits.budget, end - kBetweenReadings),
                  snapshot);
    }
    snapshot.measurements.vendor_telemetry = telemetry_was_read(snapshot);
}

// The sentence for the command line, or the settings.
std::variant<experiments::Settings, std::string> settings_of(const cli::RunOptions& options) {
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

// On disk before anybody reads the verdict; false: no disk took it.
bool keep_report(const DeliveryPlan& plan, const report::Report& report, Progress& progress) {
    if (!plan.wanted()) return true;
    progress.step(plan.spool_folder);
    guard_memory();
    const Kept result = keep(plan, outgoing(report));
    if (result.kept == 0) return false;  // told by who delivers it
    for (const std::string& sentence : result.told) log_warn(sentence);
    return true;
}

// The child's part: everything but delivery. Its return value is the exit status.
int work(const cli::RunOptions& options, Target& target, const experiments::Settings& settings,
         const DeliveryPlan& plan, boot::Prepared& prepared, const Supervision& limits, Clock::time_point end,
         const std::vector<std::string>& refused, Progress& watched) {
    const Clock::time_point start = Clock::now();
    boot::MarkedProgress progress(watched, prepared.marker);
    prepared.marker.stage("reading files");
    target.root.refuse(refused);
    target.root.on_access([&](const host::Access& access) { progress.step(access.path); });
    report::Report report = blank_report(options);
    auto conflicts = find_out_who(options, target, limits.budget, refused, progress);
    if (const auto* error = std::get_if<std::string>(&conflicts)) {
        log_error(*error);
        return kUsage;
    }
    // Shorter than the stall limit: waiting for device nodes must not look like a file that hangs.
    const int node_deadline_ms = static_cast<int>(limits.stall.count() * 9 / 10);
    report.snapshot = read_machine(target, node_deadline_ms);
    report.snapshot.instance.price = price_now(options, target.root, report.snapshot);
    report.readiness = prepared.readiness;
    read_vendors(options, target, limits, start, end, refused, settings, progress, prepared.marker,
                 report.snapshot);
    progress.reading_done();

    Findings own = refused_findings(refused, limits.stall);
    own.insert(own.end(), prepared.findings.begin(), prepared.findings.end());
    for (Finding& each : unseen_injection(options.inject, report.snapshot)) own.push_back(std::move(each));
    for (Finding& each : promise_findings(target.promise, std::get<0>(conflicts)))
        own.push_back(std::move(each));
    report.checks.push_back(run_line(std::move(own)));
    judge(report);
    report.cost = cost_of(report, options.machine.specs_folder);
    report.duration_s = std::chrono::duration<double>(Clock::now() - start).count();
    const bool kept = keep_report(plan, report, progress);
    const int status = deliver(options, report);
    if (!kept) {
        constexpr milliseconds kEnding{150};  // or the parent takes this run for one that is out of time
        const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now()) - kEnding;
        progress.wait("delivery", left);
        deliver_after_run(plan, outgoing(report), left);
    }
    return status;
}

// What is left to say when no child could finish in time.
report::Report out_of_time(const cli::RunOptions& options, const boot::Prepared& prepared,
                           const Outcome& outcome, const Supervision& limits) {
    report::Report report = blank_report(options);
    report.readiness = prepared.readiness;
    Findings own = refused_findings(outcome.refused, limits.stall);
    own.insert(own.end(), prepared.findings.begin(), prepared.findings.end());
    own.push_back(out_of_time_finding(limits.budget, outcome.last_step));
    report.checks.push_back(run_line(std::move(own)));
    for (const Check& check : all_checks()) {
        report::CheckLine line;
        line.result.check = &check;
        line.result.verdict = Verdict::unknown;
        line.result.reason = "the run ended before it";
        report.checks.push_back(std::move(line));
    }
    report.verdict = Verdict::unknown;
    report.cost.missing = "the run ended before it";
    report.duration_s = std::chrono::duration<double>(limits.budget).count();
    return report;
}

// What the config says about a machine that it does not speak of stays out, its receivers too.
std::variant<DeliveryPlan, std::string> plan_run(const Config& config, cli::RunOptions& options) {
    const bool ours = speaks_of(config, options.machine);
    fill(config, options);
    Config used = config;
    if (!ours && options.report_to.empty()) used.sinks.clear();
    return plan_delivery(used, options.report_to, options.key);
}

// What the parent says when the child ended, and how.
int finish(const cli::RunOptions& options, const DeliveryPlan& plan, boot::Prepared& prepared,
           const Outcome& outcome, const Supervision& limits) {
    int status = kSoftware;
    std::string broken;
    std::optional<Outgoing> own;  // the child kept its report itself
    switch (outcome.kind) {
        case Outcome::Kind::finished:
            status = outcome.status;
            if (status == kSoftware) broken = "exit status " + std::to_string(status);
            break;
        case Outcome::Kind::out_of_time: {
            const report::Report report = out_of_time(options, prepared, outcome, limits);
            status = deliver(options, report);
            own = outgoing(report);
            break;
        }
        case Outcome::Kind::crashed:
            broken = "gpucheck was ended by signal " + std::to_string(outcome.signal) + " (" +
                     ::strsignal(outcome.signal) + ") after looking at " +
                     (outcome.last_step.empty() ? "nothing" : outcome.last_step);
            log_error(broken);
            break;
        case Outcome::Kind::unsupported:
            broken = "no child process could be started: " + host::errno_name(errno);
            log_error(broken);
            break;
    }
    if (options.boot && !broken.empty()) boot::announce_broken(status, broken, prepared.places);
    prepared.marker.end();
    if (plan.wanted()) deliver_after_run(plan, own);
    return status;
}

}  // namespace

bool colours() {
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') &&
           (term == nullptr || std::strcmp(term, "dumb") != 0);
}

int print(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            if (errno == EPIPE) return 0;  // the reader has seen enough
            log_error("standard output: " + host::errno_name(errno));
            return kSoftware;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

int run(const cli::RunOptions& given) {
    cli::RunOptions options = given;
    const auto config = read_config(options.config);
    if (const auto* error = std::get_if<std::string>(&config)) {
        log_error(*error);
        return kUsage;
    }
    const auto planned = plan_run(*std::get_if<Config>(&config), options);
    if (const auto* error = std::get_if<std::string>(&planned)) {
        log_error(*error);
        return kUsage;
    }
    const auto& plan = *std::get_if<DeliveryPlan>(&planned);
    auto opened = open_target(options.machine);
    if (const auto* error = std::get_if<std::string>(&opened)) {
        log_error(*error);
        return kUsage;
    }
    Target& target = std::get<Target>(opened);
    const auto chosen = settings_of(options);
    if (const auto* error = std::get_if<std::string>(&chosen)) {
        log_error(*error);
        return kUsage;
    }
    const auto& settings = std::get<experiments::Settings>(chosen);
    auto before = boot::prepare(options, target);
    if (const auto* error = std::get_if<std::string>(&before)) {
        log_error(*error);
        return kUsage;
    }
    auto& prepared = std::get<boot::Prepared>(before);
    Supervision limits;
    limits.budget = milliseconds(static_cast<long long>(budget_of(options) * 1000));
    limits.stall = std::clamp<milliseconds>(limits.budget * 2 / 5, milliseconds(50), milliseconds(5000));
    const Clock::time_point end = Clock::now() + limits.budget;
    const Outcome outcome =
        supervise(limits, [&](const std::vector<std::string>& refused, Progress& progress) {
            return work(options, target, settings, plan, prepared, limits, end, refused, progress);
        });
    return finish(options, plan, prepared, outcome, limits);
}

}  // namespace gpucheck
