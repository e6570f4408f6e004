// Oracle Cloud: the shape's name holds model and number of its GPUs.
#include "providers/instance.h"
#include "providers/price.h"

namespace gpucheck::providers {

void ask_oci(Questions& questions, const Permissions& may, Identity& identity) {
    const Fact<Json> answer =
        questions.json(get(questions.metadata_url("http://169.254.169.254/opc/v2/instance/"),
                           {{"Authorization", "Bearer Oracle"}}));
    Instance& instance = identity.instance;
    instance.id = text_in(answer, "id");
    instance.type = text_in(answer, "shape");
    instance.region = text_in(answer, "canonicalRegionName");
    if (!instance.region.known()) {
        if (Fact<std::string> name = text_in(answer, "region"); name.known())
            instance.region = std::move(name);
    }
    instance.zone = text_in(answer, "availabilityDomain");
    identity.promised.gpu_count = gpus_named("oci", instance.type);
    if (may.price) instance.price = ask_oci_price(questions, instance, may.today);
}

}  // namespace gpucheck::providers
