// Turns argv into Options; wrong command lines end with status 64 and say what would have been right.
#include "agent/cli/options.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "agent/cli/completion.h"
#include "agent/cli/metadata_options.h"
#include "agent/cli/report_options.h"
#include "agent/version.h"

namespace gpucheck::cli {
namespace {

constexpr int kUsage = 64;  // EX_USAGE of sysexits.h

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
  gpucheck explain pcie.link.narrow          what a code means and what to do about it
  gpucheck capture ./bug-report              record this machine without serials, addresses and names

exit status: 0 pass or warn, 1 fail, 2 unknown (something that must be known could not be looked at),
             64 wrong command line, 70 gpucheck itself broke, 75 a report is kept and not delivered (report send
             and flush); --exit-map changes the first three

A finding never says yes to what was not looked at, and never says no because one could not look: read the
"Not checked" block. More: man gpucheck.)";

void add_machine_options(CLI::App& app, MachineOptions& options) {
    app.add_option("--machine", options.machine,
                   "Judge the recorded machine in DIR (see `gpucheck capture`) instead of this one; nothing "
                   "of this machine is read")
        ->option_text("DIR");
    app.add_option(
           "--expect", options.expect,
           "What must be there: gpu_count=8, board=mi300x (see `gpucheck specs`), compute_partition=CPX, "
           "memory_partition=NPS4, pcie_generation=5, pcie_width=16, driver_version=570.133, "
           "kernel_version=6.8, ecc=on, mig=off, gpu_link=nvlink, rdma_nics=8, local_nvme=8; "
           "may be repeated")
        ->option_text("KEY=VALUE")
        ->allow_extra_args(false);
    app.add_option(
           "--provider", options.provider,
           "Whose instance this is when the machine does not show it: digitalocean, aws, gcp, azure, oci, "
           "vultr, nebius, runpod, lambda, hotaisle, crusoe, openstack; a contradiction is a finding")
        ->option_text("NAME");
    app.add_option("--instance-type", options.instance_type,
                   "The instance's type, e.g. gpu-mi300x8-1536gb; what it promises is expected")
        ->option_text("TYPE");
    app.add_option(
           "--driver-dir", options.driver_dir,
           "Load the vendors' libraries (libnvidia-ml.so.1) from DIR alone instead of from the system; the "
           "report says that it is simulated")
        ->option_text("DIR");
    app.add_option("--kernel-log", options.kernel_log,
                   "Take the kernel log from FILE (- for standard input) instead of the machine's own")
        ->option_text("FILE|-");
    app.add_option(
           "--specs", options.specs_folder,
           "Read gpus.json and instances.json from DIR where they are there, instead of the built-in ones")
        ->option_text("DIR");
}

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

// Seconds between looks; an empty text is --watch without a number.
std::optional<double> watch_seconds(const std::string& text) {
    constexpr double kUsual = 2, kLeast = 0.1, kMost = 86400;
    if (text.empty()) return kUsual;
    double seconds = 0;
    if (!CLI::detail::lexical_cast(text, seconds) || !(seconds >= kLeast) || !(seconds <= kMost))
        return std::nullopt;
    return seconds;
}

const std::map<std::string, Profile> kProfiles{
    {"quick", Profile::quick}, {"boot", Profile::boot}, {"acceptance", Profile::acceptance}};
const std::map<std::string, report::ExitMap> kExitMaps{{"standard", report::ExitMap::standard},
                                                       {"nagios", report::ExitMap::nagios},
                                                       {"npd", report::ExitMap::npd}};

// "a|b|c" of a map's keys.
template <class Map>
std::string names(const Map& map) {
    std::string text;
    for (const auto& [name, value] : map) text += (text.empty() ? "" : "|") + name;
    return text;
}

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
        ->option_text("N");
    app.add_option(
           "--inject", options.inject,
           "Put a fault into the data on each GPU, to prove that it is found: bit[:OFFSET], lane[:LANE], "
           "operand[:LANE], skip; the report says so")
        ->option_text("FAULT");
    app.add_flag("--force", options.force, "Run experiments also on GPUs that other processes compute on");
}

void add_delivery_options(CLI::App& app, RunOptions& options) {
    app.add_option("--report-to", options.report_to,
                   "Deliver the signed report to this receiver; what cannot be delivered within 2 s is kept "
                   "for `gpucheck report flush`")
        ->option_text("URL")
        ->check(wrong_empty);
    app.add_option("--config", options.config,
                   "Read FILE instead of /etc/gpucheck/config.json: what was promised, sinks, the key")
        ->option_text("FILE")
        ->check(wrong_empty);
    app.add_option("--key", options.key,
                   "Sign with this Ed25519 private key (PEM) instead of this machine's own")
        ->option_text("FILE");
}

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
        ->check([](const std::string& text) { return wrong_wait(text); });
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

void add_cost_options(CLI::App& app, CostOptions& options) {
    add_machine_options(app, options.machine);
    const auto text = [&app](const char* name, std::string& value, const char* shown, const char* help) {
        app.add_option(name, value, help)->option_text(shown);
    };
    const auto texts = [&app](const char* name, std::vector<std::string>& values, const char* shown,
                              const char* help) {
        app.add_option(name, values, help)->option_text(shown)->allow_extra_args(false);
    };
    texts("--model", options.models, "NAME|FILE.json",
          "A model that gpucheck knows (--list-models), or its Hugging Face config.json; may be repeated");
    text("--isl", options.isl, "TOKENS", "Input tokens of a request (default 1000)");
    text("--osl", options.osl, "TOKENS", "Output tokens of a request (default 1000)");
    text("--concurrency", options.concurrency, "N",
         "Requests in flight; default: one user, the most users at 30 tokens/s each, and as many as fit");
    text("--weights", options.weights, "FORMAT",
         "fp16, fp8, fp4 or mxfp4; default: fp8, and fp4, where native");
    text("--kv", options.kv, "FORMAT", "KV cache: fp16 or fp8 (default where native)");
    app.add_flag("--weight-only", options.weight_only,
                 "Weights may be stored in a format that the GPU does not compute in");
    app.add_flag("--attention-dp", options.attention_dp,
                 "DeepSeek's shape: each GPU serves its own requests, experts are spread");
    text("--gpus", options.gpus, "N", "GPUs of the instance");
    text("--tp", options.group, "N",
         "GPUs that share one copy of the model: 1, 2, 4, 8; default: the fewest");
    text("--from", options.from, "REPORT",
         "Take what was measured from this JSON report (- for standard input)");
    texts("--measured", options.measured, "KEY=VALUE",
          "A measurement of your own: bandwidth_gb_s, fp16_tflops, fp8_tflops, fp4_tflops, capacity_gb, "
          "power_w");
    text("--assume", options.assume, "datasheet|published",
         "Estimate from a datasheet, or from published rates of healthy boards, instead of measurements");
    text("--board", options.board, "KEY", "The board (see `gpucheck specs`); default: this machine's");
    text("--fabric", options.fabric, "NAME",
         "nvlink3, nvlink4, nvlink5, pcie4 or xgmi; default: the board's");
    texts("--price", options.price, "USD|BOARD=USD", "USD for one GPU and one hour; may be repeated");
    text("--instance-price", options.instance_price, "USD", "USD for the whole instance and one hour");
    text("--market", options.market, "NAME",
         "Take prices from the dated table: rental, owned_hyperscaler, owned_neocloud");
    texts("--owned", options.owned, "KEY=VALUE",
          "Owned, not rented: capex_usd_per_gpu, years, availability, kw_per_gpu, usd_per_kwh, load, pue, "
          "software_usd_gpu_hour, other_usd_gpu_hour");
    text("--utilization", options.utilization, "FRACTION",
         "Part of each hour that produces tokens; shown beside full load (default 0.5)");
    app.add_option("--compare", options.compare, "Compare with these boards, each at its own price")
        ->option_text("BOARD...");
    text("--scenario", options.scenario, "NAME",
         "Scale the published result of this scenario, at its own lengths: offline, server, interactive");
    app.add_flag("--plot", options.plot, "Draw throughput against interactivity");
    app.add_flag("--list-models", options.list_models, "Show the models that gpucheck knows");
    text("--check-table", options.check_table, "FILE.csv",
         "Find rows whose price, tokens/s and USD per token disagree by more than 2 %");
    app.add_option("--format", options.format, "text (default), json or csv")
        ->option_text("text|json|csv")
        ->check(CLI::IsMember({"text", "json", "csv"}).description(""));
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

    ParsedOptions result;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        result.command = Stop{app.exit(error, std::cout, std::cerr) == 0 ? 0 : kUsage};
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
