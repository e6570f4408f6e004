// Who this instance is and what its type was sold as, asked of the provider itself: only the type knows that
// there should have been an eighth GPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checks/model/snapshot.h"
#include "providers/questions.h"

namespace gpucheck::providers {

/// What a provider said. Everything it did not say is Missing with the reason.
struct Identity {
    Instance instance;
    /// What the provider itself states about the type: the number in "8gpu-128vcpu-1600gb", an API's count.
    Expectations promised;
};

/// What may be asked beside the link-local metadata service.
struct Permissions {
    std::string token;          ///< of the provider's API (DigitalOcean: droplet:read); empty: not asked
    bool price = false;         ///< the provider's public price list
    std::string today;          ///< "2026-11-30": the date of what is asked now
    std::string no_token = {};  ///< why the token that was named is empty; empty: none was named
};

/// One cloud's client. Reads `identity` (what is known already) and fills what it learns.
using AskProvider = void (*)(Questions&, const Permissions&, Identity&);

void ask_digitalocean(Questions& questions, const Permissions& may, Identity& identity);
void ask_aws(Questions& questions, const Permissions& may, Identity& identity);
void ask_gcp(Questions& questions, const Permissions& may, Identity& identity);
void ask_azure(Questions& questions, const Permissions& may, Identity& identity);
void ask_oci(Questions& questions, const Permissions& may, Identity& identity);
void ask_vultr(Questions& questions, const Permissions& may, Identity& identity);
void ask_nebius(Questions& questions, const Permissions& may, Identity& identity);
void ask_openstack(Questions& questions, const Permissions& may, Identity& identity);

/// The client of a provider; nullptr where none has a metadata service that is documented.
AskProvider client_of(std::string_view provider);

/// Asks the provider that `identity.instance.provider` names; without one nothing is asked.
void ask(Questions& questions, const Permissions& may, Identity& identity);

/// Tries the services one after the other until one answers as only it does. Opt-in: anybody on the network
/// may answer there, and what answers is told to be likely, not certain.
void probe(Questions& questions, const Permissions& may, Identity& identity);

/// What cloud-init kept of the metadata: /run/cloud-init/instance-data.json. `source` is its path.
Identity from_cloud_init(std::string_view instance_data, const std::string& source);

/// Its v1.cloud_name.
Fact<std::string> cloud_name_in(const Fact<std::string>& instance_data);

/// RunPod: the environment of the judged process is all there is.
struct RunpodEnvironment {
    Fact<std::string> pod_id, gpu_count, region;
};
Identity from_runpod(const RunpodEnvironment& env);

/// What names alone say about GPUs: OCI's "BM.GPU.H100.8", Nebius' "gpu-h200-sxm/8gpu-128vcpu-1600gb".
Fact<unsigned> gpus_named(std::string_view provider, const Fact<std::string>& type);

/// Takes from `more` what `identity` lacks. What both know stays as it is in `identity`.
void complete(Identity& identity, const Identity& more);

}  // namespace gpucheck::providers
