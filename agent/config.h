// The configuration file: what an operator says once for every run of this machine. A key that is silently
// ignored is a receiver that never hears of a broken GPU.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/cli/options.h"
#include "providers/delivery/sink.h"
#include "providers/delivery/spool.h"

namespace gpucheck {

inline constexpr const char* kDefaultConfig = "/etc/gpucheck/config.json";

/// docs/config.md. Empty and nullopt: the file does not say.
struct Config {
    bool named = false;  ///< by --config, not the default one
    std::string provider, instance_type;
    std::optional<double> price_usd_per_hour;  ///< of the whole instance
    std::vector<std::string> expect;           ///< KEY=VALUE, as --expect takes them
    std::string metadata;                      ///< "auto", "off", "probe", as --metadata takes them
    std::string provider_token;                ///< path of a token for the provider's API
    std::vector<delivery::Sink> sinks;
    std::string state_folder, key_file;
    delivery::Bounds bounds;
};

/// `path` empty: the default file, or an empty Config when it is not there. The error is a sentence with file
/// and key.
std::variant<Config, std::string> read_config(const std::string& path);
/// The same from a text; `path` only for errors.
std::variant<Config, std::string> parse_config(const std::string& text, const std::string& path);

/// What the command line left open. A recorded machine, or one behind replaced drivers, is not the machine
/// that the default file speaks of: only a file that was named counts there.
void fill(const Config& config, cli::RunOptions& options);
bool speaks_of(const Config& config, const cli::MachineOptions& options);

}  // namespace gpucheck
