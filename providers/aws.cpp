// AWS: the identity document over IMDSv2, whose token keeps a forged request out, and whose hop limit of one
// keeps containers out and looks like a dead service.
#include "providers/instance.h"

namespace gpucheck::providers {
namespace {

constexpr std::string_view kBase = "http://169.254.169.254";

http::Request token_request(const Questions& questions) {
    http::Request request = get(questions.metadata_url(std::string(kBase) + "/latest/api/token"),
                                {{"X-aws-ec2-metadata-token-ttl-seconds", "60"}});
    request.method = "PUT";
    return request;
}

// The token's answer travels with a TTL of the hop limit (default 1): behind a container's bridge it never
// arrives, while any other request is answered, if only with 401.
Missing hop_limit_or_down(Questions& questions, const Missing& token) {
    if (!token.why.starts_with("no answer within")) return token;
    questions.spend_at_most(1);
    const auto other = questions.ask(get(questions.metadata_url(std::string(kBase) + "/latest/meta-data/")));
    const auto* missing = std::get_if<Missing>(&other);
    const bool answers =
        missing == nullptr || missing->why.starts_with("401") || missing->why.starts_with("403");
    if (!answers) return token;
    return Missing{token.source,
                   "the service answers, its token does not arrive: hop limit 1, seen from a container (set "
                   "HttpPutResponseHopLimit to 2)"};
}

void set_all(Instance& instance, const Missing& missing) {
    instance.id = missing;
    instance.type = missing;
    instance.region = missing;
    instance.zone = missing;
    instance.lifecycle = missing;
}

Fact<std::string> lifecycle_from(const Fact<std::string>& text) {
    if (!text.known() || *text == "on-demand" || *text == "spot") return text;
    if (*text == "scheduled" || *text == "capacity-block")
        return Fact<std::string>("reserved", text.source());
    return Missing{text.source(), "a life cycle that this version does not know"};
}

}  // namespace

void ask_aws(Questions& questions, const Permissions&, Identity& identity) {
    Instance& instance = identity.instance;
    questions.spend_at_most(0.5);
    Fact<std::string> token = questions.text(token_request(questions));
    if (!token.known()) return set_all(instance, hop_limit_or_down(questions, token.missing()));
    questions.spend_at_most(1);
    const auto with_token = [&](const char* path) {
        return get(questions.metadata_url(std::string(kBase) + path), {{"X-aws-ec2-metadata-token", *token}});
    };
    const Fact<Json> document = questions.json(with_token("/latest/dynamic/instance-identity/document"));
    instance.id = text_in(document, "instanceId");
    instance.type = text_in(document, "instanceType");
    instance.region = text_in(document, "region");
    instance.zone = text_in(document, "availabilityZone");
    if (!document.known()) {
        instance.lifecycle = document.missing();
        return;
    }
    instance.lifecycle = lifecycle_from(questions.text(with_token("/latest/meta-data/instance-life-cycle")));
}

}  // namespace gpucheck::providers
