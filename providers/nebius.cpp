// Nebius: platform and preset together are the type, and the preset begins with the number of GPUs.
#include "providers/instance.h"

namespace gpucheck::providers {

void ask_nebius(Questions& questions, const Permissions&, Identity& identity) {
    const auto from = [&](const char* host) {
        return questions.json(get(questions.metadata_url(std::string("http://") + host + "/v1/instance-data"),
                                  {{"Metadata", "true"}}));
    };
    questions.spend_at_most(0.5);
    Fact<Json> answer = from("metadata.nebius.internal");
    questions.spend_at_most(1);
    if (!answer.known()) {
        // The name needs the provider's resolver; the address does not.
        if (Fact<Json> second = from("169.254.169.254"); second.known()) answer = std::move(second);
    }
    Instance& instance = identity.instance;
    instance.id = text_in(answer, "id");
    instance.region = text_in(answer, "region");
    const Fact<std::string> platform = text_in(answer, "platform"), preset = text_in(answer, "preset");
    if (platform.known() && preset.known()) {
        instance.type = Fact<std::string>(*platform + "/" + *preset, platform.source());
    } else {
        instance.type = platform.known() ? preset.missing() : platform.missing();
    }
    identity.promised.gpu_count = gpus_named("nebius", instance.type);
}

}  // namespace gpucheck::providers
