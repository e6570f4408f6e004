// Turns argv into Options; wrong command lines end with status 64 and say what would have been right.
#include "agent/cli/options.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string_view>

#include "agent/cli/completion.h"
#include "agent/cli/cost_options.h"
#include "agent/cli/machine_options.h"
#include "agent/cli/report_options.h"
#include "agent/cli/run_options.h"
#include "agent/report/exit_status.h"
#include "agent/version.h"

namespace gpucheck::cli {
namespace {

const char* const kFooter = R"(examples:
  gpucheck                                   what is wrong with this machine, in two seconds
  gpucheck --expect gpu_count=8              the same, and eight GPUs must be there
  gpucheck --machine tests/machines/h100-x8-one-missing --expect gpu_count=8
                                             judge a recorded machine instead of this one
  gpucheck --output report.json              the table on the terminal, the whole report in a file
  gpucheck --format prometheus --output /var/lib/node_exporter/textfile/gpucheck.prom
  gpucheck list                              the GPUs and what the files say about them
  dmesg | gpucheck log -                     what the kernel log says about the GPUs
  gpucheck cost --from report.json --price 2.1   what a million tokens costs on this machine
  gpucheck fleet summary reports/            400 machines' reports, one decision
  gpucheck explain pcie.link.narrow          what a code means and what to do about it
  gpucheck capture ./bug-report              record this machine without serials, addresses and names

exit status: 0 pass or warn, 1 fail, 2 unknown (something that must be known could not be looked at),
             64 wrong command line, 70 gpucheck itself broke, 75 a report is kept and not delivered (report send
             and flush); --exit-map changes the first three

A finding never says yes to what was not looked at, and never says no because one could not look: read the
"Not checked" block. More: man gpucheck.)";

// Seconds between looks; an empty text is --watch without a number.
std::optional<double> watch_seconds(const std::string& text) {
    constexpr double kUsual = 2, kLeast = 0.1, kMost = 86400;
    if (text.empty()) return kUsual;
    double seconds = 0;
    if (!CLI::detail::lexical_cast(text, seconds) || !(seconds >= kLeast) || !(seconds <= kMost))
        return std::nullopt;
    return seconds;
}

void add_list_options(CLI::App& app, ListOptions& options, std::string& watch) {
    add_machine_options(app, options.machine);
    CLI::Option* json =
        app.add_flag("--json", options.json,
                     "Print the whole snapshot: every fact with its source, or why it is missing; with "
                     "--topology, the matrix");
    CLI::Option* topology = app.add_flag("--topology", options.topology,
                                         "Draw how each GPU reaches each other: NVLink, xGMI or PCIe, with "
                                         "NUMA nodes and CPUs");
    CLI::Option* repeat =
        app.add_option("--watch", watch,
                       "Show the telemetry again every SECONDS (default 2) until interrupted; totals "
                       "show as what they grew by")
            ->option_text("[SECONDS]")
            ->expected(0, 1)
            ->check([](const std::string& text) {
                const std::optional<double> seconds = watch_seconds(text);
                return seconds ? std::string() : "not a number from 0.1 to 86400";
            })
            ->excludes(json)
            ->excludes(topology);
    app.add_option("--count", options.count, "With --watch: end after N looks")
        ->option_text("N")
        ->check(CLI::Range(1, 1000000000).description(""))
        ->needs(repeat);
}

// Copies what was parsed: run's options exist twice, on `gpucheck` itself and on `gpucheck run`.
struct Parsed {
    RunOptions bare, run;
    std::string bare_format, run_format;
    ListOptions list;
    std::string list_watch;
    ExplainOptions explain;
    CaptureOptions capture;
    SpecsOptions specs;
    LogOptions log;
    CostOptions cost;
    ReportOptions report;
    CompletionOptions completion;
    std::string log_level = "warn";
};

void finish(RunOptions& options, const std::string& format, bool profile_given) {
    if (!format.empty()) options.format = report::format_from(format);
    if (options.boot && !profile_given) options.profile = Profile::boot;
    if (options.boot && options.wait.empty()) options.wait = "auto";
}

// A command line that cannot be parsed still tells whether somebody waits for its verdict, and whose it is.
std::optional<RunOptions> boot_asked(int argc, const char* const* argv) {
    RunOptions options;
    options.profile = Profile::boot;
    // Other commands have no verdict.
    if (argc < 2 || (std::string_view(argv[1]) != "run" && argv[1][0] != '-')) return std::nullopt;
    for (int i = 1; i < argc; ++i) {
        const std::string_view text = argv[i];
        if (text == "--boot") options.boot = true;
        if (text.starts_with("--machine") || text.starts_with("--driver-dir")) options.machine.machine = text;
    }
    return options.boot ? std::optional(options) : std::nullopt;
}

}  // namespace

ParsedOptions parse(int argc, const char* const* argv) {
    Parsed parsed;
    CLI::App app{
        "Says whether the GPUs of this machine are what somebody pays for: present, driven, reachable, "
        "linked at full "
        "width. AMD and NVIDIA; needs neither ROCm nor CUDA. Without a command it runs `run`.",
        "gpucheck"};
    app.set_version_flag("--version", std::string("gpucheck ") + std::string(kVersion), "Print the version");
    app.set_help_flag("--help,-h", "Print this help");
    app.footer(kFooter);
    app.require_subcommand(0, 1);
    app.get_formatter()->column_width(34);
    app.add_option("--log-level", parsed.log_level,
                   "What goes to standard error: debug, info, warn, error, off")
        ->option_text("LEVEL")
        ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}).description(""));
    add_run_options(app, parsed.bare, parsed.bare_format);
    CLI::App* run = app.add_subcommand("run", "Judge the machine (the default)");
    add_run_options(*run, parsed.run, parsed.run_format);

    CLI::App* list = app.add_subcommand(
        "list", "Show the GPUs and their telemetry, or how they are linked, without judging");
    add_list_options(*list, parsed.list, parsed.list_watch);

    CLI::App* log = app.add_subcommand(
        "log",
        "Turn a kernel log into events: what happened, to which GPU, how often, whose fault, what to do");
    log->add_option("FILE", parsed.log.path,
                    "dmesg, journalctl -k, syslog, /dev/kmsg or pstore text, also gzip, xz or zstd; - for "
                    "standard input")
        ->required()
        ->option_text(" ");
    log->add_option("--format", parsed.log.format, "text (default) or json")
        ->option_text("text|json")
        ->check(CLI::IsMember({"text", "json"}).description(""));
    log->add_option("--gpu", parsed.log.gpu, "Only events of this GPU, by its PCI address")
        ->option_text("BDF");
    log->add_flag("--since-boot", parsed.log.since_boot, "Only what follows the last boot in the file");

    CLI::App* cost = app.add_subcommand(
        "cost", "Say what a token costs on this machine, from what was measured on it; compare boards");
    add_cost_options(*cost, parsed.cost);

    CLI::App* report = add_report_command(app, parsed.report);

    CLI::App* fleet = app.add_subcommand(
        "fleet", "Decide over many machines by their reports: starts gpucheck-fleet, a package of its own");
    fleet->prefix_command();

    CLI::App* explain = app.add_subcommand(
        "explain", "Say what a finding code means, why it happens and what to do; all codes without CODE");
    explain
        ->add_option("CODE", parsed.explain.code,
                     "A code such as pcie.link.narrow, or a check such as nodes.access")
        ->option_text(" ");
    explain->add_option("--xid", parsed.explain.xid, "An Xid by its number: --xid 79 is xid.79")
        ->option_text("N")
        ->check([](const std::string& text) {
            const bool number = !text.empty() && text.size() <= 4 &&
                                text.find_first_not_of("0123456789") == std::string::npos;
            return number ? std::string() : "not a number";
        });
    explain->add_flag("--json", parsed.explain.json, "Print JSON");

    CLI::App* capture = app.add_subcommand("capture",
                                           "Record this machine into a new folder DIR, for a bug report or a "
                                           "test: the files gpucheck reads, with serials, UUIDs, "
                                           "addresses and names replaced");
    capture->add_option("DIR", parsed.capture.folder, "A folder that does not exist yet, or is empty")
        ->required()
        ->option_text(" ");
    add_machine_options(*capture, parsed.capture.machine);
    add_metadata_options(*capture, parsed.capture.machine);

    CLI::App* specs = app.add_subcommand(
        "specs", "Show the boards gpucheck knows: ids, memory, links, floors, and where each figure is from");
    specs->add_option("BOARD", parsed.specs.filter, "Only rows whose key, name or ids contain this")
        ->option_text(" ");
    specs->add_option("--specs", parsed.specs.specs_folder, "Read the rows from DIR")->option_text("DIR");
    specs->add_flag("--json", parsed.specs.json, "Print JSON with the sources");

    CLI::App* completion = app.add_subcommand(
        "completion",
        "Print a completion script: gpucheck completion bash > /etc/bash_completion.d/gpucheck");
    completion->add_option("SHELL", parsed.completion.shell, "bash, zsh or fish")
        ->required()
        ->option_text(" ")
        ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""));

    for (CLI::App* command : app.get_subcommands(nullptr)) {
        command->set_help_flag("--help,-h", "Print this help");
        command->get_formatter()->column_width(34);
    }
    fleet->set_help_flag();  // gpucheck-fleet has its own

    ParsedOptions result;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (app.exit(error, std::cout, std::cerr) == 0) {
            result.command = Stop{};
        } else {
            result.command = Stop{kUsage, boot_asked(argc, argv), error.what()};
        }
        return result;
    }
    result.log_level = parsed.log_level;
    if (list->parsed()) {
        if (list->count("--watch") > 0) parsed.list.watch_s = watch_seconds(parsed.list_watch);
        result.command = parsed.list;
    } else if (log->parsed()) {
        result.command = parsed.log;
    } else if (cost->parsed()) {
        result.command = parsed.cost;
    } else if (report->parsed()) {
        result.command = parsed.report;
    } else if (fleet->parsed()) {
        result.command = FleetOptions{fleet->remaining()};
    } else if (explain->parsed()) {
        if (!parsed.explain.xid.empty()) parsed.explain.code = "xid." + parsed.explain.xid;
        result.command = parsed.explain;
    } else if (capture->parsed()) {
        result.command = parsed.capture;
    } else if (specs->parsed()) {
        result.command = parsed.specs;
    } else if (completion->parsed()) {
        result.command = parsed.completion;
        result.completion = completion_script(app, parsed.completion.shell);
    } else {
        const bool named = run->parsed();
        RunOptions& chosen = named ? parsed.run : parsed.bare;
        finish(chosen, named ? parsed.run_format : parsed.bare_format,
               (named ? run : &app)->count("--profile") > 0);
        // Who asked to wait wants to see for what.
        if (!chosen.wait.empty() && app.count("--log-level") == 0) result.log_level = "info";
        result.command = chosen;
    }
    return result;
}

}  // namespace gpucheck::cli
