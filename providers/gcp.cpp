// Google Cloud: names come as paths ("projects/1/machineTypes/a3-highgpu-8g"), whose last part is what was
// bought.
#include "providers/instance.h"

namespace gpucheck::providers {
namespace {

// "us-central1-a" lies in "us-central1".
Fact<std::string> region_of(const Fact<std::string>& zone) {
    if (!zone.known()) return zone;
    const std::size_t dash = zone->rfind('-');
    if (dash == std::string::npos || dash == 0) return Missing{zone.source(), "malformed: no zone"};
    return Fact<std::string>(zone->substr(0, dash), zone.source());
}

Fact<std::string> lifecycle_of(const Fact<Json>& instance) {
    const Fact<Json> scheduling = object_in(instance, "scheduling");
    const Fact<std::string> preemptible = text_in(scheduling, "preemptible");
    if (!preemptible.known()) return preemptible;
    if (*preemptible == "TRUE") return Fact<std::string>("spot", preemptible.source());
    if (*preemptible == "FALSE") return Fact<std::string>("on-demand", preemptible.source());
    return Missing{preemptible.source(), "malformed: neither TRUE nor FALSE"};
}

}  // namespace

void ask_gcp(Questions& questions, const Permissions&, Identity& identity) {
    const Fact<Json> all = questions.json(get(
        questions.metadata_url("http://metadata.google.internal/computeMetadata/v1/?recursive=true&alt=json"),
        {{"Metadata-Flavor", "Google"}}));
    const Fact<Json> instance = object_in(all, "instance");
    Instance& known = identity.instance;
    known.id = text_in(instance, "id");
    // The tree spells members in camel case, the paths of single values with hyphens.
    Fact<std::string> type = text_in(instance, "machineType");
    if (!type.known()) {
        if (Fact<std::string> other = text_in(instance, "machine-type"); other.known())
            type = std::move(other);
    }
    known.type = last_part(type);
    known.zone = last_part(text_in(instance, "zone"));
    known.region = region_of(known.zone);
    known.lifecycle = lifecycle_of(instance);
}

}  // namespace gpucheck::providers
