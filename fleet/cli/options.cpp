// argv into options; a wrong command line ends with 64 and says what would have been right.
#include "fleet/cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "agent/report/exit_status.h"
#include "agent/report/explain.h"
#include "agent/version.h"
#include "fleet/cli/output.h"

namespace gpucheck::fleet {
namespace {

const char* const kFooter = R"(examples:
  gpucheck fleet summary reports/                    400 report files, one decision
  cat *.json | gpucheck fleet summary -              the same from standard input
  gpucheck fleet summary reports/ --expect-nodes nodes.txt
                                                     a node that sent nothing is named, and is no pass
  gpucheck fleet html reports/ --output fleet.html   one page: plots, nodes, heat map
  gpucheck fleet summary reports/ --format json --output today.json
                                                     for programs; can be summed up again
  gpucheck fleet summary site-a.json site-b.json     a summary of summaries is that of the whole
  gpucheck fleet baseline reports/ --output h100.json    what is normal here
  gpucheck fleet summary new/ --baseline h100.json   few new nodes against what was normal
  gpucheck fleet serve --db reports.db               receive reports at http://127.0.0.1:8126
  gpucheck fleet compare before/ after/              what changed, and not by chance

exit status: 0 accepted (compare: all was looked at, nothing is worse), 1 rejected (compare: something is
             worse), 2 not enough evidence (compare: too little was compared), 64 wrong command
             line or unusable file, 70 gpucheck-fleet itself broke

More: man gpucheck-fleet.)";

void add_judge_options(CLI::App& app, JudgeOptions& options, bool baseline) {
    app.add_option("--policy", options.policy_file, "What is accepted: rules in a JSON file")
        ->option_text("FILE");
    if (baseline)
        app.add_option("--baseline", options.baseline_file, "What is normal, by an earlier `baseline`")
            ->option_text("FILE");
    if (baseline)  // a decision
        app.add_option("--expect-nodes", options.expected_file,
                       "Of each node in FILE, one name a line, a report must be there: what hung sends none")
            ->option_text("FILE");
    app.add_option("--labels", options.read.labels_file,
                   "What you know of the nodes (rack, image): CSV with the node first, and a line of names")
        ->option_text("FILE");
    app.add_option("--now", options.now,
                   "Judge ages and dates as at TIME (2026-11-30T10:00:00Z), not as at the clock's")
        ->option_text("TIME");
    app.add_option("--keys", options.read.keys_folder,
                   "Trust signatures by the public keys in DIR (*.pem, *.pub), and no others")
        ->option_text("DIR");
}

void add_output(CLI::App& app, std::string& output) {
    app.add_option("--output", output, "Write to FILE, whole or not at all, instead of standard output")
        ->option_text("FILE");
}

void add_format(CLI::App& app, std::string& format, std::vector<std::string> formats, const char* shown) {
    app.add_option("--format", format, "text is the default")
        ->option_text(shown)
        ->check(CLI::IsMember(std::move(formats)).description(""));
}

void add_top(CLI::App& app, std::size_t& top) {
    app.add_option("--top", top, "Rows of each table of the text (default 20); what is left out is counted")
        ->option_text("N")
        ->check(CLI::Range(1, 1'000'000).description(""));
}

void add_paths(CLI::App& app, std::vector<std::string>& paths) {
    app.add_option(
           "PATH", paths,
           "Report files, JSON lines, summaries, folders (*.json, *.jsonl, *.report), also gzip, xz or "
           "zstd; - for standard input")
        ->required()
        ->option_text(" ");
}

void add_serve_options(CLI::App& app, ServeCommand& options) {
    ServeOptions& serve = options.serve;
    app.add_option("--listen", serve.listen,
                   "Listen there (default 127.0.0.1:8126); port 0 is any free one. Other than loopback needs "
                   "--tls-cert, --tls-key and "
                   "--tokens")
        ->option_text("ADDRESS:PORT");
    app.add_option("--db", serve.database,
                   "Keep the reports in FILE, by SQLite (default /var/lib/gpucheck-fleet/reports.db), or in "
                   "PostgreSQL by "
                   "postgresql://USER@HOST/DATABASE")
        ->option_text("FILE|URL");
    app.add_option("--db-password-file", serve.database_password_file, "PostgreSQL's password is in FILE")
        ->option_text("FILE");
    app.add_option("--tls-cert", serve.tls_certificate,
                   "Serve HTTPS by this certificate (PEM), read again on SIGHUP")
        ->option_text("FILE");
    app.add_option("--tls-key", serve.tls_key, "Its key (PEM)")->option_text("FILE");
    app.add_option("--tokens", serve.tokens_file,
                   "Who may send and who may read, with their rates: JSON of mode 0600")
        ->option_text("FILE");
    app.add_option("--keys", serve.keys_folder,
                   "Trust signatures by the public keys in DIR, beside those of enrolled machines")
        ->option_text("DIR");
    app.add_flag("--refuse-unverified", serve.refuse_unverified,
                 "Refuse reports whose signature is not trusted, unsigned ones too");
    app.add_flag("--insecure", serve.insecure,
                 "Serve plain HTTP, or without tokens, on an address that is not loopback");
    app.add_option("--max-body-mib", options.max_body_mib, "The largest body taken, as sent (default 16)")
        ->option_text("MIB")
        ->check(CLI::Range(1, 1024).description(""));
    app.add_option("--max-connections", serve.max_connections,
                   "At once (default 4096); when more come, one of the address with the most goes: its slowest body, else the longest idle")
        ->option_text("N")
        ->check(CLI::Range(1, 1'000'000).description(""));
    app.add_option("--retention-days", serve.retention_days,
                   "Forget reports after so many days (default 0: never)")
        ->option_text("DAYS")
        ->check(CLI::Range(0.0, 100'000.0).description(""));
    app.add_option("--policy", options.judge.policy_file,
                   "What is accepted, for the page: rules in a JSON file")
        ->option_text("FILE");
    app.add_option("--baseline", options.judge.baseline_file,
                   "What is normal, by an earlier `baseline`, for the page")
        ->option_text("FILE");
}

/// A first word that is no command; CLI11 says only that one is required.
std::string unknown_command(const CLI::App& app, int argc, const char* const* argv) {
    if (argc < 2 || argv[1][0] == '-') return {};
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return {};
    std::string text = "no command is called '" + std::string(argv[1]).substr(0, 80) + "'";
    const auto near = report::near_names(argv[1], {names.begin(), names.end()});
    if (!near.empty()) return text + "; did you mean " + std::string(near.front()) + "?";
    for (const std::string& name : names) text += (&name == &names.front() ? ": there are " : ", ") + name;
    return text;
}

}  // namespace

Command parse(int argc, const char* const* argv) {
    CLI::App app{
        "Decides over a fleet by its reports: which nodes are out, which are slow against their peers, what "
        "the "
        "bad ones share, what changed.",
        "gpucheck fleet"};
    app.set_version_flag("--version", "gpucheck-fleet " + std::string(kVersion), "Print the version");
    app.set_help_flag("--help,-h", "Print this help");
    app.footer(kFooter);
    app.require_subcommand(1, 1);
    app.get_formatter()->column_width(34);

    SummaryOptions summary;
    CLI::App* sum =
        app.add_subcommand("summary", "Decide: accept, reject, or not enough evidence; and say why");
    add_paths(*sum, summary.paths);
    add_format(*sum, summary.format, {"text", "json", "jsonl"}, "text|json|jsonl");
    add_output(*sum, summary.output);
    add_top(*sum, summary.top);
    add_judge_options(*sum, summary.judge, true);

    BaselineOptions baseline;
    CLI::App* base =
        app.add_subcommand("baseline", "Write down what is normal in this fleet, for --baseline");
    add_paths(*base, baseline.paths);
    add_output(*base, baseline.output);
    add_judge_options(*base, baseline.judge, false);

    CompareOptions compare;
    CLI::App* comp = app.add_subcommand("compare", "Say what changed between two times, and is not chance");
    comp->add_option("OLD", compare.before, "Reports of then: as PATH of summary")
        ->required()
        ->option_text(" ");
    comp->add_option("NEW", compare.after, "Reports of now")->required()->option_text(" ");
    add_format(*comp, compare.format, {"text", "json"}, "text|json");
    add_output(*comp, compare.output);
    add_top(*comp, compare.top);
    add_judge_options(*comp, compare.judge, false);

    HtmlOptions html;
    CLI::App* page =
        app.add_subcommand("html", "Decide as summary does, and draw one page that needs no network");
    add_paths(*page, html.paths);
    add_output(*page, html.output);
    add_judge_options(*page, html.judge, true);

    ServeCommand serve;
    add_serve_options(
        *app.add_subcommand("serve", "Receive reports over HTTP, keep them, and show the page of them live"),
        serve);

    for (CLI::App* command : app.get_subcommands(nullptr))
        command->set_help_flag("--help,-h", "Print this help");
    if (const std::string unknown = unknown_command(app, argc, argv); !unknown.empty()) {
        complain(unknown);
        return Stop{kUsage};
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int status = app.exit(error, std::cout, std::cerr);
        std::cout.flush();
        return Stop{status == 0 ? (std::cout ? 0 : kSoftware) : kUsage};
    }
    if (sum->parsed()) return summary;
    if (base->parsed()) return baseline;
    if (page->parsed()) return html;
    if (app.got_subcommand("serve")) return serve;
    return compare;
}

}  // namespace gpucheck::fleet
