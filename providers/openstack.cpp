// OpenStack: its own document has the identity, the EC2-compatible one beside it the flavour.
#include "providers/instance.h"

namespace gpucheck::providers {

void ask_openstack(Questions& questions, const Permissions&, Identity& identity) {
    questions.spend_at_most(0.6);
    const Fact<Json> answer =
        questions.json(get(questions.metadata_url("http://169.254.169.254/openstack/latest/meta_data.json")));
    questions.spend_at_most(1);
    Instance& instance = identity.instance;
    instance.id = text_in(answer, "uuid");
    instance.zone = text_in(answer, "availability_zone");
    if (!answer.known()) {
        instance.type = answer.missing();
        return;
    }
    instance.type =
        questions.text(get(questions.metadata_url("http://169.254.169.254/latest/meta-data/instance-type")));
}

}  // namespace gpucheck::providers
