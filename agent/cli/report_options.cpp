// `gpucheck report ...` on the command line; see report_options.h.
#include "agent/cli/report_options.h"

#include <CLI/CLI.hpp>

namespace gpucheck::cli {
namespace {

using Verb = ReportOptions::Verb;

CLI::App* add_verb(CLI::App& report, ReportOptions& options, Verb verb, const char* name, const char* help) {
    CLI::App* command = report.add_subcommand(name, help);
    command->callback([&options, verb] { options.verb = verb; });
    command->set_help_flag("--help,-h", "Print this help");
    command->get_formatter()->column_width(34);
    return command;
}

void add_config(CLI::App& command, ReportOptions& options) {
    command
        .add_option("--config", options.config,
                    "Read FILE instead of /etc/gpucheck/config.json: the sinks, the state folder, the key")
        ->option_text("FILE");
}

void add_file(CLI::App& command, ReportOptions& options, const char* help) {
    command.add_option("FILE", options.file, help)->required()->option_text(" ");
}

void add_spool_verbs(CLI::App& report, ReportOptions& options) {
    CLI::App* list =
        add_verb(report, options, Verb::list, "list",
                 "Show the reports that wait for their receiver, that were refused, and what was dropped");
    list->add_flag("--json", options.json, "Print JSON");
    add_config(*list, options);

    CLI::App* flush = add_verb(report, options, Verb::flush, "flush",
                               "Deliver the reports that wait: what a timer calls. Exit status 75 when one "
                               "is left");
    flush->add_flag("--now", options.now, "Also those whose next try is later");
    flush->add_flag("--rejected", options.rejected, "Also those that the receiver refused");
    add_config(*flush, options);

    CLI::App* show = add_verb(report, options, Verb::show, "show",
                              "Print a report that waits, or how this machine signs: --key-id, --public-key");
    show->add_option("ID", options.id, "A report's id as `report list` shows it, or its beginning")
        ->option_text(" ");
    CLI::Option* key_id = show->add_flag("--key-id", options.key_id, "Print the id of this machine's key");
    show->add_flag("--public-key", options.public_key,
                   "Print this machine's public key as PEM, for `report verify`")
        ->excludes(key_id);
    show->add_flag("--envelope", options.envelope, "Print the signed envelope instead of the report in it");
    add_config(*show, options);
}

void add_file_verbs(CLI::App& report, ReportOptions& options) {
    CLI::App* send =
        add_verb(report, options, Verb::send, "send",
                 "Deliver the report in FILE (JSON, - for standard input) to the sinks. Exit status 75 when "
                 "it is kept for later instead");
    add_file(*send, options, "A report that --format json or --output wrote");
    send->add_option("--report-to", options.report_to, "To this receiver instead of the config's sinks")
        ->option_text("URL");
    send->add_option("--key", options.key, "Sign with this Ed25519 private key (PEM)")->option_text("FILE");
    CLI::Option* to = send->add_option("--to", options.to,
                                       "To the provider's own API for faulty hosts instead: azure-ghr, "
                                       "gcp-report-host, aws-report-instance-status, do-tag")
                          ->option_text("TARGET");
    send->add_flag("--destructive", options.destructive,
                   "With --to: also requests by which the provider may take the machine away")
        ->needs(to);
    send->add_flag("--dry-run", options.dry_run, "With --to: print the request and send nothing")->needs(to);
    add_config(*send, options);

    CLI::App* verify = add_verb(report, options, Verb::verify, "verify",
                                "Check the signature of the envelope in FILE (- for standard input)");
    add_file(*verify, options, "A signed envelope");
    verify->add_option("--key", options.key, "The signer's public key (PEM)")
        ->required()
        ->option_text("PUBLIC.pem");

    CLI::App* render =
        add_verb(report, options, Verb::render, "render",
                 "Print the request by which the report in FILE would be told to a provider's API");
    add_file(*render, options, "A report that --format json or --output wrote");
    render
        ->add_option("--as", options.as,
                     "For whom: azure-ghr, gcp-report-host, aws-report-instance-status, oci-tag, do-tag, "
                     "k8s-condition, nvsentinel, npd, line")
        ->required()
        ->option_text("FORMAT");
}

}  // namespace

CLI::App* add_report_command(CLI::App& app, ReportOptions& options) {
    CLI::App* report = app.add_subcommand(
        "report", "Deliver, show, verify and translate reports: list, flush, show, send, verify, render");
    report->require_subcommand(1);
    add_spool_verbs(*report, options);
    add_file_verbs(*report, options);
    return report;
}

}  // namespace gpucheck::cli
