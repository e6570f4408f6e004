// Azure: size and place from IMDS, which must never be asked through a proxy.
#include "providers/instance.h"
#include "providers/price.h"

namespace gpucheck::providers {
namespace {

Fact<std::string> lifecycle_from(const Fact<std::string>& priority) {
    if (!priority.known()) return priority;
    if (*priority == "Regular") return Fact<std::string>("on-demand", priority.source());
    if (*priority == "Spot" || *priority == "Low") return Fact<std::string>("spot", priority.source());
    return Missing{priority.source(), "a priority that this version does not know"};
}

}  // namespace

void ask_azure(Questions& questions, const Permissions& may, Identity& identity) {
    const Fact<Json> answer = questions.json(
        get(questions.metadata_url("http://169.254.169.254/metadata/instance?api-version=2021-02-01"),
            {{"Metadata", "true"}}));
    const Fact<Json> compute = object_in(answer, "compute");
    Instance& instance = identity.instance;
    instance.id = text_in(compute, "vmId");
    instance.type = text_in(compute, "vmSize");
    instance.region = text_in(compute, "location");
    instance.zone = text_in(compute, "zone");
    instance.lifecycle = lifecycle_from(text_in(compute, "priority"));
    if (may.price) instance.price = ask_azure_price(questions, instance, may.today);
}

}  // namespace gpucheck::providers
