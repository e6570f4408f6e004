// Which client is asked, what names tell, and what cloud-init kept; see instance.h.
#include "providers/instance.h"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "providers/price.h"

namespace gpucheck::providers {
namespace {

constexpr std::array<std::pair<std::string_view, AskProvider>, 8> kClients{
    {{"digitalocean", ask_digitalocean},
     {"aws", ask_aws},
     {"gcp", ask_gcp},
     {"azure", ask_azure},
     {"oci", ask_oci},
     {"vultr", ask_vultr},
     {"nebius", ask_nebius},
     {"openstack", ask_openstack}}};

std::optional<unsigned> number(std::string_view text) {
    unsigned value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || value > kMostGpusOfAType)
        return std::nullopt;
    return value;
}

// A reason that is there already says more.
void fill(Fact<std::string>& fact, const Missing& missing) {
    if (!fact.known() && fact.why() == "not looked at") fact = missing;
}

void nothing_asked(Identity& identity, const Missing& missing) {
    Instance& instance = identity.instance;
    for (Fact<std::string>* fact :
         {&instance.id, &instance.type, &instance.region, &instance.zone, &instance.lifecycle})
        fill(*fact, missing);
}

// An answer that only this provider's service gives.
bool answered_as(std::string_view provider, const Instance& found) {
    if (!found.id.known()) return false;
    const std::string& id = *found.id;
    if (provider == "aws") return id.starts_with("i-") && found.type.known();
    if (provider == "gcp") return found.type.known() && found.zone.known();
    if (provider == "azure") return found.type.known();
    if (provider == "oci") return id.starts_with("ocid1.");
    if (provider == "nebius") return id.starts_with("computeinstance-");
    return true;
}

Fact<Json> parsed(std::string_view text, const std::string& source) {
    constexpr std::size_t kDeepest = 32;
    auto document = parse_json(text, kDeepest);
    if (std::holds_alternative<JsonError>(document) || !std::get<Json>(document).is_object())
        return Missing{source, "malformed: no JSON object"};
    return Fact<Json>(std::move(std::get<Json>(document)), source);
}

// The first that is known.
template <class... Facts>
Fact<std::string> first_of(Fact<std::string> first, Facts... more) {
    if constexpr (sizeof...(more) > 0) {
        if (!first.known()) {
            Fact<std::string> other = first_of(std::move(more)...);
            if (other.known()) return other;
        }
    }
    return first;
}

}  // namespace

AskProvider client_of(std::string_view provider) {
    for (const auto& [name, client] : kClients) {
        if (name == provider) return client;
    }
    return nullptr;
}

void complete(Identity& identity, const Identity& more) {
    const auto take = [](auto& fact, const auto& other) {
        if (!fact.known() && (other.known() || fact.why() == "not looked at")) fact = other;
    };
    Instance::fields([&](auto... field) {
        (take(identity.instance.*(field.member), more.instance.*(field.member)), ...);
    });
    if (!identity.promised.gpu_count.known()) identity.promised.gpu_count = more.promised.gpu_count;
}

void ask(Questions& questions, const Permissions& may, Identity& identity) {
    const Fact<std::string>& provider = identity.instance.provider;
    if (!provider.known())
        return nothing_asked(identity, Missing{"metadata service", "not asked: " + provider.why()});
    const AskProvider client = client_of(*provider);
    if (client == nullptr) {
        return nothing_asked(
            identity, Missing{"metadata service", "no metadata service of " + *provider + " is known"});
    }
    Identity asked;
    asked.instance.provider = provider;
    // What is known already (a plan from the command line) is needed for the price.
    asked.instance.type = identity.instance.type;
    client(questions, may, asked);
    nothing_asked(asked, Missing{"metadata service", "the service of " + *provider + " does not tell it"});
    Identity result = std::move(asked);
    complete(result, identity);
    identity = std::move(result);
}

void probe(Questions& questions, const Permissions& may, Identity& identity) {
    Missing last{"metadata service", "no service answered"};
    const Permissions only_metadata{"", false, may.today};
    for (std::size_t i = 0; i < kClients.size(); ++i) {
        const auto& [name, client] = kClients[i];
        Identity asked;
        questions.spend_at_most(1.0 / static_cast<double>(kClients.size() - i));
        client(questions, only_metadata, asked);
        if (answered_as(name, asked.instance)) {
            asked.instance.provider = Fact<std::string>(
                std::string(name), asked.instance.id.source() + " answered a probe (likely)");
            complete(asked, identity);
            identity = std::move(asked);
            return;
        }
        if (!asked.instance.id.known()) last = asked.instance.id.missing();
    }
    nothing_asked(identity, Missing{last.source, "no service answered a probe; the last: " + last.why});
}

Fact<unsigned> gpus_named(std::string_view provider, const Fact<std::string>& type) {
    if (!type.known()) return type.missing();
    const std::string& name = *type;
    if (provider == "nebius") {
        const std::size_t preset = name.rfind('/') + 1, end = name.find("gpu-", preset);
        if (end != std::string::npos) {
            if (const auto count = number(std::string_view(name).substr(preset, end - preset)))
                return Fact<unsigned>(*count, type.source());
        }
        return Missing{type.source(), "no number of GPUs in the preset"};
    }
    if (provider == "oci" && name.find("GPU") != std::string::npos) {
        if (const auto count = number(std::string_view(name).substr(name.rfind('.') + 1)))
            return Fact<unsigned>(*count, type.source());
    }
    return Missing{type.source(), "no number of GPUs in its name"};
}

Fact<std::string> cloud_name_in(const Fact<std::string>& instance_data) {
    if (!instance_data.known()) return instance_data;
    return text_in(object_in(parsed(*instance_data, instance_data.source()), "v1"), "cloud_name");
}

Identity from_cloud_init(std::string_view instance_data, const std::string& source) {
    Identity identity;
    const Fact<Json> all = parsed(instance_data, source);
    if (!all.known()) {
        nothing_asked(identity, all.missing());
        return identity;
    }
    const Fact<Json> v1 = object_in(all, "v1"), ds = object_in(all, "ds");
    const Fact<Json> meta = object_in(ds, "meta_data");
    const Fact<Json> document =
        object_in(object_in(object_in(ds, "dynamic"), "instance_identity"), "document");
    Instance& instance = identity.instance;
    instance.id = first_of(text_in(v1, "instance_id"), text_in(all, "instance_id"));
    instance.region = first_of(text_in(v1, "region"), text_in(all, "region"));
    instance.zone = first_of(text_in(v1, "availability_zone"), text_in(all, "availability_zone"));
    // cloud-init promises no instance type: what is below "ds" is each cloud's own and may change.
    instance.type = first_of(text_in(document, "instanceType"), text_in(meta, "instance_type"),
                             text_in(meta, "instance-type"),
                             text_in(object_in(object_in(meta, "imds"), "compute"), "vmSize"));
    return identity;
}

Identity from_runpod(const RunpodEnvironment& env) {
    Identity identity;
    identity.instance.id = env.pod_id;
    identity.instance.region = env.region;
    identity.instance.type = Missing{"environment", "a pod's environment does not name its GPU type"};
    if (!env.gpu_count.known()) {
        identity.promised.gpu_count = env.gpu_count.missing();
    } else if (const auto count = number(*env.gpu_count)) {
        identity.promised.gpu_count = Fact<unsigned>(*count, env.gpu_count.source());
    } else {
        identity.promised.gpu_count = Missing{env.gpu_count.source(), "malformed: no number of GPUs"};
    }
    return identity;
}

}  // namespace gpucheck::providers
