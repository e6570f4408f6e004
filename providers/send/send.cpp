// Sends what was rendered; see send.h.
#include "providers/send/send.h"

#include <algorithm>

#include "providers/crypto/hash.h"
#include "providers/send/credentials.h"

namespace gpucheck::faults {
namespace {

// Whose API it is, as in Instance::provider; empty for those that know no identity of an instance.
std::string_view provider_of(Target target) {
    switch (target) {
        case Target::azure_ghr:
            return "azure";
        case Target::gcp_report_host:
            return "gcp";
        case Target::aws_report_instance_status:
            return "aws";
        case Target::do_tag:
            return "digitalocean";
        default:
            return {};
    }
}

// Why a report must not be acted upon from here; empty if it may.
std::string reason_to_refuse(Target target, const ReportFacts& report, const Sender& sender) {
    const std::string_view provider = provider_of(target);
    if (provider.empty()) {
        return std::string(name_of(target)) +
               " cannot be sent with the instance's own identity: print it with `report render --as` and "
               "send it with the tool that its comment names";
    }
    if (report.provider.known() && *report.provider != provider)
        return "the report is of an instance of " + *report.provider + ", not of " + std::string(provider);
    if (report.simulated)
        return "the report is of a recorded machine or of stand-in drivers, not of this hardware";
    if (!report.injected.empty()) return "a fault was injected on purpose (" + report.injected + ")";
    // A reboot may have mended it, and an instance that was stopped and started runs on another host.
    if (!report.boot_id.known() || !sender.boot_id.known()) return "not known to be a report of this boot";
    if (*report.boot_id != *sender.boot_id)
        return "the report is of another boot or another machine; run gpucheck again";
    return {};
}

std::string reason_of_place(const ReportFacts& report, const Place& place) {
    if (report.instance_id.known() && place.instance_id.known() && *report.instance_id != *place.instance_id)
        return "the report is of instance " + *report.instance_id + ", and this is " + *place.instance_id;
    return {};
}

// "2026-11-30T10:00:00Z" -> "20261130T100000Z"
std::string compact(std::string time) {
    time.erase(std::remove_if(time.begin(), time.end(), [](char c) { return c == '-' || c == ':'; }),
               time.end());
    return time;
}

// Adds the credentials; the text says why it cannot.
std::string authorize(http::Request& request, Target target, const Standing& standing,
                      const std::string& now) {
    if (target != Target::aws_report_instance_status) {
        request.headers.push_back({"Authorization", "Bearer " + standing.credentials.bearer});
        return {};
    }
    const auto hash = crypto::Hash::open();
    if (const auto* why = std::get_if<std::string>(&hash)) return *why;
    aws::sign(request, standing.credentials.aws, {*standing.place.region, "ec2", compact(now)},
              std::get<crypto::Hash>(hash));
    return {};
}

// What the provider says went wrong, in one line: never when it holds a part of what is secret.
std::string words_of(const http::Response& response, const Credentials& credentials) {
    constexpr std::size_t kMaxWords = 300;
    for (const std::string* secret :
         {&credentials.bearer, &credentials.aws.secret_access_key, &credentials.aws.session_token}) {
        if (!secret->empty() && response.body.find(*secret) != std::string::npos) return {};
    }
    std::string words;
    for (const char c : response.body.substr(0, kMaxWords)) words += c >= ' ' && c < '\x7f' ? c : ' ';
    return words.empty() ? words : ": " + words;
}

struct Judged {
    bool taken = false;
    std::string words;
};

Judged judge(Target target, Consent consent, const http::Request& request, const http::Response& response) {
    const int status = response.status;
    const bool well = status >= 200 && status < 300;
    switch (target) {
        case Target::aws_report_instance_status:
            // A DryRun that would have been allowed is answered by an error of this name.
            if (consent.dry_run)
                return {response.body.find("DryRunOperation") != std::string::npos, "dry run"};
            return {well && response.body.find("<return>true</return>") != std::string::npos, "taken"};
        case Target::do_tag: {
            const bool creates =
                request.url.size() > 5 && request.url.compare(request.url.size() - 5, 5, "/tags") == 0;
            return {well || (creates && status == 422), status == 422 ? "the tag exists" : "taken"};
        }
        default:
            return {well, "taken"};
    }
}

class Sending {
  public:
    Sending(Target target, const Standing& standing, Consent consent, const std::string& now)
        : target_(target), standing_(standing), consent_(consent), now_(now) {}

    /// False when nothing more is to be sent.
    bool perform(http::Request request, http::Client& network, Outcome& outcome) const {
        const std::string shown = request.method + " " + request.url;
        if (consent_.dry_run) request.body += "&DryRun=true";  // AWS alone comes here on a dry run
        request.proxy = http::Proxy::environment;
        request.connect_timeout = std::chrono::seconds(5);
        request.total_timeout = std::chrono::seconds(30);
        if (outcome.why = authorize(request, target_, standing_, now_); !outcome.why.empty()) return false;
        const http::Outcome answer = network.perform(request);
        if (const auto* failed = std::get_if<http::Failed>(&answer)) {
            outcome.why = shown + ": " + std::string(name_of(failed->failure)) + ": " + failed->detail;
            return false;
        }
        const auto& response = std::get<http::Response>(answer);
        const Judged judged = judge(target_, consent_, request, response);
        if (!judged.taken) {
            outcome.why = shown + ": HTTP " + std::to_string(response.status) +
                          words_of(response, standing_.credentials);
            return false;
        }
        outcome.answers.push_back(shown + ": " + std::to_string(response.status) + " (" + judged.words + ")");
        return true;
    }

  private:
    Target target_;
    const Standing& standing_;
    Consent consent_;
    const std::string& now_;
};

Outcome refused(Sent sent, std::string why) {
    Outcome outcome;
    outcome.sent = sent;
    outcome.why = std::move(why);
    return outcome;
}

}  // namespace

Outcome send(Target target, const ReportFacts& report, const Sender& sender, Consent consent,
             http::Client& metadata, http::Client& network, const FaultTable& table) {
    if (std::string why = reason_to_refuse(target, report, sender); !why.empty())
        return refused(Sent::refused, why);
    Outcome outcome;
    outcome.rendering = render(target, report, place_of(report), table);
    if (outcome.rendering.requests.empty()) {
        outcome.sent = Sent::nothing;
        outcome.why = "the report has nothing that the host has to mend";
        return outcome;
    }
    const bool destructive = std::any_of(outcome.rendering.requests.begin(), outcome.rendering.requests.end(),
                                         [](const Rendered& one) { return one.destructive; });
    if (destructive && !consent.destructive && !consent.dry_run)
        return refused(Sent::refused, "the provider may take this machine away for it: say --destructive");

    const auto asked = standing_of(target, sender, metadata);
    if (const auto* missing = std::get_if<Missing>(&asked)) {
        outcome.why = missing->source + ": " + missing->why;
        return outcome;
    }
    const auto& standing = std::get<Standing>(asked);
    if (std::string why = reason_of_place(report, standing.place); !why.empty())
        return refused(Sent::refused, why);
    outcome.rendering = render(target, report, standing.place, table);
    const bool asks_anyway = consent.dry_run && target == Target::aws_report_instance_status;
    if (!consent.dry_run || asks_anyway) {
        const Sending sending(target, standing, consent, sender.now);
        for (const Rendered& one : outcome.rendering.requests) {
            if (!one.holes.empty()) {
                outcome.why = "not known: " + one.holes.front();
                return outcome;
            }
            if (!sending.perform(one.request, network, outcome)) return outcome;
        }
    }
    outcome.sent = Sent::done;
    return outcome;
}

}  // namespace gpucheck::faults
