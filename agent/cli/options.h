// The command line as data: what every command was asked to do, parsed in one place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/report/render.h"
#include "checks/model/verdict.h"

namespace gpucheck::cli {

/// What a run looks at and expects; shared by `run`, `list` and `capture`.
struct MachineOptions {
    std::string machine;              ///< recorded machine's folder; empty: this machine
    std::vector<std::string> expect;  ///< KEY=VALUE
    std::string provider, instance_type;
    std::string specs_folder;
    std::string driver_dir;  ///< folder of the vendor libraries; empty: the system's
    std::string kernel_log;  ///< file, "-", or empty: the machine's own

    std::string metadata;  ///< "auto" (also empty), "off", "probe": whether the metadata service is asked
    std::string metadata_base, api_base;     ///< URLs instead of the services' own; empty: these
    std::string provider_token;              ///< file; empty: the provider's API is not asked
    std::vector<std::string> config_expect;  ///< the config's KEY=VALUE: weaker than `expect`
    /// Who filled these in when not the command line: "config".
    std::string provider_source, type_source, token_source;
};

struct RunOptions {
    MachineOptions machine;
    Profile profile = Profile::quick;
    std::optional<report::Format> format;  ///< nullopt: text on stdout
    std::string output;                    ///< file for the report; empty: none
    std::optional<double> budget_s;        ///< nullopt: the profile's
    report::ExitMap exit_map = report::ExitMap::standard;
    std::vector<std::string> experiments;  ///< NAME or NAME.KEY=VALUE; given: run them in any profile
    std::optional<std::uint64_t> seed;     ///< nullopt: another one each time
    std::string inject;                    ///< a fault to prove detection with; empty: none
    bool force = false;                    ///< also on GPUs that others compute on
    std::string report_to;                 ///< URL of a receiver; empty: the config's sinks
    bool no_deliver = false;               ///< to nobody, also not to the config's sinks
    std::string config;                    ///< empty: /etc/gpucheck/config.json where it is there
    std::string key;                       ///< private key to sign with; empty: the config's, or our own

    std::string price;         ///< USD of the whole instance and one hour, or "api"; empty: the dated table
    std::string price_source;  ///< who filled it in when not the command line: "config"
    bool boot = false;         ///< tell console, journal and /run what came out
    std::string wait;          ///< seconds for drivers to come up, "auto", or empty
};

struct ListOptions {
    MachineOptions machine;
    bool json = false;
    bool topology = false;
    bool labels = false;
    std::optional<double> watch_s;  ///< nullopt: look once
    unsigned count = 0;             ///< looks; 0: no end
};

struct ExplainOptions {
    std::string code;
    std::string xid;  ///< number of an Xid: short for xid.N
    bool json = false;
};

struct CaptureOptions {
    MachineOptions machine;
    std::string folder;
};

struct SpecsOptions {
    std::string filter, specs_folder;
    bool json = false;
};

struct LogOptions {
    std::string path, format = "text", gpu;
    bool since_boot = false;
};

/// Texts are checked by the command itself, which knows the tables.
struct CostOptions {
    MachineOptions machine;
    std::vector<std::string> models;  ///< keys of models.json or config.json files; empty: the usual ones
    std::string isl, osl, concurrency, weights, kv;
    std::string gpus, group;                  ///< of the instance; of one copy of the model
    std::string from, assume, board, fabric;  ///< where the rates come from
    std::vector<std::string> measured, price, compare, owned;
    std::string instance_price, market, scenario, utilization = "0.5";
    std::string check_table, format = "text";
    bool weight_only = false, attention_dp = false, plot = false, list_models = false;
};

/// `gpucheck report VERB`.
struct ReportOptions {
    enum class Verb : std::uint8_t { list, flush, show, send, verify, render } verb = Verb::list;
    std::string config;             ///< as in RunOptions
    std::string file;               ///< send, verify, render: a path, or "-"
    std::string id;                 ///< show: beginning of a report id; empty: none
    std::string report_to, to, as;  ///< send: URL, provider's API; render: format
    std::string key;                ///< send: private; verify: public
    bool json = false, now = false, rejected = false;
    bool key_id = false, public_key = false, envelope = false;  ///< show
    bool destructive = false, dry_run = false;                  ///< send --to
};

/// `gpucheck fleet ARGS...`: all of them are gpucheck-fleet's.
struct FleetOptions {
    std::vector<std::string> arguments;
};

struct CompletionOptions {
    std::string shell;
};

/// Nothing more to do: help or version was printed (0), or the command line was wrong (64).
struct Stop {
    int status = 0;
    std::optional<RunOptions> boot = {};  ///< wrong, with --boot: who must be told, as far as it can be read
    std::string why = {};                 ///< wrong: the sentence
};

using Command = std::variant<Stop, RunOptions, ListOptions, ExplainOptions, CaptureOptions, SpecsOptions,
                             LogOptions, CostOptions, ReportOptions, FleetOptions, CompletionOptions>;

struct ParsedOptions {
    Command command;
    std::string log_level = "warn";
    std::string completion;  ///< the script, when completion was asked for
};

/// Parses argv; prints help, version and errors itself.
ParsedOptions parse(int argc, const char* const* argv);

}  // namespace gpucheck::cli
