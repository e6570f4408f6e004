// Requests as they arrive at a provider, with their signatures; and everything that must keep one from being
// sent.
#include "providers/send/send.h"

#include <gtest/gtest.h>

#include "providers/send/sigv4.h"
#include "tests/faults/a_report.h"
#include "tests/faults/moved_client.h"
#include "tests/loopback/script.h"

namespace gpucheck::faults {
namespace {

using loopback::Reply;
using loopback::Seen;
using loopback::Server;

constexpr const char* kSecretKey = "SECRETKEYsecretkeySECRETKEY+/12";
constexpr const char* kAwsToken = "SESSIONTOKENsessiontoken//==";
constexpr const char* kBearer = "BEARERTOKENbearertoken.abc-_";

constexpr const char* kMetadata = R"({"answers": {
"PUT /latest/api/token": {"body": "session"},
"GET /latest/dynamic/instance-identity/document": {"body": "{\"instanceId\":\"i-0example0000000001\",\"region\":\"us-west-2\"}",
  "requires": {"X-aws-ec2-metadata-token": "session"}},
"GET /latest/meta-data/iam/security-credentials/": {"body": "gpucheck-role\n", "requires": {"X-aws-ec2-metadata-token": "session"}},
"GET /latest/meta-data/iam/security-credentials/gpucheck-role":
  {"body": "{\"AccessKeyId\":\"ASIAEXAMPLE\",\"SecretAccessKey\":\"SECRETKEYsecretkeySECRETKEY+/12\",\"Token\":\"SESSIONTOKENsessiontoken//==\"}",
   "requires": {"X-aws-ec2-metadata-token": "session"}},
"GET /metadata/instance?api-version=2021-02-01":
  {"body": "{\"compute\":{\"resourceId\":\"/subscriptions/SUB-1/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/VM\",\"subscriptionId\":\"SUB-1\",\"vmId\":\"VMID-1\"}}",
   "requires": {"Metadata": "true"}},
"GET /metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fmanagement.azure.com%2F":
  {"body": "{\"access_token\":\"BEARERTOKENbearertoken.abc-_\"}", "requires": {"Metadata": "true"}},
"GET /computeMetadata/v1/project/project-id": {"headers": {"Metadata-Flavor": "Google"}, "body": "project-1"},
"GET /computeMetadata/v1/instance/zone": {"headers": {"Metadata-Flavor": "Google"}, "body": "projects/1/zones/us-central1-a"},
"GET /computeMetadata/v1/instance/name": {"headers": {"Metadata-Flavor": "Google"}, "body": "gpu-node-01"},
"GET /computeMetadata/v1/instance/id": {"headers": {"Metadata-Flavor": "Google"}, "body": "123"},
"GET /computeMetadata/v1/instance/service-accounts/default/token":
  {"headers": {"Metadata-Flavor": "Google"}, "body": "{\"access_token\":\"BEARERTOKENbearertoken.abc-_\"}"},
"GET /metadata/v1/id": {"body": "900000001"}
}})";

// Everything around one send: a metadata service and a provider's API over TLS, both on loopback.
class Send : public ::testing::Test {
  protected:
    Send() : report_(with(a_report(), {a_finding("gpu.count.missing", "fail", "host", "host")})) {
        report_["instance"]["provider"] = nullptr;  // nobody could tell, which is no reason to refuse
        sender_.boot_id = Fact<std::string>("11111111-2222-4333-8444-555555555555", "test");
        sender_.physical_host = Fact<std::string>("HOST00000001", "test");
        sender_.digitalocean_token = Fact<std::string>(kBearer, "test");
        sender_.now = "2026-11-30T10:05:00Z";
    }

    Outcome send_to(Target target, Consent consent, loopback::Handler provider) {
        auto scripted = loopback::script(metadata_);
        EXPECT_TRUE(std::holds_alternative<loopback::Handler>(scripted));
        const Server metadata(std::get<loopback::Handler>(scripted));
        const Server api(std::move(provider), {.tls = &authority()});
        MovedClient to_metadata(metadata);
        MovedClient to_api(api, authority().ca_file());
        auto facts = read_report(dump_json(report_));
        EXPECT_TRUE(std::holds_alternative<ReportFacts>(facts));
        Outcome outcome = send(target, std::get<ReportFacts>(facts), sender_, consent, to_metadata, to_api,
                               std::get<FaultTable>(FaultTable::embedded()));
        seen_ = api.seen();
        asked_ = metadata.seen().size();
        for (const char* secret : {kSecretKey, kAwsToken, kBearer}) {
            EXPECT_EQ(outcome.why.find(secret), std::string::npos);
            EXPECT_EQ(text_of(outcome.rendering).find(secret), std::string::npos);
            for (const std::string& answer : outcome.answers)
                EXPECT_EQ(answer.find(secret), std::string::npos);
        }
        return outcome;
    }
    Outcome send_to(Target target, Consent consent, Reply reply) {
        return send_to(target, consent, [reply](const Seen&) { return reply; });
    }

    static const loopback::Authority& authority() {
        static const loopback::Authority one;
        return one;
    }

    Json report_;
    Sender sender_;
    std::string metadata_ = kMetadata;
    std::vector<Seen> seen_;
    std::size_t asked_ = 0;
};

constexpr Consent kAgreed{true, false};
const std::vector<Target> kSendable = {Target::azure_ghr, Target::gcp_report_host,
                                       Target::aws_report_instance_status, Target::do_tag};

// The signature as the receiver computes it: over what arrived.
std::string signature_over(const Seen& seen) {
    http::Request request;
    request.method = seen.method;
    request.url = seen.header("x-asked");
    request.headers = {{"Content-Type", seen.header("content-type")}};
    request.body = seen.body;
    aws::sign(request, {"ASIAEXAMPLE", kSecretKey, kAwsToken},
              {"us-west-2", "ec2", seen.header("x-amz-date")}, std::get<crypto::Hash>(crypto::Hash::open()));
    return request.headers.back().value;
}

TEST_F(Send, AwsIsSignedByTheRole) {
    const Outcome outcome = send_to(
        Target::aws_report_instance_status, {},
        Reply{.body = "<ReportInstanceStatusResponse><return>true</return></ReportInstanceStatusResponse>"});
    ASSERT_EQ(outcome.sent, Sent::done) << outcome.why;
    ASSERT_EQ(seen_.size(), 1U);
    const Seen& seen = seen_[0];
    EXPECT_EQ(seen.method, "POST");
    EXPECT_EQ(seen.header("x-asked"), "https://ec2.us-west-2.amazonaws.com/");
    EXPECT_EQ(
        seen.body,
        "Action=ReportInstanceStatus&Version=2016-11-15&Status=impaired&InstanceId.1=i-0example0000000001"
        "&ReasonCode.1=performance-other&StartTime=2026-11-30T10%3A00%3A00Z");
    EXPECT_EQ(seen.header("x-amz-date"), "20261130T100500Z");
    EXPECT_EQ(seen.header("x-amz-security-token"), kAwsToken);
    EXPECT_NE(
        seen.header("authorization").find("SignedHeaders=content-type;host;x-amz-date;x-amz-security-token"),
        std::string::npos);
    EXPECT_EQ(seen.header("authorization"), signature_over(seen));
}

TEST_F(Send, AwsDryRunAsksWhetherItMay) {
    Outcome outcome = send_to(Target::aws_report_instance_status, {false, true},
                              Reply{.status = 412, .body = "<Code>DryRunOperation</Code>"});
    EXPECT_EQ(outcome.sent, Sent::done) << outcome.why;
    ASSERT_EQ(seen_.size(), 1U);
    EXPECT_NE(seen_[0].body.find("&DryRun=true"), std::string::npos);
    EXPECT_EQ(seen_[0].header("authorization"), signature_over(seen_[0]));
    outcome = send_to(Target::aws_report_instance_status, {false, true},
                      Reply{.status = 403, .body = "<Code>UnauthorizedOperation</Code>"});
    EXPECT_EQ(outcome.sent, Sent::failed);
    EXPECT_NE(outcome.why.find("403: <Code>UnauthorizedOperation</Code>"), std::string::npos) << outcome.why;
    outcome = send_to(Target::aws_report_instance_status, {}, Reply{.body = "<return>false</return>"});
    EXPECT_EQ(outcome.sent, Sent::failed) << "200 alone is no yes";
}

TEST_F(Send, AzureByTheManagedIdentity) {
    const Outcome outcome = send_to(Target::azure_ghr, kAgreed, Reply{.status = 200, .body = "{}"});
    ASSERT_EQ(outcome.sent, Sent::done) << outcome.why;
    ASSERT_EQ(seen_.size(), 1U);
    EXPECT_EQ(seen_[0].method, "PUT");
    EXPECT_EQ(seen_[0].header("x-asked"),
              "https://management.azure.com/subscriptions/SUB-1/providers/Microsoft.Impact/workloadImpacts/"
              "0199f3a0-0000-7000-8000-000000000001:HpcMissingGpu?api-version=2025-01-01-preview");
    EXPECT_EQ(seen_[0].header("authorization"), std::string("Bearer ") + kBearer);
    EXPECT_EQ(seen_[0].header("content-type"), "application/json");
    const Json properties = std::get<Json>(parse_json(seen_[0].body)).at("properties");
    EXPECT_EQ(properties.at("impactCategory"), "Resource.Hpc.Unhealthy.HpcMissingGpu");
    EXPECT_EQ(properties.at("impactedResourceId"),
              "/subscriptions/SUB-1/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/VM");
    EXPECT_EQ(properties.at("additionalProperties").at("PhysicalHostName"), "HOST00000001");
}

TEST_F(Send, AzureNeedsThePhysicalHostsName) {
    sender_.physical_host = Missing{"/var/lib/hyperv/.kvp_pool_3", "ENOENT"};
    const Outcome outcome = send_to(Target::azure_ghr, kAgreed, Reply{});
    EXPECT_EQ(outcome.sent, Sent::failed);
    EXPECT_EQ(outcome.why, "/var/lib/hyperv/.kvp_pool_3: ENOENT");
    EXPECT_TRUE(seen_.empty());
}

TEST_F(Send, GcpByTheServiceAccount) {
    const Outcome outcome = send_to(Target::gcp_report_host, kAgreed, Reply{.body = "{}"});
    ASSERT_EQ(outcome.sent, Sent::done) << outcome.why;
    ASSERT_EQ(seen_.size(), 1U);
    EXPECT_EQ(seen_[0].method, "POST");
    EXPECT_EQ(seen_[0].header("x-asked"),
              "https://compute.googleapis.com/compute/v1/projects/project-1/zones/us-central1-a/instances/"
              "gpu-node-01/"
              "reportHostAsFaulty?requestId=0199f3a0-0000-7000-8000-000000000001");
    EXPECT_EQ(seen_[0].header("authorization"), std::string("Bearer ") + kBearer);
    EXPECT_EQ(std::get<Json>(parse_json(seen_[0].body)).at("disruptionSchedule"), "IMMEDIATE");
}

TEST_F(Send, DigitalOceanMakesTheTagAndAttachesIt) {
    const Outcome outcome = send_to(Target::do_tag, {}, [](const Seen& seen) {
        return Reply{seen.target == "/v2/tags" ? 422 : 204, {}, {}};  // it exists already
    });
    ASSERT_EQ(outcome.sent, Sent::done) << outcome.why;
    ASSERT_EQ(seen_.size(), 2U);
    EXPECT_EQ(seen_[0].header("x-asked"), "https://api.digitalocean.com/v2/tags");
    EXPECT_EQ(seen_[1].header("x-asked"),
              "https://api.digitalocean.com/v2/tags/gpucheck:fail:gpu-missing/resources");
    EXPECT_EQ(std::get<Json>(parse_json(seen_[1].body)).at("resources").at(0).at("resource_id"), "900000001");
    EXPECT_EQ(seen_[1].header("authorization"), std::string("Bearer ") + kBearer);
    EXPECT_EQ(outcome.answers.size(), 2U);
    EXPECT_EQ(send_to(Target::do_tag, {}, Reply{422, {}, {}}).sent, Sent::failed) << "attaching has to work";
    EXPECT_EQ(seen_.size(), 2U);
}

TEST_F(Send, NothingDestructiveWithoutConsent) {
    for (const Target target : {Target::azure_ghr, Target::gcp_report_host}) {
        const Outcome outcome = send_to(target, {}, Reply{});
        EXPECT_EQ(outcome.sent, Sent::refused) << name_of(target);
        EXPECT_NE(outcome.why.find("--destructive"), std::string::npos);
        EXPECT_TRUE(seen_.empty());
        EXPECT_EQ(asked_, 0U) << "no token is taken for it either";
    }
}

TEST_F(Send, ADryRunSendsNothing) {
    for (const Target target : {Target::azure_ghr, Target::gcp_report_host, Target::do_tag}) {
        for (const bool destructive : {false, true}) {
            const Outcome outcome = send_to(target, {destructive, true}, Reply{});
            EXPECT_EQ(outcome.sent, Sent::done) << outcome.why;
            EXPECT_TRUE(seen_.empty()) << name_of(target);
            EXPECT_FALSE(outcome.rendering.requests.empty());
            EXPECT_TRUE(outcome.rendering.requests[0].holes.empty());
        }
    }
}

TEST_F(Send, OnlyAReportOfThisMachineInThisBoot) {
    const Json good = report_;
    const auto refused = [&](const char* what) {
        for (const Target target : kSendable) {
            const Outcome outcome = send_to(target, kAgreed, Reply{});
            EXPECT_EQ(outcome.sent, Sent::refused) << what << ": " << name_of(target);
            EXPECT_FALSE(outcome.why.empty());
            EXPECT_TRUE(seen_.empty());
        }
        report_ = good;
    };
    report_["simulated"] = true;
    refused("simulated");
    report_["injected"] = "bitflip";
    refused("injected");
    report_["boot_id"] = "99999999-2222-4333-8444-555555555555";
    refused("another boot");
    report_["boot_id"] = nullptr;
    refused("no boot");
    report_["instance"]["id"] = "another";
    refused("another instance");
    sender_.boot_id = Missing{"/proc/sys/kernel/random/boot_id", "EACCES"};
    refused("a machine that does not know its boot");
}

TEST_F(Send, OnlyToTheProviderOfTheReport) {
    for (const Target target : kSendable) {
        report_["instance"]["provider"] = target == Target::do_tag ? "aws" : "digitalocean";
        EXPECT_EQ(send_to(target, kAgreed, Reply{}).sent, Sent::refused) << name_of(target);
        EXPECT_EQ(asked_, 0U);
    }
    report_["instance"]["provider"] = "digitalocean";
    EXPECT_EQ(send_to(Target::do_tag, {}, Reply{204, {}, {}}).sent, Sent::done);
}

TEST_F(Send, TheRightInstanceIsSent) {
    report_["instance"]["id"] = "900000001";
    EXPECT_EQ(send_to(Target::do_tag, {}, Reply{204, {}, {}}).sent, Sent::done);
}

TEST_F(Send, GuestFaultsSendNothing) {
    report_["findings"] = Json::array({a_finding("kfd.absent", "fail", "guest", "/dev/kfd")});
    for (const Target target : kSendable) {
        EXPECT_EQ(send_to(target, kAgreed, Reply{}).sent, Sent::nothing) << name_of(target);
        EXPECT_TRUE(seen_.empty());
        EXPECT_EQ(asked_, 0U);
    }
}

TEST_F(Send, TargetsWithoutOurIdentityAreRefused) {
    for (const Target target : {Target::oci_tag, Target::k8s_condition, Target::nvsentinel, Target::npd}) {
        EXPECT_EQ(send_to(target, kAgreed, Reply{}).sent, Sent::refused) << name_of(target);
        EXPECT_TRUE(seen_.empty());
    }
}

TEST_F(Send, SaysWhatTheProviderSays) {
    for (const int status : {302, 400, 403, 404, 429, 500}) {
        for (const Target target : kSendable) {
            const Outcome outcome = send_to(target, kAgreed, Reply{status, {}, "{\"message\":\"no\"}"});
            EXPECT_EQ(outcome.sent, Sent::failed) << status;
            EXPECT_NE(outcome.why.find("HTTP " + std::to_string(status) + ": {\"message\":\"no\"}"),
                      std::string::npos)
                << outcome.why;
            EXPECT_EQ(seen_.size(), 1U);
        }
    }
}

TEST_F(Send, NeverRepeatsASecretThatComesBack) {
    const Outcome outcome = send_to(Target::do_tag, {}, Reply{401, {}, std::string("bad token ") + kBearer});
    EXPECT_EQ(outcome.sent, Sent::failed);
    EXPECT_EQ(outcome.why, "POST https://api.digitalocean.com/v2/tags: HTTP 401");
}

TEST_F(Send, AHostileMetadataServiceGetsNoTokenSentElsewhere) {
    const std::string good = metadata_;
    const auto swap = [&](const std::string& from, const std::string& to) {
        metadata_ = good;
        const std::size_t at = metadata_.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        metadata_.replace(at, from.size(), to);
    };
    const auto fails = [&](Target target) {
        const Outcome outcome = send_to(target, kAgreed, Reply{});
        EXPECT_EQ(outcome.sent, Sent::failed) << outcome.why;
        EXPECT_TRUE(seen_.empty()) << metadata_;
    };
    swap("us-west-2", "evil.example/#");
    fails(Target::aws_report_instance_status);
    swap("us-west-2", "x@evil.example");
    fails(Target::aws_report_instance_status);
    swap("gpucheck-role\\n", "../../../latest/user-data\\n");
    fails(Target::aws_report_instance_status);
    swap("\\\"SUB-1\\\"", "\\\"SUB?x=\\\"");
    fails(Target::azure_ghr);
    swap("us-central1-a", "a?b");
    fails(Target::gcp_report_host);
    swap("BEARERTOKENbearertoken.abc-_", "x\\\\r\\\\nX-Other: 1");
    fails(Target::azure_ghr);
    swap("900000001", "900000001/actions");
    fails(Target::do_tag);
}

TEST_F(Send, SaysWhichAnswerIsMissing) {
    metadata_ = R"({"default": {"status": 404}})";
    for (const Target target : kSendable) {
        const Outcome outcome = send_to(target, kAgreed, Reply{});
        EXPECT_EQ(outcome.sent, Sent::failed);
        EXPECT_NE(outcome.why.find("HTTP 404"), std::string::npos) << outcome.why;
        EXPECT_TRUE(seen_.empty());
    }
}

TEST(Kvp, FindsTheHostInItsPool) {
    const auto record = [](std::string key, std::string value) {
        key.resize(512, '\0');
        value.resize(2048, '\0');
        return key + value;
    };
    const std::string pool =
        record("HostName", "A") + record("PhysicalHostName", "HOST00000001") + record("X", "B");
    EXPECT_TRUE(kvp_value(pool, "PhysicalHostName", "pool").is(std::string("HOST00000001")));
    EXPECT_FALSE(kvp_value(pool, "Physical", "pool").known());
    EXPECT_FALSE(kvp_value("", "PhysicalHostName", "pool").known());
    EXPECT_FALSE(kvp_value(pool.substr(0, 4000), "PhysicalHostName", "pool").known())
        << "a record that is cut off";
    EXPECT_FALSE(kvp_value(record("PhysicalHostName", ""), "PhysicalHostName", "pool").known());
    EXPECT_FALSE(kvp_value(record("PhysicalHostName", "A\nB"), "PhysicalHostName", "pool").known());
    EXPECT_TRUE(
        kvp_value(std::string(2560, 'A'), "PhysicalHostName", "pool").why().find("no PhysicalHostName") == 0);
}

}  // namespace
}  // namespace gpucheck::faults
