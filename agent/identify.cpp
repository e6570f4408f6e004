// Detection, one child that asks, and what the options say against it; see identify.h.
#include "agent/identify.h"

#include <memory>
#include <optional>
#include <utility>

#include "agent/child/child.h"
#include "agent/host/recorded.h"
#include "agent/log.h"
#include "checks/json/model_json.h"
#include "providers/delivery/sink.h"
#include "providers/http/recorded.h"
#include "providers/instance.h"
#include "providers/recording.h"

namespace gpucheck {
namespace {

using providers::Identity;
using std::chrono::milliseconds;

constexpr std::string_view kInstanceData = "/run/cloud-init/instance-data.json";

Fact<std::string> variable(const host::Sysroot& root, const char* name) {
    const auto& env = root.process().env;
    const auto found = env.find(name);
    if (found == env.end()) return Missing{std::string("environment ") + name, "ENOENT"};
    return Fact<std::string>(found->second.substr(0, 256), std::string("environment ") + name);
}

struct Request {
    Identity known;
    providers::Permissions may;
    providers::Endpoints endpoints;
    bool probe = false, record = false;
    milliseconds deadline{};
};

// Everything that speaks to a network happens here, in a child when it is the live one.
std::pair<Identity, std::string> ask_now(http::Client& client, const Request& request) {
    providers::Recorder recorder(client);
    http::Client& asked = request.record ? static_cast<http::Client&>(recorder) : client;
    providers::Questions questions(asked, providers::Questions::Clock::now() + request.deadline,
                                   request.endpoints);
    Identity identity = request.known;
    if (identity.instance.provider.known() || !request.probe) {
        providers::ask(questions, request.may, identity);
    } else {
        providers::probe(questions, request.may, identity);
    }
    const bool any = request.record && !recorder.document().empty();
    return {std::move(identity), any ? dump_json(recorder.document()) : std::string()};
}

void lines_from(const std::pair<Identity, std::string>& answer, child::Reporter& reporter) {
    Json line = Json::object();
    line["instance"] = to_json(answer.first.instance);
    line["promised"] = to_json(answer.first.promised);
    line["recorded"] = answer.second;
    reporter.line(dump_json(line, -1));
}

Identity unanswered(Identity known, const Missing& missing) {
    Identity nobody;
    nobody.instance = {missing, missing, missing, missing, missing, missing, missing};
    providers::complete(known, nobody);
    return known;
}

// The child's only line, or what became of the child.
std::pair<Identity, std::string> answer_of(const child::Outcome& outcome, const child::Limits& limits,
                                           const Request& request) {
    std::pair<Identity, std::string> answer;
    std::string error;
    if (!outcome.lines.empty()) {
        const auto parsed = parse_json(outcome.lines.front());
        const auto* line = std::get_if<Json>(&parsed);
        if (line != nullptr && line->is_object() && line->contains("instance") &&
            line->contains("promised") && line->contains("recorded") && (*line)["recorded"].is_string() &&
            from_json((*line)["instance"], answer.first.instance, error) &&
            from_json((*line)["promised"], answer.first.promised, error)) {
            answer.second = (*line)["recorded"].get<std::string>();
            return answer;
        }
    }
    return {unanswered(request.known, Missing{std::string(kMetadataService), detail_of(outcome, limits)}),
            ""};
}

std::pair<Identity, std::string> ask_live(const Request& request, const IdentifyPlan& plan) {
    constexpr milliseconds kMargin{200};  // for starting the child, opening libcurl and ending both
    child::Limits limits;
    limits.deadline = request.deadline + kMargin;
    if (plan.waiting) plan.waiting(kMetadataService, limits.deadline + milliseconds(500));
    const auto outcomes = child::run_all({{std::string(kMetadataService),
                                           [&](child::Reporter& reporter) {
                                               reporter.step("asks");
                                               const auto client = http::curl_client();
                                               lines_from(ask_now(*client, request), reporter);
                                           }}},
                                         limits);
    return answer_of(outcomes.front(), limits, request);
}

// Of a recorded machine; without the file nobody asked.
std::variant<std::unique_ptr<http::Client>, std::string> recorded_answers(const std::string& folder) {
    std::string error;
    const std::optional<std::string> text = host::read_beside(folder, "metadata.json", error);
    if (!error.empty()) return error;
    if (!text) return http::nobody_asked();
    return http::recorded_client(*text);
}

// Read where somebody may ask with it alone. A file that the config names is every user's config and need not
// be every user's file: then the reason is told where the token was wanted. Empty: no error of the command
// line.
std::string read_token(const cli::MachineOptions& options, const IdentifyPlan& plan,
                       const Fact<std::string>& provider, providers::Permissions& may) {
    const bool named = options.token_source.empty();
    const bool asks = options.metadata != "off" && !plan.given_up;
    const bool wanted = named || plan.price_from_api || provider.is("digitalocean");
    if (options.provider_token.empty() || !asks || !wanted) return {};
    auto read = delivery::read_token_file(options.provider_token);
    if (auto* error = std::get_if<std::string>(&read)) {
        if (named) return std::move(*error);
        may.no_token = std::move(*error);
        return {};
    }
    auto& token = *std::get_if<delivery::Token>(&read);
    if (!token.warning.empty()) log_warn(token.warning);
    may.token = std::move(token.value);
    return {};
}

void contradiction(std::vector<std::string>& conflicts, const char* what, const Fact<std::string>& option,
                   const Fact<std::string>& found) {
    if (!option.known() || !found.known() || found.source() == option.source() || *option == *found) return;
    conflicts.push_back(std::string(what) + ": " + option.source() + " says " + *option + ", " +
                        found.source() + " says " + *found);
}

std::string source_of(const std::string& given, const char* option) {
    return given.empty() ? option : given;
}

Identity known_offline(const host::Sysroot& root, const providers::Sightings& seen,
                       const Fact<std::string>& kept, const Fact<std::string>& provider) {
    Identity known;
    known.instance.provider = provider;
    if (provider.is("runpod")) {
        providers::complete(known, providers::from_runpod({variable(root, "RUNPOD_POD_ID"),
                                                           variable(root, "RUNPOD_GPU_COUNT"),
                                                           variable(root, "RUNPOD_DC_ID")}));
        return known;
    }
    if (kept.known()) providers::complete(known, providers::from_cloud_init(*kept, kept.source()));
    // Nitro's firmware names the type; cloud-init's word, which came from the provider, goes first.
    if (provider.is("aws") && seen.sys_vendor.is("Amazon EC2") && seen.product_name.known() &&
        !known.instance.type.known() && seen.product_name->find('.') != std::string::npos)
        known.instance.type = seen.product_name;
    // The droplet's number is its serial (readable by root).
    if (provider.is("digitalocean") && !known.instance.id.known() && seen.product_serial.known())
        known.instance.id = seen.product_serial;
    return known;
}

// `kept`: cloud-init's instance-data.json.
providers::Sightings sightings(const host::Sysroot& root, const Fact<std::string>& kept) {
    const auto dmi = [&](const char* name) {
        return root.read_line(std::string("/sys/class/dmi/id/") + name);
    };
    providers::Sightings seen;
    seen.sys_vendor = dmi("sys_vendor");
    seen.product_name = dmi("product_name");
    seen.bios_vendor = dmi("bios_vendor");
    seen.chassis_asset_tag = dmi("chassis_asset_tag");
    seen.product_serial = dmi("product_serial");
    seen.product_uuid = dmi("product_uuid");
    seen.hypervisor_uuid = root.read_line("/sys/hypervisor/uuid");
    seen.kernel_cmdline = root.read_line("/proc/cmdline");
    seen.cloud_id = root.read_line("/run/cloud-init/cloud-id");
    seen.cloud_name = providers::cloud_name_in(kept);
    seen.etc_vultr = root.exists("/etc/vultr");
    seen.run_scaleway = root.exists("/run/scaleway");
    seen.crusoe_agent = root.exists("/etc/crusoe");
    seen.runpod_pod_id = variable(root, "RUNPOD_POD_ID");
    return seen;
}

}  // namespace

providers::Sightings read_sightings(const host::Sysroot& root) {
    return sightings(root, root.read(kInstanceData, host::kLargeFile));
}

std::variant<Identified, std::string> identify(const host::Sysroot& root, const cli::MachineOptions& options,
                                               const IdentifyPlan& plan) {
    Identified result;
    Request request;
    const Fact<std::string> kept = root.read(kInstanceData, host::kLargeFile);
    const providers::Sightings seen = sightings(root, kept);
    const Fact<std::string> found = providers::detect(seen).provider;
    Fact<std::string> provider = found, type;
    if (!options.provider.empty()) {
        provider = Fact<std::string>(providers::provider_named(options.provider),
                                     source_of(options.provider_source, "--provider"));
        contradiction(result.conflicts, "provider", provider, found);
    }
    if (!options.instance_type.empty())
        type = Fact<std::string>(options.instance_type, source_of(options.type_source, "--instance-type"));

    if (std::string error = read_token(options, plan, provider, request.may); !error.empty()) return error;
    request.known = known_offline(root, seen, kept, provider);
    contradiction(result.conflicts, "instance type", type, request.known.instance.type);
    result.type_offline = request.known.instance.type;
    if (type.known()) request.known.instance.type = type;
    request.may.price = plan.price_from_api;
    const Fact<std::string>& now = root.process().now;
    if (now.known()) request.may.today = now->substr(0, 10);
    request.endpoints = {options.metadata_base, options.api_base};
    request.probe = options.metadata == "probe";
    request.record = plan.record;
    request.deadline = plan.deadline;

    std::pair<Identity, std::string> answer;
    if (options.metadata == "off") {
        answer.first =
            unanswered(request.known, Missing{std::string(kMetadataService), "not asked: --metadata off"});
    } else if (plan.given_up) {
        answer.first =
            unanswered(request.known, Missing{std::string(kMetadataService), "given up: no answer"});
    } else if (!root.is_live() && options.metadata_base.empty()) {
        auto client = recorded_answers(root.folder());
        if (auto* why = std::get_if<std::string>(&client)) return std::move(*why);
        answer = ask_now(*std::get<std::unique_ptr<http::Client>>(client), request);
    } else if (!provider.known() && !request.probe) {
        answer.first =
            unanswered(request.known, Missing{std::string(kMetadataService), "not asked: " + provider.why()});
    } else if (provider.known() && providers::client_of(*provider) == nullptr) {
        answer.first = unanswered(request.known,
                                  Missing{std::string(kMetadataService), "none is known of " + *provider});
    } else {
        answer = ask_live(request, plan);
    }
    contradiction(result.conflicts, "instance type", type, answer.first.instance.type);
    if (!type.known())
        contradiction(result.conflicts, "instance type", answer.first.instance.type, result.type_offline);
    if (type.known()) answer.first.instance.type = type;
    result.instance = std::move(answer.first.instance);
    result.promised = std::move(answer.first.promised);
    result.metadata_json = std::move(answer.second);
    return result;
}

}  // namespace gpucheck
