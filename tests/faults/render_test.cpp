// What is printed for each target, and what is never told to anybody.
#include "providers/render/render.h"

#include <gtest/gtest.h>

#include <regex>

#include "tests/faults/a_report.h"

namespace gpucheck::faults {
namespace {

const FaultTable& table() {
    return std::get<FaultTable>(FaultTable::embedded());
}

ReportFacts facts_of(const Json& report) {
    auto read = read_report(dump_json(report));
    EXPECT_TRUE(std::holds_alternative<ReportFacts>(read)) << std::get<std::string>(read);
    return std::get<ReportFacts>(std::move(read));
}

Fact<std::string> known(const char* text) {
    return Fact<std::string>(text, "a test");
}

Place a_place() {
    Place place;
    place.instance_id = known("i-0example0000000001");
    place.region = known("us-west-2");
    place.project = known("project-1");
    place.zone = known("us-central1-a");
    place.instance_name = known("gpu-node-01");
    place.subscription = known("SUB");
    place.resource_id =
        known("/subscriptions/SUB/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/VM");
    place.physical_host = known("HOST00000001");
    place.node = known("gpu-node-01");
    return place;
}

/// All that tell somebody else; `line` is for the machine's own operator.
const std::vector<Target> kAll = {Target::azure_ghr,
                                  Target::gcp_report_host,
                                  Target::aws_report_instance_status,
                                  Target::oci_tag,
                                  Target::do_tag,
                                  Target::k8s_condition,
                                  Target::nvsentinel,
                                  Target::npd};

Rendering render_report(Target target, const Json& report, const Place& place = a_place()) {
    return render(target, facts_of(report), place, table());
}

Json body_of(const Rendered& one) {
    return std::get<Json>(parse_json(one.request.body));
}

Json missing_gpu() {
    return with(a_report(), {a_finding("gpu.count.missing", "fail", "host", "host")});
}

TEST(Render, TargetsHaveTheirNames) {
    for (const Target target : kAll) EXPECT_EQ(target_from(name_of(target)), target);
    EXPECT_EQ(target_from("line"), Target::line);
    EXPECT_EQ(target_from("azure"), std::nullopt);
    EXPECT_EQ(target_names(),
              "azure-ghr, gcp-report-host, aws-report-instance-status, oci-tag, do-tag, k8s-condition, "
              "nvsentinel, npd, line");
}

TEST(Render, GuestFaultsAreNeverTold) {
    const Json report =
        with(a_report(), {a_finding("kfd.absent", "fail", "guest", "/dev/kfd"),
                          a_finding("driver.bound.probe_failed", "fail", "unknown", "0000:83:00.0"),
                          a_finding("gpu.count.missing", "unknown", "host", "host")});
    for (const Target target : kAll) {
        const Rendering rendering = render_report(target, report);
        EXPECT_TRUE(rendering.requests.empty()) << name_of(target);
        EXPECT_EQ(rendering.line, "") << name_of(target);
        ASSERT_EQ(rendering.left_out.size(), 3U) << name_of(target);
        EXPECT_EQ(rendering.left_out[0], "kfd.absent on /dev/kfd: the guest's to mend");
        EXPECT_EQ(text_of(rendering), "");
    }
}

TEST(Render, TellsTheHostsFaultBesideAGuests) {
    const Json report = with(a_report(), {a_finding("kfd.absent", "fail", "guest", "/dev/kfd"),
                                          a_finding("gpu.count.missing", "fail", "host", "host")});
    for (const Target target : kAll) {
        const std::string text = text_of(render_report(target, report));
        EXPECT_NE(text, "") << name_of(target);
        EXPECT_EQ(text.find("kfd"), std::string::npos) << name_of(target) << text;
    }
}

TEST(Render, TellsNothingThatHasNoWord) {
    const Json report = with(a_report(), {a_finding("kernel.log.overflow", "fail", "host", "host"),
                                          a_finding("made.up.code", "fail", "host", "host")});
    const Rendering rendering = render_report(Target::azure_ghr, report);
    EXPECT_TRUE(rendering.requests.empty());
    ASSERT_EQ(rendering.left_out.size(), 2U);
    EXPECT_NE(rendering.left_out[1].find("no provider has a word for it"), std::string::npos);
}

TEST(Render, AzureKeysAndNameAreAsDocumented) {
    Json finding = a_finding("pcie.link.narrow", "fail", "host", "0000:83:00.0");
    finding["first"] = "2026-11-30T09:00:00.5Z";
    const Rendering rendering = render_report(Target::azure_ghr, with(missing_gpu(), {finding}));
    ASSERT_EQ(rendering.requests.size(), 2U) << "one for each category";
    const Rendered& one = rendering.requests[0];
    EXPECT_TRUE(one.destructive);
    EXPECT_EQ(one.request.method, "PUT");
    EXPECT_EQ(one.request.url,
              "https://management.azure.com/subscriptions/SUB/providers/Microsoft.Impact/workloadImpacts/"
              "0199f3a0-0000-7000-8000-000000000001:HpcMissingGpu?api-version=2025-01-01-preview");
    const Json properties = body_of(one).at("properties");
    EXPECT_EQ(properties.at("startDateTime"), "2026-11-30T10:00:00Z");
    EXPECT_EQ(properties.at("impactCategory"), "Resource.Hpc.Unhealthy.HpcMissingGpu");
    EXPECT_EQ(properties.at("impactDescription"),
              "gpucheck: gpu.count.missing on host: expected 8, observed 7");
    EXPECT_EQ(properties.at("impactedResourceId"),
              "/subscriptions/SUB/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/VM");
    EXPECT_EQ(properties.at("additionalProperties"), (Json{{"PhysicalHostName", "HOST00000001"}}));
    const Json second = body_of(rendering.requests[1]).at("properties");
    EXPECT_EQ(second.at("startDateTime"), "2026-11-30T09:00:00Z");
    EXPECT_EQ(second.at("additionalProperties"), (Json{{"PhysicalHostName", "HOST00000001"},
                                                       {"Manufacturer", "AMD"},
                                                       {"SerialNumber", "SN1"},
                                                       {"ModelNumber", "MI300X"},
                                                       {"Location", "0000:83:00.0"}}));
}

TEST(Render, AzureNamesKeepToTheRule) {
    const std::regex rule("^[a-zA-Z0-9][a-zA-Z0-9-:]*[a-zA-Z0-9]{3,120}$");
    for (const std::string& code : table().codes()) {
        const FaultRow* row = table().row(code);
        if (row != nullptr) {
            EXPECT_TRUE(std::regex_match("0199f3a0-0000-7000-8000-000000000001:" + row->azure, rule))
                << row->azure;
        }
    }
}

TEST(Render, AzureNamesNoGpuWhenThereAreSeveral) {
    const Json report = with(a_report(), {a_finding("pcie.link.narrow", "fail", "host", "0000:83:00.0"),
                                          a_finding("pcie.link.narrow", "fail", "host", "0000:84:00.0")});
    const Rendering rendering = render_report(Target::azure_ghr, report);
    ASSERT_EQ(rendering.requests.size(), 1U);
    EXPECT_FALSE(
        body_of(rendering.requests[0]).at("properties").at("additionalProperties").contains("Location"));
}

TEST(Render, GcpReportHostAsFaulty) {
    const Rendering rendering =
        render_report(Target::gcp_report_host,
                      with(missing_gpu(), {a_finding("burn.wrong", "fail", "host", "0000:84:00.0")}));
    ASSERT_EQ(rendering.requests.size(), 1U);
    const Rendered& one = rendering.requests[0];
    EXPECT_TRUE(one.destructive);
    EXPECT_EQ(one.request.method, "POST");
    EXPECT_EQ(one.request.url,
              "https://compute.googleapis.com/compute/v1/projects/project-1/zones/us-central1-a/instances/"
              "gpu-node-01/"
              "reportHostAsFaulty?requestId=0199f3a0-0000-7000-8000-000000000001");
    EXPECT_EQ(
        body_of(one),
        (Json{
            {"disruptionSchedule", "IMMEDIATE"},
            {"faultReasons",
             Json::array(
                 {Json{{"behavior", "UNRECOVERABLE_GPU_ERROR"},
                       {"description", "gpucheck: gpu.count.missing on host: expected 8, observed 7"}},
                  Json{{"behavior", "SILENT_DATA_CORRUPTION"},
                       {"description", "gpucheck: burn.wrong on 0000:84:00.0: expected 8, observed 7"}}})}}));
    EXPECT_NE(one.note.find("kubectl label node gpu-node-01 cloud.google.com/fault-behavior=XID"),
              std::string::npos);
}

TEST(Render, AwsReportInstanceStatus) {
    const Rendering rendering =
        render_report(Target::aws_report_instance_status,
                      with(missing_gpu(), {a_finding("burn.wrong", "fail", "host", "0000:84:00.0")}));
    ASSERT_EQ(rendering.requests.size(), 1U);
    const Rendered& one = rendering.requests[0];
    EXPECT_FALSE(one.destructive);
    EXPECT_EQ(one.request.url, "https://ec2.us-west-2.amazonaws.com/");
    EXPECT_EQ(
        one.request.body,
        "Action=ReportInstanceStatus&Version=2016-11-15&Status=impaired&InstanceId.1=i-0example0000000001"
        "&ReasonCode.1=performance-other&ReasonCode.2=other&StartTime=2026-11-30T10%3A00%3A00Z");
    Place china = a_place();
    china.region = known("cn-north-1");
    EXPECT_EQ(render_report(Target::aws_report_instance_status, missing_gpu(), china).requests[0].request.url,
              "https://ec2.cn-north-1.amazonaws.com.cn/");
}

TEST(Render, OciKeepsTheOtherTags) {
    const Rendering rendering = render_report(Target::oci_tag, missing_gpu());
    ASSERT_EQ(rendering.requests.size(), 2U);
    EXPECT_EQ(rendering.requests[0].request.method, "GET");
    EXPECT_FALSE(rendering.requests[0].destructive);
    const Rendered& update = rendering.requests[1];
    EXPECT_TRUE(update.destructive);
    EXPECT_EQ(update.request.method, "PUT");
    EXPECT_EQ(update.request.url,
              "https://iaas.us-west-2.oraclecloud.com/20160918/instances/i-0example0000000001");
    EXPECT_EQ(
        body_of(update).at("definedTags").at("ComputeInstanceHostActions").at("CustomerReportedHostStatus"),
        "unhealthy");
    EXPECT_EQ(update.holes, (std::vector<std::string>{"definedTags of GET", "etag of GET"}));
}

TEST(Render, DigitalOceanTags) {
    const Rendering rendering = render_report(
        Target::do_tag, with(missing_gpu(), {a_finding("amd.throttle.hot", "warn", "host", "0000:83:00.0")}));
    ASSERT_EQ(rendering.requests.size(), 4U);
    EXPECT_EQ(rendering.requests[0].request.url, "https://api.digitalocean.com/v2/tags");
    EXPECT_EQ(body_of(rendering.requests[0]), (Json{{"name", "gpucheck:fail:gpu-missing"}}));
    EXPECT_EQ(rendering.requests[1].request.url,
              "https://api.digitalocean.com/v2/tags/gpucheck:fail:gpu-missing/resources");
    EXPECT_EQ(
        body_of(rendering.requests[1]),
        (Json{{"resources",
               Json::array({Json{{"resource_id", "i-0example0000000001"}, {"resource_type", "droplet"}}})}}));
    EXPECT_EQ(body_of(rendering.requests[2]), (Json{{"name", "gpucheck:warn:thermal"}}));
}

TEST(Render, KubernetesCondition) {
    const Rendered one = render_report(Target::k8s_condition, missing_gpu()).requests.at(0);
    EXPECT_EQ(one.request.method, "PATCH");
    EXPECT_EQ(one.request.url, "https://kubernetes.default.svc/api/v1/nodes/gpu-node-01/status");
    EXPECT_EQ(one.request.headers,
              (std::vector<http::Header>{{"Content-Type", "application/strategic-merge-patch+json"}}));
    const Json condition = body_of(one).at("status").at("conditions").at(0);
    EXPECT_EQ(condition.at("type"), "GpuCheckFailed");
    EXPECT_EQ(condition.at("status"), "True");
    EXPECT_EQ(condition.at("reason"), "GpuCountMissing");
    EXPECT_EQ(condition.at("message"), "gpu.count.missing on host: expected 8, observed 7");
    EXPECT_EQ(condition.at("lastHeartbeatTime"), "2026-11-30T10:00:00Z");
}

TEST(Render, AHealthyNodeIsCalledSoAndAnUnknownOneIsNot) {
    Json report = a_report();
    for (const auto& [verdict, status] :
         {std::pair{"pass", "False"}, {"warn", "False"}, {"unknown", "Unknown"}}) {
        report["verdict"] = verdict;
        const Rendered one = render_report(Target::k8s_condition, report).requests.at(0);
        EXPECT_EQ(body_of(one).at("status").at("conditions").at(0).at("status"), status) << verdict;
        EXPECT_NE(render_report(Target::npd, report).line, "");
        EXPECT_TRUE(render_report(Target::azure_ghr, report).requests.empty());
        EXPECT_TRUE(render_report(Target::nvsentinel, report).requests.empty());
    }
}

TEST(Render, NvSentinelHealthEvents) {
    const Rendered one =
        render_report(Target::nvsentinel,
                      with(missing_gpu(), {a_finding("amd.throttle.hot", "warn", "host", "0000:83:00.0")}))
            .requests.at(0);
    const Json events = body_of(one).at("events");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].at("recommendedAction"), "REPLACE_VM");
    EXPECT_EQ(events[0].at("isFatal"), true);
    EXPECT_EQ(events[0].at("errorCode"), Json::array({"gpu.count.missing"}));
    EXPECT_EQ(events[0].at("entitiesImpacted"), Json::array());
    EXPECT_EQ(events[1].at("recommendedAction"), "NONE") << "a warning";
    EXPECT_EQ(events[1].at("isFatal"), false);
    EXPECT_EQ(events[1].at("entitiesImpacted"),
              Json::array({Json{{"entityType", "PCI"}, {"entityValue", "0000:83:00.0"}}}));
    EXPECT_EQ(events[1].at("nodeName"), "gpu-node-01");
}

TEST(Render, NpdLineHasEightyBytes) {
    Json finding = a_finding("gpu.count.missing", "fail", "host", "host");
    EXPECT_EQ(render_report(Target::npd, with(a_report(), {finding})).line,
              "gpu.count.missing on host: expected 8, observed 7");
    finding["observed"] = std::string(77, 'x') + "\xc3\xa4\xc3\xa4\xc3\xa4";
    for (std::size_t cut = 0; cut < 60; ++cut) {
        finding["expected"] = std::string(cut, 'y');
        const std::string line = render_report(Target::npd, with(a_report(), {finding, finding})).line;
        EXPECT_LE(line.size(), 80U);
        EXPECT_EQ(line.substr(line.size() - 5), " (+1)");
        EXPECT_EQ(dump_json(line).find("\\ufffd"), std::string::npos);
        EXPECT_EQ(dump_json(line).find("\xef\xbf\xbd"), std::string::npos) << "cut within a letter";
    }
}

TEST(Render, OneLineWhoeverHasToMendIt) {
    const auto line = [](const Json& report) { return render_report(Target::line, report).line; };
    Json guest = with(a_report(), {a_finding("kfd.node.denied", "fail", "guest", "/dev/kfd"),
                                   a_finding("gpu.count.missing", "fail", "host", "host")});
    EXPECT_TRUE(line(guest).starts_with("kfd.node.denied on /dev/kfd")) << line(guest);
    EXPECT_TRUE(line(guest).ends_with(" (+1)")) << line(guest);
    EXPECT_LE(line(guest).size(), 80U);
    guest["verdict"] = "unknown";
    guest["findings"] = Json::array({a_finding("clock.unset", "warn", "guest", "host"),
                                     a_finding("driver.not_ready", "unknown", "guest", "host")});
    EXPECT_TRUE(line(guest).starts_with("unknown: driver.not_ready on host")) << line(guest);
    guest["verdict"] = "warn";
    EXPECT_TRUE(line(guest).starts_with("warn: clock.unset on host")) << line(guest);
    guest["findings"] = Json::array();
    EXPECT_EQ(line(guest), "gpucheck: no fault found (warn)");
    guest["verdict"] = "fail";
    EXPECT_EQ(line(guest), "gpucheck: fail, and the report names no fault") << "never a pass";
    guest["verdict"] = "unknown";
    EXPECT_EQ(line(guest), "gpucheck: not everything could be looked at");
    EXPECT_TRUE(render_report(Target::line, guest).requests.empty());
}

TEST(Render, NamesWhatItDoesNotKnow) {
    for (const Target target :
         {Target::azure_ghr, Target::gcp_report_host, Target::aws_report_instance_status}) {
        Place nowhere;
        const Rendering rendering = render_report(target, missing_gpu(), nowhere);
        EXPECT_FALSE(rendering.requests.at(0).holes.empty()) << name_of(target);
        EXPECT_NE(text_of(rendering).find("<" + rendering.requests[0].holes[0] + ">"), std::string::npos);
    }
    EXPECT_TRUE(render_report(Target::azure_ghr, missing_gpu()).requests.at(0).holes.empty());
    EXPECT_TRUE(render_report(Target::gcp_report_host, missing_gpu()).requests.at(0).holes.empty());
}

TEST(Render, DescriptionsAreBounded) {
    Json report = a_report();
    for (int i = 0; i < 500; ++i) {
        Json finding = a_finding("pcie.link.narrow", "fail", "host", "0000:83:00.0");
        finding["observed"] = std::string(1500, 'x');
        report["findings"].push_back(finding);
    }
    const std::string description = body_of(render_report(Target::azure_ghr, report).requests.at(0))
                                        .at("properties")
                                        .at("impactDescription")
                                        .get<std::string>();
    EXPECT_LE(description.size(), 1010U);
    EXPECT_NE(description.find("; and 499 more"), std::string::npos) << description;
}

TEST(Render, TextIsARequest) {
    EXPECT_EQ(
        text_of(render_report(Target::aws_report_instance_status, missing_gpu())),
        "# Feedback only: AWS repairs nothing by it, and the instance's status stays as it is.\n"
        "POST https://ec2.us-west-2.amazonaws.com/\n"
        "Content-Type: application/x-www-form-urlencoded; charset=utf-8\n"
        "Authorization: <AWS Signature Version 4 by the instance's role (ec2:ReportInstanceStatus)>\n"
        "\n"
        "Action=ReportInstanceStatus&Version=2016-11-15&Status=impaired&InstanceId.1=i-0example0000000001"
        "&ReasonCode.1=performance-other&StartTime=2026-11-30T10%3A00%3A00Z\n");
}

}  // namespace
}  // namespace gpucheck::faults
