// Vultr: the metadata has no plan, so the type comes from the configuration; the public list of plans has the
// price.
#include "providers/instance.h"
#include "providers/price.h"

namespace gpucheck::providers {

void ask_vultr(Questions& questions, const Permissions& may, Identity& identity) {
    const Fact<Json> answer = questions.json(
        get(questions.metadata_url("http://169.254.169.254/v1.json"), {{"Metadata-Token", "cloudinit"}}));
    Instance& instance = identity.instance;
    for (const char* name : {"instance-v2-id", "instanceid", "instance-id"}) {
        instance.id = text_in(answer, name);
        if (instance.id.known()) break;
    }
    instance.region = text_in(object_in(answer, "region"), "regioncode");
    if (!instance.type.known()) {
        instance.type = answer.known()
                            ? Missing{answer.source(), "the metadata has no plan; --instance-type tells it"}
                            : answer.missing();
    }
    if (may.price) instance.price = ask_vultr_price(questions, instance, may.today);
}

}  // namespace gpucheck::providers
