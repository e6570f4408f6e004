// The marks of each cloud; see detect.h. Rules as in cloud-init's tools/ds-identify unless another source is
// named beside them.
#include "providers/detect.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

namespace gpucheck::providers {
namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

std::string shortened(std::string_view text) {
    constexpr std::size_t kMost = 60;
    std::string safe(text.substr(0, kMost));
    std::replace_if(
        safe.begin(), safe.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
    return safe;
}

enum class Match : std::uint8_t { equals, begins };

struct Mark {
    Fact<std::string> Sightings::*field;
    Match match;
    std::string_view text, provider;
};

constexpr std::string_view kAzureTag = "7783-7084-3265-9085-8269-3286-77";

// sys_vendor "Microsoft Corporation" is no mark: any Hyper-V has it. The OEM's name stands on OCI's bare
// metal, where the asset tag still says Oracle.
const std::array kMarks{
    Mark{&Sightings::sys_vendor, Match::equals, "DigitalOcean", "digitalocean"},
    Mark{&Sightings::bios_vendor, Match::equals, "DigitalOcean", "digitalocean"},  // droplet-agent install.sh
    Mark{&Sightings::sys_vendor, Match::equals, "Amazon EC2", "aws"},
    Mark{&Sightings::bios_vendor, Match::equals, "Amazon EC2", "aws"},
    Mark{&Sightings::product_name, Match::equals, "Google Compute Engine", "gcp"},
    Mark{&Sightings::product_serial, Match::begins, "GoogleCloud-", "gcp"},
    Mark{&Sightings::chassis_asset_tag, Match::equals, kAzureTag, "azure"},
    Mark{&Sightings::chassis_asset_tag, Match::equals, "OracleCloud.com", "oci"},
    Mark{&Sightings::sys_vendor, Match::equals, "Vultr", "vultr"},
    Mark{&Sightings::sys_vendor, Match::equals, "Hetzner", "hetzner"},
    Mark{&Sightings::sys_vendor, Match::equals, "Linode", "akamai"},
    Mark{&Sightings::sys_vendor, Match::equals, "Akamai", "akamai"},
    Mark{&Sightings::sys_vendor, Match::equals, "Scaleway", "scaleway"},
    Mark{&Sightings::sys_vendor, Match::equals, "UpCloud", "upcloud"},
    Mark{&Sightings::product_name, Match::begins, "Exoscale", "exoscale"},
    Mark{&Sightings::product_name, Match::equals, "Alibaba Cloud ECS", "alibaba"},
    Mark{&Sightings::product_name, Match::equals, "OpenStack Nova", "openstack"},
    Mark{&Sightings::product_name, Match::equals, "OpenStack Compute", "openstack"},
    Mark{&Sightings::sys_vendor, Match::equals, "OpenStack Foundation", "openstack"},
    Mark{&Sightings::chassis_asset_tag, Match::equals, "OpenStack Nova", "openstack"},
    Mark{&Sightings::chassis_asset_tag, Match::equals, "OpenStack Compute", "openstack"},
    Mark{&Sightings::chassis_asset_tag, Match::equals, "OpenTelekomCloud", "openstack"},
    Mark{&Sightings::chassis_asset_tag, Match::equals, "SAP CCloud VM", "openstack"},
    Mark{&Sightings::chassis_asset_tag, Match::equals, "HUAWEICLOUD", "openstack"},
    Mark{&Sightings::chassis_asset_tag, Match::equals, "Samsung Cloud Platform", "openstack"},
};

bool has_word(std::string_view line, std::string_view word) {
    for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || line[at - 1] == ' ') && (end == line.size() || line[end] == ' ')) return true;
    }
    return false;
}

// EC2's UUIDs begin with "ec2", or with its bytes swapped: the first group ends in "2?ec" ("45E12AEC-...").
bool is_ec2_uuid(std::string_view text) {
    const std::string uuid = lower(text);
    if (uuid.size() != 36 || uuid[8] != '-') return false;
    return uuid.starts_with("ec2") || (uuid[4] == '2' && uuid.compare(6, 2, "ec") == 0);
}

class Found {
  public:
    explicit Found(std::vector<Sighting>& sightings) : sightings_(sightings) {}
    void add(std::string_view provider, Confidence confidence, std::string source, std::string_view text) {
        sightings_.push_back({std::string(provider), confidence, std::move(source), shortened(text)});
    }
    void add_when(bool seen, std::string_view provider, Confidence confidence,
                  const Fact<std::string>& fact) {
        if (seen) add(provider, confidence, fact.source(), *fact);
    }

  private:
    std::vector<Sighting>& sightings_;
};

void see_firmware(const Sightings& seen, Found& found) {
    for (const Mark& mark : kMarks) {
        const Fact<std::string>& fact = seen.*(mark.field);
        if (!fact.known()) continue;
        const bool fits = mark.match == Match::equals ? *fact == mark.text : fact->starts_with(mark.text);
        found.add_when(fits, mark.provider, Confidence::certain, fact);
    }
    // One random UUID of 4,096 looks swapped: beside another maker's name it proves nothing.
    const bool others = seen.sys_vendor.known() && seen.sys_vendor->find("Amazon") == std::string::npos &&
                        seen.sys_vendor->find("Xen") == std::string::npos;
    for (const Fact<std::string>* uuid : {&seen.product_uuid, &seen.hypervisor_uuid}) {
        if (others) break;
        // Identities stay out of the sighting: the source alone is told.
        if (uuid->known() && is_ec2_uuid(**uuid))
            found.add("aws", Confidence::certain, uuid->source(), "ec2...");
    }
    if (seen.product_serial.known() && seen.product_serial->find("ds=nocloud") != std::string::npos)
        found.add("nocloud", Confidence::certain, seen.product_serial.source(), "ds=nocloud");
}

void see_software(const Sightings& seen, Found& found) {
    if (seen.kernel_cmdline.known()) {
        for (const std::string_view word : {"vultr", "scaleway"}) {
            if (has_word(*seen.kernel_cmdline, word))
                found.add(word, Confidence::certain, seen.kernel_cmdline.source(), word);
        }
        if (seen.kernel_cmdline->find("ds=nocloud") != std::string::npos)
            found.add("nocloud", Confidence::certain, seen.kernel_cmdline.source(), "ds=nocloud");
    }
    if (seen.runpod_pod_id.known() && !seen.runpod_pod_id->empty())
        found.add("runpod", Confidence::certain, seen.runpod_pod_id.source(), "RUNPOD_POD_ID");
    if (seen.etc_vultr.is(true)) found.add("vultr", Confidence::likely, seen.etc_vultr.source(), "exists");
    if (seen.run_scaleway.is(true))
        found.add("scaleway", Confidence::likely, seen.run_scaleway.source(), "exists");
    if (seen.crusoe_agent.is(true))
        found.add("crusoe", Confidence::likely, seen.crusoe_agent.source(), "exists");
    for (const Fact<std::string>* fact : {&seen.cloud_id, &seen.cloud_name}) {
        if (!fact->known()) continue;
        const std::string provider = provider_named(**fact);
        // "none", "configdrive" and the like are no providers: DigitalOcean's droplets say the latter too
        // (cloud-init 23.2 deprecated its own datasource).
        const auto& known = known_providers();
        found.add_when(std::find(known.begin(), known.end(), provider) != known.end(), provider,
                       Confidence::likely, *fact);
    }
}

// In a container the firmware is its host's: who runs the container is named by the environment.
int rank(const Sighting& sighting) {
    if (sighting.provider == "runpod") return 0;
    const bool how_not_who = sighting.provider == "openstack" || sighting.provider == "nocloud";
    return (sighting.confidence == Confidence::certain ? 1 : 3) + (how_not_who ? 1 : 0);
}

void note(std::string& text, std::string_view name, const Fact<std::string>& fact) {
    if (fact.absent()) return;
    text += (text.empty() ? "" : ", ") + std::string(name) + " " +
            (fact.known() ? "'" + shortened(*fact) + "'" : fact.why());
}

std::string what_was_seen(const Sightings& seen) {
    std::string text;
    note(text, "sys_vendor", seen.sys_vendor);
    note(text, "product_name", seen.product_name);
    note(text, "chassis_asset_tag", seen.chassis_asset_tag);
    note(text, "cloud-id", seen.cloud_id);
    // Not what they say: serials and UUIDs name this very machine.
    if (!seen.product_uuid.known() && !seen.product_uuid.absent())
        text += (text.empty() ? "" : ", ") + std::string("product_uuid ") + seen.product_uuid.why();
    return text.empty() ? "nothing that names one" : text;
}

}  // namespace

std::string_view name_of(Confidence confidence) {
    return confidence == Confidence::certain ? "certain" : "likely";
}

bool Detection::ambiguous() const {
    return sightings.size() > 1 &&
           std::any_of(sightings.begin() + 1, sightings.end(), [&](const Sighting& s) {
               return rank(s) == rank(sightings.front()) && s.provider != sightings.front().provider;
           });
}

Detection detect(const Sightings& seen) {
    Detection detection;
    Found found(detection.sightings);
    see_firmware(seen, found);
    see_software(seen, found);
    std::stable_sort(detection.sightings.begin(), detection.sightings.end(),
                     [](const Sighting& a, const Sighting& b) { return rank(a) < rank(b); });
    if (detection.sightings.empty()) {
        detection.provider = Missing{"/sys/class/dmi/id", "no provider recognised: " + what_was_seen(seen)};
        return detection;
    }
    const Sighting& first = detection.sightings.front();
    if (detection.ambiguous()) {
        std::string text;
        for (const Sighting& each : detection.sightings) {
            if (rank(each) == rank(first))
                text += (text.empty() ? "" : ", ") + each.source + " says " + each.provider;
        }
        detection.provider = Missing{first.source, "marks of several providers: " + text};
        return detection;
    }
    detection.provider = Fact<std::string>(first.provider, first.source + " '" + first.text + "' (" +
                                                               std::string(name_of(first.confidence)) + ")");
    return detection;
}

std::string provider_named(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kAliases{
        {{"ec2", "aws"},
         {"amazon", "aws"},
         {"gce", "gcp"},
         {"google", "gcp"},
         {"oracle", "oci"},
         {"aliyun", "alibaba"},
         {"linode", "akamai"},
         {"do", "digitalocean"},
         {"digital-ocean", "digitalocean"},
         {"hot-aisle", "hotaisle"},
         {"hot_aisle", "hotaisle"},
         {"lambdalabs", "lambda"},
         {"lambda-labs", "lambda"},
         {"core-weave", "coreweave"},
         {"azurestack", "azure"}}};
    const std::string name = lower(text);
    const auto alias =
        std::find_if(kAliases.begin(), kAliases.end(), [&](const auto& pair) { return pair.first == name; });
    return alias != kAliases.end() ? std::string(alias->second) : name;
}

const std::vector<std::string_view>& known_providers() {
    static const std::vector<std::string_view> names{
        "akamai",   "alibaba",   "aws",     "azure",    "coreweave",  "crusoe",  "digitalocean",
        "exoscale", "gcp",       "hetzner", "hotaisle", "lambda",     "nebius",  "nocloud",
        "oci",      "openstack", "runpod",  "scaleway", "tensorwave", "upcloud", "vultr"};
    return names;
}

}  // namespace gpucheck::providers
