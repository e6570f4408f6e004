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
#include <variant>

#include "agent/boot_prepare.h"
#include "agent/cost_answer.h"
#include "agent/delivery.h"
#include "agent/host/sysroot.h"
#include "agent/log.h"
#include "agent/machine.h"
#include "agent/report/output_file.h"
#include "agent/report/render.h"
#include "agent/run_findings.h"
#include "agent/run_promise.h"
#include "agent/run_readings.h"
#include "agent/run_report.h"
#include "agent/supervise/supervise.h"

namespace gpucheck {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

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

// Stores and prints the report as the options say; `status`, or kSoftware when one of them failed.
int store_and_print(const cli::RunOptions& options, const report::Report& report, int status) {
    const report::RenderOptions render{.colour = colours(), .width = 100, .exit_map = options.exit_map};
    if (!options.output.empty()) {
        const report::Format format = options.format.value_or(report::Format::json);
        if (const auto error = report::atomic_write(options.output, report::render(report, format, render))) {
            log_error(*error);
            status = kSoftware;
        }
        if (options.format) return status;
    }
    const int printed =
        print(options.boot && !options.format
                  ? boot::verdict_line(report) + "\n"
                  : report::render(report, options.format.value_or(report::Format::text), render));
    return printed != 0 ? printed : status;
}

// Tells the verdict to everybody; the exit status.
int deliver(const cli::RunOptions& options, const report::Report& report) {
    const auto announce = [&](int status) {
        if (!options.boot) return;
        if (const auto error = boot::announce(report, status, boot::places())) log_warn(*error);
    };
    const int verdict = report::exit_status(report.verdict, options.exit_map);
    announce(verdict);  // first: who waits for it does not wait for a console or a disk that hangs
    const int status = store_and_print(options, report, verdict);
    if (status != verdict) announce(status);
    return status;
}

// On disk before anybody reads the verdict; false: no disk took it.
bool keep_report(const DeliveryPlan& plan, const report::Report& report,
                 const std::vector<std::string>& refused, Progress& progress) {
    if (!plan.wanted()) return true;
    if (was_given_up(refused, plan.spool_folder)) return false;
    progress.step(plan.spool_folder);
    guard_memory();
    const Kept result = keep(plan, outgoing(report));
    if (result.kept == 0) return false;  // told by who delivers it
    for (const std::string& sentence : result.told) log_warn(sentence);
    return true;
}

milliseconds left_until(Clock::time_point end) {
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(end - Clock::now()));
}

// A run that was told what it cannot do.
int refuse(const cli::RunOptions& options, const std::string& why) {
    log_error(why);
    announce_refusal(options, why);
    return kUsage;
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
    if (const auto* error = std::get_if<std::string>(&conflicts)) return refuse(options, *error);
    // Shorter than the stall limit: waiting for device nodes must not look like a file that hangs.
    const int node_deadline_ms = static_cast<int>(limits.stall.count() * 9 / 10);
    report.snapshot = read_machine(target, node_deadline_ms);
    report.snapshot.instance.price = price_now(options, target.root, report.snapshot);
    report.readiness = prepared.readiness;
    read_vendors(options, target, {start, end, limits.budget, refused}, settings, progress, prepared.marker,
                 report.snapshot);

    progress.wait("judging", left_until(end));
    std::vector<std::string> hung = refused;
    std::erase(hung, plan.spool_folder);  // a disk for reports says nothing about GPUs
    Findings own = refused_findings(hung, limits.stall);
    own.insert(own.end(), prepared.findings.begin(), prepared.findings.end());
    for (Finding& each : promise_findings(target.promise, std::get<0>(conflicts)))
        own.push_back(std::move(each));
    report.checks.push_back(run_line(std::move(own)));
    judge(report);
    report.cost = cost_of(report, options.machine.specs_folder);
    report.duration_s = std::chrono::duration<double>(Clock::now() - start).count();
    const bool kept = keep_report(plan, report, refused, progress);
    progress.concluded();
    const int status = deliver(options, report);
    if (!kept) deliver_after_run(plan, outgoing(report));  // within what telling the verdict may take
    return status;
}

// What the config says about a machine that it does not speak of stays out, its receivers too.
std::variant<DeliveryPlan, std::string> plan_run(const Config& config, cli::RunOptions& options) {
    const bool ours = speaks_of(config, options.machine);
    fill(config, options);
    Config used = config;
    if (options.no_deliver || (!ours && options.report_to.empty())) used.sinks.clear();
    return plan_delivery(used, options.report_to, options.key);
}

// What is known of a run that made no report.
report::Report known_of(const cli::RunOptions& options, const host::Sysroot& root, Instance instance) {
    report::Report known = blank_report(options);
    known.snapshot.host.boot_id = root.read_line("/proc/sys/kernel/random/boot_id");
    known.snapshot.instance = std::move(instance);
    return known;
}

// What the parent says when the child ended, and how.
int finish(const cli::RunOptions& options, const Target& target, const DeliveryPlan& plan,
           boot::Prepared& prepared, const Outcome& outcome, const Supervision& limits) {
    int status = kSoftware;
    std::string broken;
    std::optional<Outgoing> own;  // the child kept its report itself
    switch (outcome.kind) {
        case Outcome::Kind::finished:
            status = outcome.status;
            if (status == kSoftware) broken = "exit status " + std::to_string(status);
            break;
        case Outcome::Kind::out_of_time: {
            if (outcome.concluded) {
                broken = "the verdict was reached, but printing it did not end";
                log_error(broken);
                break;
            }
            const report::Report report =
                out_of_time_report(options, prepared.readiness, prepared.findings, outcome, limits);
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
    // What broke after the verdict was announced, such as the printing, takes nothing back.
    if (options.boot && !broken.empty() && !boot::verdict_stands(prepared.places)) {
        boot::announce_broken(known_of(options, target.root, target.promise.instance), status, broken,
                              prepared.places);
    }
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

void announce_refusal(const cli::RunOptions& options, const std::string& why) {
    const boot::Places places = boot::places();
    if (!options.boot || !boot::may_announce(options.machine, places)) return;
    const bool live = options.machine.machine.empty();
    boot::announce_broken(live ? known_of(options, host::Sysroot::live(), {}) : blank_report(options), kUsage,
                          why, places);
}

int run(const cli::RunOptions& given) {
    cli::RunOptions options = given;
    const auto config = read_config(options.config);
    if (const auto* error = std::get_if<std::string>(&config)) return refuse(options, *error);
    const auto planned = plan_run(*std::get_if<Config>(&config), options);
    if (const auto* error = std::get_if<std::string>(&planned)) return refuse(options, *error);
    const auto& plan = *std::get_if<DeliveryPlan>(&planned);
    auto opened = open_target(options.machine);
    if (const auto* error = std::get_if<std::string>(&opened)) return refuse(options, *error);
    Target& target = std::get<Target>(opened);
    const auto chosen = settings_of(options);
    if (const auto* error = std::get_if<std::string>(&chosen)) return refuse(options, *error);
    const auto& settings = std::get<experiments::Settings>(chosen);
    auto before = boot::prepare(options, target);
    if (const auto* error = std::get_if<std::string>(&before)) return refuse(options, *error);
    auto& prepared = std::get<boot::Prepared>(before);
    Supervision limits;
    limits.budget = milliseconds(static_cast<long long>(budget_of(options) * 1000));
    limits.stall = std::clamp<milliseconds>(limits.budget * 2 / 5, milliseconds(50), milliseconds(5000));
    const Clock::time_point end = Clock::now() + limits.budget;
    const Outcome outcome =
        supervise(limits, [&](const std::vector<std::string>& refused, Progress& progress) {
            return work(options, target, settings, plan, prepared, limits, end, refused, progress);
        });
    return finish(options, target, plan, prepared, outcome, limits);
}

}  // namespace gpucheck
