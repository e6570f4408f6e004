// `gpucheck report`; see report_command.h.
#include "agent/report_command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <variant>

#include "agent/config.h"
#include "agent/delivery.h"
#include "agent/fault_command.h"
#include "agent/log.h"
#include "agent/report_document.h"
#include "agent/report_show.h"
#include "agent/run.h"
#include "checks/json/json.h"
#include "providers/disk/files.h"
#include "providers/sign/dsse.h"
#include "providers/sign/key_file.h"

namespace gpucheck {
namespace {

constexpr int kNotVerified = 1;
constexpr std::size_t kMostKeyBytes = 16384;

int usage(const std::string& sentence) {
    log_error(sentence);
    return kUsage;
}

void tell(const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) log_warn(sentence);
}

int flush(const cli::ReportOptions& options, const DeliveryPlan& plan) {
    guard_memory();
    DeliverOptions how;
    how.now = options.now || options.rejected;
    how.rejected = options.rejected;
    const delivery::FlushResult result = deliver_now(plan, how);
    tell(result.told);
    std::string line = std::to_string(result.delivered) + " delivered, " + std::to_string(result.failed) +
                       " failed, " + std::to_string(result.waiting) + " waiting, " +
                       std::to_string(result.rejected) + " rejected";
    if (result.damaged > 0) line += ", " + std::to_string(result.damaged) + " damaged";
    const int printed = print(line + "\n");
    if (printed != 0) return printed;
    return result.undelivered() == 0 ? 0 : kNotDelivered;
}

int send(const cli::ReportOptions& options, const DeliveryPlan& plan) {
    if (!plan.wanted()) return usage("no receiver: give --report-to URL, or sinks in the config");
    auto document = read_report_document(options.file);
    if (const auto* error = std::get_if<std::string>(&document)) return usage(*error);
    const auto& outgoing = *std::get_if<Outgoing>(&document);
    guard_memory();
    const Kept kept = keep(plan, outgoing);
    tell(kept.told);
    if (kept.kept < plan.sinks.size()) return kSoftware;
    DeliverOptions how;
    how.now = true;
    how.only = outgoing.report_id;
    const delivery::FlushResult result = deliver_now(plan, how);
    tell(result.told);
    if (result.undelivered() > 0) {
        log_warn("kept in " + plan.spool_folder + ": gpucheck report flush");
        return kNotDelivered;
    }
    return print(outgoing.report_id + " delivered\n");
}

std::string sentence(const sign::Verified& verified) {
    const std::string id = verified.key_id.empty() ? "no key id" : "key id " + verified.key_id;
    switch (verified.trust) {
        case sign::Trust::verified:
            return "verified";
        case sign::Trust::wrong_type:
            return "not verified: its payloadType is no gpucheck report's";
        case sign::Trust::no_signature:
            return "not verified: it holds no signature";
        case sign::Trust::other_key:
            return "not verified: signed by another key (" + id + ")";
        case sign::Trust::tampered:
            return "not verified: the report or its signature was changed after this key signed it (" + id +
                   ")";
    }
    return "not verified";
}

int verify(const cli::ReportOptions& options) {
    const auto pem = disk::read_file(options.key, kMostKeyBytes);
    if (const auto* error = std::get_if<disk::Error>(&pem)) return usage(error->what);
    const auto key = sign::public_key(std::get_if<disk::Content>(&pem)->text);
    if (const auto* error = std::get_if<sign::Error>(&key)) return usage(options.key + ": " + error->what);
    const auto text = read_input(options.file);
    if (const auto* error = std::get_if<disk::Error>(&text)) return usage(error->what);
    const auto envelope = sign::open_envelope(std::get_if<disk::Content>(&text)->text);
    if (const auto* error = std::get_if<sign::Error>(&envelope)) {
        log_error(options.file + ": not verified: " + error->what);
        return kNotVerified;
    }
    const auto& opened = *std::get_if<sign::Envelope>(&envelope);
    const auto verified = sign::verify(opened, *std::get_if<sign::PublicKey>(&key));
    if (const auto* error = std::get_if<sign::Error>(&verified)) {
        log_error(error->what);
        return kSoftware;
    }
    const auto& result = *std::get_if<sign::Verified>(&verified);
    if (result.trust != sign::Trust::verified) {
        log_error(options.file + ": " + sentence(result));
        return kNotVerified;
    }
    const auto report = report_document(opened.payload);
    if (const auto* error = std::get_if<std::string>(&report)) {
        log_error(options.file + ": signed by this key, but " + *error);
        return kNotVerified;
    }
    const auto& said = *std::get_if<Outgoing>(&report);
    return print("verified: report " + said.report_id + " of " + said.created + ", verdict " +
                 std::string(name_of(said.verdict)) + "\nkey id " + result.key_id + "\n");
}

}  // namespace

int report_command(const cli::ReportOptions& options) {
    using Verb = cli::ReportOptions::Verb;
    if (options.verb == Verb::verify) return verify(options);
    if (options.verb == Verb::render) return render_fault(options);
    if (options.verb == Verb::send && !options.to.empty()) return send_fault(options);
    const auto config = read_config(options.config);
    if (const auto* error = std::get_if<std::string>(&config)) return usage(*error);
    const auto planned = plan_delivery(*std::get_if<Config>(&config), options.report_to, options.key);
    if (const auto* error = std::get_if<std::string>(&planned)) return usage(*error);
    const auto& plan = *std::get_if<DeliveryPlan>(&planned);
    if (plan.state_folder.empty())
        return usage("no folder of reports: set HOME, XDG_STATE_HOME, or state_folder in the config");
    switch (options.verb) {
        case Verb::list:
            return list_reports(plan, options.json);
        case Verb::flush:
            return flush(options, plan);
        case Verb::show:
            return show_report(plan, options);
        case Verb::send:
            return send(options, plan);
        case Verb::render:
        case Verb::verify:
            break;
    }
    return kSoftware;
}

}  // namespace gpucheck
