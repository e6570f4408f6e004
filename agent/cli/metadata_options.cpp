// A token must not go to a stranger in clear, and a price must be one; see metadata_options.h.
#include "agent/cli/metadata_options.h"

#include <CLI/CLI.hpp>

namespace gpucheck::cli {
namespace {

// Empty for an http or https URL without a path.
std::string wrong_base(const std::string& text) {
    const std::size_t host = text.starts_with("http://") ? 7 : text.starts_with("https://") ? 8 : 0;
    const bool usable = host != 0 && text.size() > host && text.find_first_of(" \t?#@") == std::string::npos;
    return usable ? std::string() : "not a URL like http://127.0.0.1:8080";
}

// The same, and never a token in clear over a network.
std::string wrong_api_base(const std::string& text) {
    if (std::string wrong = wrong_base(text); !wrong.empty()) return wrong;
    const auto here = [&](const char* start) {
        const std::string_view name(start);
        return text.starts_with(start) &&
               (text.size() == name.size() || text[name.size()] == ':' || text[name.size()] == '/');
    };
    const bool safe = text.starts_with("https://") || here("http://127.0.0.1") || here("http://localhost") ||
                      here("http://[::1]");
    return safe ? std::string()
                : "http is for this machine alone (127.0.0.1): a token would be sent in clear";
}

std::string wrong_price(const std::string& text) {
    double usd = 0;
    constexpr double kMost = 100'000;
    const bool number = text.find_first_not_of("0123456789.") == std::string::npos &&
                        CLI::detail::lexical_cast(text, usd) && usd <= kMost;
    return number || text == "api" ? std::string()
                                   : "neither USD for the whole instance and one hour, nor api";
}

}  // namespace

void add_metadata_options(CLI::App& app, MachineOptions& options) {
    app.add_option(
           "--metadata", options.metadata,
           "Ask the provider's link-local metadata service for the instance's type: auto (default: when "
           "firmware or cloud-init name a provider), off, or probe (try all; anybody on the network may "
           "answer)")
        ->option_text("auto|off|probe")
        ->check(CLI::IsMember({"auto", "off", "probe"}).description(""));
    app.add_option("--metadata-base", options.metadata_base,
                   "Ask at URL instead of at the link-local addresses; the report says that it is simulated")
        ->option_text("URL")
        ->check(wrong_base);
    app.add_option(
           "--provider-token", options.provider_token,
           "Ask the provider's API with the token in FILE (DigitalOcean: droplet:read) for size and price")
        ->option_text("FILE");
    app.add_option(
           "--api-base", options.api_base,
           "Ask at URL instead of at the providers' public APIs; the report says that it is simulated")
        ->option_text("URL")
        ->check(wrong_api_base);
}

void add_price_option(CLI::App& app, RunOptions& options) {
    app.add_option("--price", options.price,
                   "What the whole instance costs for one hour; api: ask the provider's public price list; "
                   "default: a "
                   "dated table")
        ->option_text("USD_PER_HOUR|api")
        ->check(wrong_price);
}

}  // namespace gpucheck::cli
