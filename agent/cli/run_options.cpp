// The options of a run; see run_options.h.
#include "agent/cli/run_options.h"

#include <CLI/CLI.hpp>
#include <map>

#include "agent/cli/machine_options.h"

namespace gpucheck::cli {
namespace {

constexpr double kLongestWait = 86400;

std::string wrong_budget(const std::string& text) {
    double seconds = 0;
    constexpr double kLeast = 0.1;
    // Written so that NaN fails too.
    const bool fine =
        CLI::detail::lexical_cast(text, seconds) && seconds >= kLeast && seconds <= kLongestWait;
    return fine ? std::string() : "not a number from 0.1 to 86400";
}

std::string wrong_empty(const std::string& text) {
    return text.empty() ? "empty: is a shell variable unset?" : std::string();
}

// "auto", or seconds.
std::string wrong_wait(const std::string& text) {
    double seconds = 0;
    const bool fine = text == "auto" ||
                      (CLI::detail::lexical_cast(text, seconds) && seconds >= 0 && seconds <= kLongestWait);
    return fine ? std::string() : "not auto or a number from 0 to 86400";
}

const std::map<std::string, Profile> kProfiles{
    {"quick", Profile::quick}, {"boot", Profile::boot}, {"acceptance", Profile::acceptance}};
const std::map<std::string, report::ExitMap> kExitMaps{{"standard", report::ExitMap::standard},
                                                       {"nagios", report::ExitMap::nagios},
                                                       {"npd", report::ExitMap::npd}};

void add_experiment_options(CLI::App& app, RunOptions& options) {
    app.add_option("--experiment", options.experiments,
                   "Run these experiments on the GPUs, in any profile: launch, matrix, gemm, pattern, "
                   "stream, link, peer; and with these sizes: matrix.reps=4, stream.bytes=1MiB. "
                   "Comma-separated, repeatable")
        ->option_text("NAME[.KEY=VALUE],...")
        ->expected(1)
        ->take_all();
    app.add_option("--seed", options.seed,
                   "Operands and patterns of the experiments by this number, as an earlier report printed it")
        ->option_text("N")
        ->check([](const std::string& text) {  // strtoull would take -1 for the largest of them
            return text.find('-') == std::string::npos ? std::string() : "not a number from 0 on: " + text;
        });
    app.add_option(
           "--inject", options.inject,
           "Put a fault into the data on each GPU, to prove that it is found: bit[:OFFSET], lane[:LANE], "
           "operand[:LANE], skip; the report says so")
        ->option_text("FAULT");
    app.add_flag("--force", options.force, "Run experiments also on GPUs that other processes compute on");
}

void add_delivery_options(CLI::App& app, RunOptions& options) {
    CLI::Option* report_to =
        app.add_option(
               "--report-to", options.report_to,
               "Deliver the signed report to this receiver; what cannot be delivered within 2 s is kept "
               "for `gpucheck report flush`")
            ->option_text("URL")
            ->check(wrong_empty);
    app.add_flag("--no-deliver", options.no_deliver,
                 "Deliver to nobody, whatever the config says: for looks that come each minute")
        ->excludes(report_to);
    app.add_option("--config", options.config,
                   "Read FILE instead of /etc/gpucheck/config.json: what was promised, sinks, the key")
        ->option_text("FILE")
        ->check(wrong_empty);
    app.add_option("--key", options.key,
                   "Sign with this Ed25519 private key (PEM) instead of this machine's own")
        ->option_text("FILE");
}

}  // namespace

void add_run_options(CLI::App& app, RunOptions& options, std::string& format) {
    add_machine_options(app, options.machine);
    add_metadata_options(app, options.machine);
    add_price_option(app, options);
    app.add_option("--profile", options.profile,
                   "quick (default): passive, 2 s; boot: telemetry and short experiments on the GPUs are "
                   "required, 60 s; "
                   "acceptance: 10 min. "
                   "What a profile requires and could not look at makes the verdict unknown")
        ->option_text("quick|boot|acceptance")
        ->transform(CLI::CheckedTransformer(kProfiles).description(""));
    app.add_option("--format", format, "How to print the report (default: text)")
        ->option_text("text|json|junit|prometheus|nagios|html")
        ->check([](const std::string& name) {
            return report::format_from(name) ? std::string()
                                             : "not one of text, json, junit, prometheus, nagios, html";
        });
    app.add_option("--output", options.output,
                   "Write the report to FILE, whole or not at all: JSON beside the text on the terminal, or "
                   "--format's alone")
        ->option_text("FILE");
    app.add_option("--budget", options.budget_s,
                   "Wall-clock seconds for the whole run instead of the profile's")
        ->option_text("SECONDS")
        ->check(wrong_budget);
    app.add_option(
           "--wait", options.wait,
           "Before judging, wait up to SECONDS until every GPU is driven, openable and counted; auto: "
           "120 s and 15 s for each GPU. The wait is not part of the budget")
        ->option_text("SECONDS|auto")
        ->check(wrong_wait);
    app.add_flag(
        "--boot", options.boot,
        "For the boot of an instance: profile boot, --wait auto, one line on standard output, and the "
        "verdict in /run/gpucheck, the journal and the message of the day");
    app.add_option("--exit-map", options.exit_map,
                   "nagios: 0 ok, 1 warning, 2 critical, 3 unknown; npd: 0 ok, 1 problem, 2 unknown")
        ->option_text("standard|nagios|npd")
        ->transform(CLI::CheckedTransformer(kExitMaps).description(""));
    add_experiment_options(app, options);
    add_delivery_options(app, options);
}

}  // namespace gpucheck::cli
