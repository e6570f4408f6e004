// A report's faults as the requests that providers and clusters understand. Only what the host has to mend is
// told: a provider that is sent guest faults stops reading, and a machine that is taken away for one is lost
// for days.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/model/fact.h"
#include "providers/http/http.h"
#include "providers/render/fault_table.h"
#include "providers/render/report_facts.h"

namespace gpucheck::faults {

enum class Target : std::uint8_t {
    azure_ghr,
    gcp_report_host,
    aws_report_instance_status,
    oci_tag,
    do_tag,
    k8s_condition,
    nvsentinel,
    npd,
    line,  ///< one line for people and schedulers, whoever has to mend it
};

std::string_view name_of(Target target);  ///< "azure-ghr"
std::optional<Target> target_from(std::string_view name);
/// "azure-ghr, gcp-report-host, ..."
std::string target_names();

/// What a request must name and a report need not know. From the report, or from the metadata service when it
/// is sent.
struct Place {
    Fact<std::string> instance_id;                   ///< AWS i-..., OCI ocid1..., DigitalOcean's droplet id
    Fact<std::string> region;                        ///< AWS, OCI
    Fact<std::string> project, zone, instance_name;  ///< GCP
    Fact<std::string> subscription, resource_id, physical_host;  ///< Azure
    Fact<std::string> node;                                      ///< Kubernetes
};

/// As far as the report tells.
Place place_of(const ReportFacts& report);

struct Rendered {
    http::Request request;           ///< without credentials
    std::string credential;          ///< what it is signed with, for people; empty: nothing
    std::string note;                ///< what to know before it is sent
    bool destructive = false;        ///< the provider may take the machine away
    std::vector<std::string> holes;  ///< names that stand for facts nobody knows: "<project>"
};

struct Rendering {
    std::vector<Rendered> requests;
    std::string line;                   ///< npd, line: that line, instead of requests
    std::vector<std::string> left_out;  ///< "kfd.absent on host: the guest's to mend"
};

Rendering render(Target target, const ReportFacts& report, const Place& place, const FaultTable& table);

/// The requests as text: method, URL, headers, blank line, body; what was left out is not in it.
std::string text_of(const Rendering& rendering);

}  // namespace gpucheck::faults
