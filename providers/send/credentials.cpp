// Asks for place and credentials; see credentials.h. What is answered goes into URLs that a token is sent to,
// so that every part is held to the letters that such names have.
#include "providers/send/credentials.h"

#include <algorithm>
#include <cctype>

#include "providers/identity/metadata.h"

namespace gpucheck::faults {
namespace {

using Answer = std::variant<std::string, Missing>;

// Letters, digits and `also`; 1 to 512 of them.
bool made_of(std::string_view text, std::string_view also) {
    return !text.empty() && text.size() <= 512 && std::all_of(text.begin(), text.end(), [&](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || also.find(c) != std::string_view::npos;
    });
}

// Stops at the first thing that is missing and keeps it: after it everything is an empty text.
class Steps {
  public:
    std::string take(Answer answer) {
        if (failed()) return {};
        if (auto* missing = std::get_if<Missing>(&answer)) {
            missing_ = std::move(*missing);
            return {};
        }
        return std::get<std::string>(std::move(answer));
    }
    /// A text of letters, digits and `also`.
    std::string name(Answer answer, std::string_view also) {
        std::string text = take(std::move(answer));
        if (failed() || made_of(text, also)) return text;
        missing_ = {source_, "malformed"};
        return {};
    }
    /// A member of the JSON that was taken last, as a name.
    std::string member(const std::string& json, const char* source, std::string_view key,
                       std::string_view also) {
        source_ = source;
        return failed() ? std::string() : name(identity::member_of(json, source, key), also);
    }
    Fact<std::string> fact(std::string text) const {
        if (failed()) return missing_;
        return Fact<std::string>(std::move(text), source_);
    }
    bool failed() const { return !missing_.why.empty(); }
    std::variant<Standing, Missing> end(Standing standing) const {
        if (failed()) return missing_;
        return standing;
    }

  private:
    Missing missing_{"", ""};
    std::string source_ = "the metadata service";
};

// Of keys and tokens: base64, base64url, and the dots of a JWT.
constexpr std::string_view kSecret = "+/=-_.~";

std::variant<Standing, Missing> aws_standing(http::Client& metadata) {
    auto opened = identity::AwsSession::open(metadata);
    if (auto* missing = std::get_if<Missing>(&opened)) return std::move(*missing);
    auto& session = std::get<identity::AwsSession>(opened);
    const auto get = [&](const Steps& steps, const std::string& path) {
        return steps.failed() ? Answer(std::string()) : session.get(path);
    };
    Steps steps;
    Standing standing;
    const std::string document = steps.take(get(steps, "/latest/dynamic/instance-identity/document"));
    const char* source = "EC2 instance identity document";
    standing.place.instance_id = steps.fact(steps.member(document, source, "instanceId", "-"));
    standing.place.region = steps.fact(steps.member(document, source, "region", "-"));
    const std::string roles = "/latest/meta-data/iam/security-credentials/";
    Answer listed = get(steps, roles);
    if (auto* missing = std::get_if<Missing>(&listed); missing != nullptr && missing->why == "HTTP 404")
        missing->why = "the instance has no role";
    const std::string all_roles = steps.take(std::move(listed));
    const std::string role = steps.name(all_roles.substr(0, all_roles.find('\n')), "+=,.@-_");
    const std::string json = steps.take(get(steps, roles + role));
    source = "EC2 role credentials";
    aws::Credentials& credentials = standing.credentials.aws;
    credentials.access_key_id = steps.member(json, source, "AccessKeyId", "");
    credentials.secret_access_key = steps.member(json, source, "SecretAccessKey", kSecret);
    credentials.session_token = steps.member(json, source, "Token", kSecret);
    return steps.end(std::move(standing));
}

std::variant<Standing, Missing> azure_standing(const Sender& sender, http::Client& metadata) {
    Steps steps;
    Standing standing;
    const std::string instance =
        steps.take(identity::azure_get(metadata, "/metadata/instance?api-version=2021-02-01"));
    const char* source = "Azure instance metadata";
    standing.place.resource_id = steps.fact(steps.member(instance, source, "compute.resourceId", "/-_.()"));
    standing.place.subscription = steps.fact(steps.member(instance, source, "compute.subscriptionId", "-"));
    standing.place.instance_id = steps.fact(steps.member(instance, source, "compute.vmId", "-"));
    standing.place.physical_host = sender.physical_host;
    if (!steps.failed() && !sender.physical_host.known()) return sender.physical_host.missing();
    const std::string token =
        steps.failed() ? ""
                       : steps.take(identity::azure_get(
                             metadata,
                             "/metadata/identity/oauth2/"
                             "token?api-version=2018-02-01&resource=https%3A%2F%2Fmanagement.azure.com%2F"));
    standing.credentials.bearer = steps.member(token, "Azure managed identity", "access_token", kSecret);
    return steps.end(std::move(standing));
}

std::string last_part(const std::string& path) {
    return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::variant<Standing, Missing> gcp_standing(http::Client& metadata) {
    Steps steps;
    Standing standing;
    const auto get = [&](const char* path) {
        return steps.failed() ? Answer(std::string()) : identity::gcp_get(metadata, path);
    };
    const auto name = [&](const char* path, std::string_view also) {
        return steps.fact(steps.name(last_part(steps.take(get(path))), also));
    };
    standing.place.project = name("project/project-id", "-:.");
    standing.place.zone = name("instance/zone", "-");  // projects/N/zones/us-central1-a
    standing.place.instance_name = name("instance/name", "-");
    standing.place.instance_id = name("instance/id", "");
    const std::string token = steps.take(get("instance/service-accounts/default/token"));
    standing.credentials.bearer = steps.member(token, "GCP service account", "access_token", kSecret);
    return steps.end(std::move(standing));
}

std::variant<Standing, Missing> digitalocean_standing(const Sender& sender, http::Client& metadata) {
    if (!sender.digitalocean_token.known()) return sender.digitalocean_token.missing();
    Steps steps;
    Standing standing;
    standing.place.instance_id =
        steps.fact(steps.name(identity::ask(metadata, "http://169.254.169.254/metadata/v1/id", {}), ""));
    standing.credentials.bearer = steps.name(*sender.digitalocean_token, kSecret);
    return steps.end(std::move(standing));
}

}  // namespace

std::variant<Standing, Missing> standing_of(Target target, const Sender& sender, http::Client& metadata) {
    switch (target) {
        case Target::azure_ghr:
            return azure_standing(sender, metadata);
        case Target::gcp_report_host:
            return gcp_standing(metadata);
        case Target::aws_report_instance_status:
            return aws_standing(metadata);
        case Target::do_tag:
            return digitalocean_standing(sender, metadata);
        default:
            return Missing{std::string(name_of(target)), "not sent by gpucheck"};
    }
}

}  // namespace gpucheck::faults
