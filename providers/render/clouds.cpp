// The requests of Azure, Google Cloud, AWS, Oracle Cloud and DigitalOcean; docs/fault-apis.md cites each
// provider's documentation.
#include <algorithm>

#include "providers/render/targets.h"

namespace gpucheck::faults {
namespace {

// None of these services documents a limit; a screenful is read, and a page is not.
constexpr std::size_t kMaxDescription = 1000;

// The one GPU that all of them are about; nullptr when there are several, or none.
const ReportGpu* only_gpu(const std::vector<Told>& members, const ReportFacts& report) {
    for (const Told& one : members) {
        if (one.problem->subject != members.front().problem->subject) return nullptr;
    }
    return report.gpu(members.front().problem->subject);
}

// China's regions are another partition, with a domain of its own.
std::string aws_domain(std::string_view region) {
    return region.substr(0, 3) == "cn-" ? ".amazonaws.com.cn" : ".amazonaws.com";
}

std::string azure_maker(const std::string& vendor) {
    if (vendor == "amd") return "AMD";
    return vendor == "nvidia" ? "NVIDIA" : vendor;
}

}  // namespace

// Azure guest health reporting: the names of the members are case-sensitive, camelCase outside and PascalCase
// within additionalProperties.
void render_azure(const ReportFacts& report, const Place& place, const std::vector<Told>& all,
                  Rendering& into) {
    for (const ToldGroup& group : grouped(all, &FaultRow::azure)) {
        Rendered one;
        one.destructive = true;
        one.credential = "Bearer token of the instance's managed identity for https://management.azure.com/";
        one.note =
            "Unhealthy takes the node out for repair; deallocate the VM after a 200. The subscription must "
            "be "
            "allowed for Microsoft.Impact, and the identity needs the role Azure impact Reporter.";
        // ^[a-zA-Z0-9][a-zA-Z0-9-:]*[a-zA-Z0-9]{3,120}$; made from the report's id, so that a retry has the
        // same name and a second impact cannot come of one report.
        const std::string name = report.report_id + ":" + group.word;
        Json more{{"PhysicalHostName", value_or_hole(place.physical_host, "physical-host-name", one)}};
        if (const ReportGpu* gpu = only_gpu(group.members, report)) {
            more["Manufacturer"] = azure_maker(gpu->vendor);
            if (gpu->serial.known()) more["SerialNumber"] = *gpu->serial;
            if (!gpu->board.empty()) more["ModelNumber"] = gpu->board;
            more["Location"] = gpu->bdf;
        }
        const Json body{{"properties",
                         {{"startDateTime", start_of(group.members, report)},
                          {"impactCategory", "Resource.Hpc.Unhealthy." + group.word},
                          {"impactDescription", "gpucheck: " + sentences(group.members, kMaxDescription)},
                          {"impactedResourceId", value_or_hole(place.resource_id, "resource-id", one)},
                          {"additionalProperties", more}}}};
        one.request = json_request("PUT",
                                   "https://management.azure.com/subscriptions/" +
                                       value_or_hole(place.subscription, "subscription", one) +
                                       "/providers/Microsoft.Impact/workloadImpacts/" + name +
                                       "?api-version=2025-01-01-preview",
                                   body);
        into.requests.push_back(std::move(one));
    }
}

void render_gcp(const ReportFacts& report, const Place& place, const std::vector<Told>& all,
                Rendering& into) {
    if (all.empty()) return;
    Rendered one;
    one.destructive = true;
    one.credential = "Bearer token of the instance's service account (compute.instances.update)";
    Json reasons = Json::array();
    std::string labels;
    for (const ToldGroup& group : grouped(all, &FaultRow::gcp)) {
        reasons.push_back({{"behavior", group.word},
                           {"description", "gpucheck: " + sentences(group.members, kMaxDescription)}});
    }
    one.note =
        "Stops the VM and erases its local SSDs; the host is away for days. Only for running instances of "
        "A4X, A4 "
        "and A3 Ultra (GKE: also A3 Mega, A3 High) that a reservation holds. On GKE instead: kubectl label "
        "node " +
        value_or_hole(place.node, "node", one) + " cloud.google.com/fault-behavior=" + all.front().row->gke;
    one.holes.clear();  // the note's; the request does not need the node
    const std::string path = "/projects/" + value_or_hole(place.project, "project", one) + "/zones/" +
                             value_or_hole(place.zone, "zone", one) + "/instances/" +
                             value_or_hole(place.instance_name, "instance-name", one);
    one.request = json_request("POST",
                               "https://compute.googleapis.com/compute/v1" + path +
                                   "/reportHostAsFaulty?requestId=" + report.report_id,
                               Json{{"disruptionSchedule", "IMMEDIATE"}, {"faultReasons", reasons}});
    into.requests.push_back(std::move(one));
}

void render_aws(const ReportFacts& report, const Place& place, const std::vector<Told>& all,
                Rendering& into) {
    if (all.empty()) return;
    Rendered one;
    one.credential = "AWS Signature Version 4 by the instance's role (ec2:ReportInstanceStatus)";
    one.note = "Feedback only: AWS repairs nothing by it, and the instance's status stays as it is.";
    one.request.method = "POST";
    const std::string region = value_or_hole(place.region, "region", one);
    one.request.url = "https://ec2." + region + aws_domain(region) + "/";
    one.request.headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}};
    one.request.body = "Action=ReportInstanceStatus&Version=2016-11-15&Status=impaired&InstanceId.1=" +
                       (place.instance_id.known() ? http::percent_encoded(*place.instance_id)
                                                  : value_or_hole(place.instance_id, "instance-id", one));
    std::size_t number = 0;
    for (const ToldGroup& group : grouped(all, &FaultRow::aws))
        one.request.body +=
            "&ReasonCode." + std::to_string(++number) + "=" + http::percent_encoded(group.word);
    one.request.body += "&StartTime=" + http::percent_encoded(start_of(all, report));
    into.requests.push_back(std::move(one));
}

// Tags of a namespace that the tenancy made. An update replaces all defined tags, so that those that are
// there have to be sent along, and an etag keeps a change in between from being lost.
void render_oci(const ReportFacts&, const Place& place, const std::vector<Told>& all, Rendering& into) {
    if (all.empty()) return;
    const auto request_of = [&](const char* method, const char* note) {
        Rendered one;
        one.credential = "OCI signature by the instance principal, or by the operator";
        one.note = note;
        one.request.method = method;
        one.request.url = "https://iaas." + value_or_hole(place.region, "region", one) +
                          ".oraclecloud.com/20160918/instances/" +
                          value_or_hole(place.instance_id, "instance-id", one);
        return one;
    };
    into.requests.push_back(request_of("GET", "Keep the reply's etag and its definedTags."));
    Rendered update = request_of("PUT",
                                 "Put what GET said in the place of <definedTags of GET>, member by member, "
                                 "or those tags are lost. The namespace "
                                 "and its key must exist. Ask with GET again, and only then terminate the "
                                 "instance: the tag acts when the host is "
                                 "recycled.");
    update.destructive = true;
    const std::string url = update.request.url;
    update.request =
        json_request("PUT", url,
                     Json{{"definedTags",
                           {{"<definedTags of GET>", Json::object()},
                            {"ComputeInstanceHostActions", {{"CustomerReportedHostStatus", "unhealthy"}}}}}});
    update.request.headers.push_back({"if-match", "<etag of GET>"});
    update.holes.insert(update.holes.end(), {"definedTags of GET", "etag of GET"});
    into.requests.push_back(std::move(update));
}

void render_do(const ReportFacts&, const Place& place, const std::vector<Told>& all, Rendering& into) {
    std::vector<std::string> tags;
    for (const ToldGroup& group : grouped(all, &FaultRow::tag)) {
        const bool fails = std::any_of(group.members.begin(), group.members.end(),
                                       [](const Told& one) { return one.problem->verdict == Verdict::fail; });
        tags.push_back(std::string(fails ? "gpucheck:fail:" : "gpucheck:warn:") + group.word);
    }
    const auto request_of = [](const std::string& path, const Json& body, const char* note) {
        Rendered one;
        one.credential = "Bearer token of DigitalOcean's API (tag:create, droplet:update)";
        one.note = note;
        one.request = json_request("POST", "https://api.digitalocean.com/v2/tags" + path, body);
        return one;
    };
    for (const std::string& tag : tags) {
        into.requests.push_back(request_of("", Json{{"name", tag}}, "201; 422 when the tag exists already"));
        Rendered attach = request_of("/" + tag + "/resources", Json::object(),
                                     "204; DELETE on the same path takes it away");
        const std::string droplet = value_or_hole(place.instance_id, "droplet-id", attach);
        attach.request.body = dump_json(
            Json{{"resources", Json::array({Json{{"resource_id", droplet}, {"resource_type", "droplet"}}})}});
        into.requests.push_back(std::move(attach));
    }
}

}  // namespace gpucheck::faults
