// A token must not go to a stranger in clear, and a price must be one; see machine_options.h.
#include "agent/cli/machine_options.h"

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
