// `gpucheck report render` and `report send --to`; see fault_command.h.
#include "agent/fault_command.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <variant>

#include "agent/config.h"
#include "agent/delivery.h"
#include "agent/host/sysroot.h"
#include "agent/log.h"
#include "agent/report/report_id.h"
#include "agent/report_command.h"
#include "agent/report_document.h"
#include "agent/run.h"
#include "providers/delivery/sink.h"
#include "providers/render/render.h"
#include "providers/send/send.h"

namespace gpucheck {
namespace {

constexpr const char* kKvpPool = "/var/lib/hyperv/.kvp_pool_3";

struct Input {
    faults::Target target = faults::Target::npd;
    faults::ReportFacts report;
    const faults::FaultTable* table = nullptr;
};

std::optional<Input> input_of(const cli::ReportOptions& options, const std::string& name) {
    const auto target = faults::target_from(name);
    if (!target) {
        log_error("'" + name + "' is none of " + faults::target_names());
        return std::nullopt;
    }
    const auto& table = faults::FaultTable::embedded();
    if (const auto* why = std::get_if<std::string>(&table)) {
        log_error(*why);
        return std::nullopt;
    }
    const auto content = read_input(options.file);
    if (const auto* error = std::get_if<disk::Error>(&content)) {
        log_error(error->what);
        return std::nullopt;
    }
    auto report = faults::read_report(std::get_if<disk::Content>(&content)->text);
    if (const auto* why = std::get_if<std::string>(&report)) {
        log_error(options.file + ": not a report: " + *why);
        return std::nullopt;
    }
    return Input{*target, std::get<faults::ReportFacts>(std::move(report)),
                 &std::get<faults::FaultTable>(table)};
}

void log_left_out(const faults::Rendering& rendering) {
    for (const std::string& one : rendering.left_out) log_warn("not told: " + one);
}

// A token that tags droplets: of the configured file, of systemd's credential where there is one, or of the
// default file. A file that others may read is refused: whoever reads it may tag every droplet.
Fact<std::string> digitalocean_token(const host::Sysroot& root, const std::string& configured) {
    constexpr const char* kCredential = "digitalocean-token";
    delivery::Sink secret;
    secret.token_file = configured.empty() ? "/etc/gpucheck/digitalocean-token" : configured;
    const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
    if (configured.empty() && folder != nullptr && *folder != '\0') {
        if (root.exists(std::string(folder) + "/" + kCredential).is(true)) {
            secret.token_file.clear();
            secret.token_credential = kCredential;
        }
    }
    const std::string source = "DigitalOcean's token";
    auto read = delivery::read_token(secret);
    if (const auto* why = std::get_if<std::string>(&read)) return Missing{source, *why};
    auto& token = *std::get_if<delivery::Token>(&read);
    if (!token.warning.empty()) return Missing{source, token.warning};
    return Fact<std::string>(std::move(token.value), source);
}

faults::Sender this_machine(const std::string& token_file) {
    const host::Sysroot root = host::Sysroot::live();
    faults::Sender sender;
    sender.boot_id = root.read_line("/proc/sys/kernel/random/boot_id");
    sender.digitalocean_token = digitalocean_token(root, token_file);
    const Fact<std::string> pool = root.read(kKvpPool, host::kLargeFile);
    sender.physical_host = pool.known() ? faults::kvp_value(*pool, "PhysicalHostName", kKvpPool)
                                        : Fact<std::string>(pool.missing());
    sender.now = report::rfc3339_now();
    return sender;
}

}  // namespace

int render_fault(const cli::ReportOptions& options) {
    const auto input = input_of(options, options.as);
    if (!input) return kUsage;
    const faults::Rendering rendering =
        faults::render(input->target, input->report, faults::place_of(input->report), *input->table);
    log_left_out(rendering);
    const std::string text = faults::text_of(rendering);
    if (text.empty()) {
        log_warn("nothing to tell: the report has no fault that the host has to mend");
        return 0;
    }
    return print(text);
}

int send_fault(const cli::ReportOptions& options) {
    const auto input = input_of(options, options.to);
    if (!input) return kUsage;
    const auto config = read_config(options.config);
    if (const auto* error = std::get_if<std::string>(&config)) {
        log_error(*error);
        return kUsage;
    }
    guard_memory();
    const std::unique_ptr<http::Client> client = http::curl_client();
    const faults::Outcome outcome =
        faults::send(input->target, input->report, this_machine(std::get_if<Config>(&config)->provider_token),
                     {options.destructive, options.dry_run}, *client, *client, *input->table);
    log_left_out(outcome.rendering);
    if (options.dry_run && outcome.sent == faults::Sent::done) {
        if (const int status = print(faults::text_of(outcome.rendering)); status != 0) return status;
    }
    std::string told;
    for (const std::string& answer : outcome.answers) told += answer + "\n";
    if (const int status = told.empty() ? 0 : print(told); status != 0) return status;
    switch (outcome.sent) {
        case faults::Sent::done:
            return 0;
        case faults::Sent::nothing:
            log_warn("nothing to tell: " + outcome.why);
            return 0;
        case faults::Sent::refused:
            log_error("not sent: " + outcome.why);
            return kUsage;
        case faults::Sent::failed:
            log_error("not sent: " + outcome.why);
            return kNotDelivered;
    }
    return kSoftware;
}

}  // namespace gpucheck
