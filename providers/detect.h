// Whose machine this is, by what firmware, kernel and cloud-init left on it: asking the wrong metadata
// service hands a stranger on the network the power to say what was paid for, so nobody is asked before this
// answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checks/model/fact.h"

namespace gpucheck::providers {

/// What a machine shows without any network. A file that does not exist is Missing ENOENT.
struct Sightings {
    Fact<std::string> sys_vendor, product_name, bios_vendor, chassis_asset_tag;
    Fact<std::string> product_serial, product_uuid;  ///< readable by root only
    Fact<std::string> hypervisor_uuid;               ///< /sys/hypervisor/uuid: Xen
    Fact<std::string> kernel_cmdline;
    Fact<std::string> cloud_id;    ///< /run/cloud-init/cloud-id
    Fact<std::string> cloud_name;  ///< v1.cloud_name of instance-data.json
    Fact<bool> etc_vultr, run_scaleway;
    Fact<bool> crusoe_agent;          ///< /etc/crusoe
    Fact<std::string> runpod_pod_id;  ///< of the judged process' environment
};

/// How much a sighting proves.
enum class Confidence : std::uint8_t {
    certain,  ///< firmware or hypervisor says so, which the guest cannot set
    likely,   ///< software on the machine says so: an image that was moved says it too
};
std::string_view name_of(Confidence confidence);  ///< "certain", "likely"

struct Sighting {
    std::string provider;
    Confidence confidence = Confidence::certain;
    std::string source;  ///< "/sys/class/dmi/id/sys_vendor"
    std::string text;    ///< what stood there, shortened, printable
    bool operator==(const Sighting&) const = default;
};

struct Detection {
    /// "digitalocean", "aws", ...; its source names the file, what stood there and the confidence. Missing:
    /// why nobody was recognised, with what was seen.
    Fact<std::string> provider;
    std::vector<Sighting> sightings;  ///< all, the strongest first
    /// Sightings of equal strength name different providers.
    bool ambiguous() const;
};

/// The rules of cloud-init's ds-identify, of droplet-agent's installer and of the providers' documentation.
Detection detect(const Sightings& seen);

/// The name by which `text` means a provider ("Amazon" is no such name, "ec2" is): lower case, known aliases
/// replaced. Anything else is returned in lower case.
std::string provider_named(std::string_view text);
/// Providers that this program knows anything about.
const std::vector<std::string_view>& known_providers();

}  // namespace gpucheck::providers
