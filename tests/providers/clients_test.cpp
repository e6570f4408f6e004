// What each metadata service answers, and every way in which it does not: none may cost more than its
// deadline, and none may become an answer.
#include <gtest/gtest.h>

#include "providers/http/recorded.h"
#include "providers/instance.h"
#include "providers/price.h"
#include "providers/recording.h"
#include "tests/loopback/loopback.h"

namespace gpucheck::providers {
namespace {

using std::chrono::milliseconds;
using Clock = Questions::Clock;

// The same outcome for each request; what was asked is kept.
class Scripted final : public http::Client {
  public:
    explicit Scripted(http::Outcome outcome) : outcome_(std::move(outcome)) {}
    http::Outcome perform(const http::Request& request) override {
        asked.push_back(request);
        return outcome_;
    }
    std::vector<http::Request> asked;

  private:
    http::Outcome outcome_;
};

constexpr const char* kAnswers = R"({
"GET http://169.254.169.254/metadata/v1.json": {"status": 200, "body": "[{\"droplet_id\": \"900000001\", \"auth_key\": \"PLANTED\", \"region\": \"nyc3\", \"tags\": null}]"},
"GET https://api.digitalocean.com/v2/droplets/900000001": {"status": 200, "requires": {"Authorization": "Bearer PLANTED-TOKEN"}, "body": "{\"droplet\": {\"size_slug\": \"gpu-mi300x8-1536gb\", \"size\": {\"price_hourly\": 20.72, \"gpu_info\": {\"count\": 8, \"vram\": {\"amount\": 1536}}}}}"},
"PUT http://169.254.169.254/latest/api/token": {"status": 200, "body": "TOKEN=="},
"GET http://169.254.169.254/latest/dynamic/instance-identity/document": {"status": 200, "requires": {"X-aws-ec2-metadata-token": "TOKEN=="}, "body": "{\"instanceId\": \"i-0example0000000001\", \"instanceType\": \"p5.48xlarge\", \"region\": \"us-west-2\", \"availabilityZone\": \"us-west-2b\", \"billingProducts\": null}"},
"GET http://169.254.169.254/latest/meta-data/instance-life-cycle": {"status": 200, "requires": {"X-aws-ec2-metadata-token": "TOKEN=="}, "body": "spot\n"},
"GET http://metadata.google.internal/computeMetadata/v1/?recursive=true&alt=json": {"status": 200, "requires": {"Metadata-Flavor": "Google"}, "body": "{\"instance\": {\"id\": 1234567890123456789, \"machineType\": \"projects/1/machineTypes/a3-highgpu-8g\", \"zone\": \"projects/1/zones/us-central1-a\", \"scheduling\": {\"preemptible\": \"FALSE\"}}}"},
"GET http://169.254.169.254/metadata/instance?api-version=2021-02-01": {"status": 200, "requires": {"Metadata": "true"}, "body": "{\"compute\": {\"location\": \"westus3\", \"vmId\": \"00000000-0000-0000-0000-000000000002\", \"vmSize\": \"Standard_ND96isr_MI300X_v5\", \"zone\": \"\", \"priority\": \"Regular\"}}"},
"GET http://169.254.169.254/opc/v2/instance/": {"status": 200, "requires": {"Authorization": "Bearer Oracle"}, "body": "{\"id\": \"ocid1.instance.oc1.phx.example\", \"shape\": \"BM.GPU.MI300X.8\", \"region\": \"phx\", \"canonicalRegionName\": \"us-phoenix-1\", \"availabilityDomain\": \"XXXX:PHX-AD-1\", \"metadata\": {\"user_data\": \"PLANTED\"}}"},
"GET http://169.254.169.254/v1.json": {"status": 200, "body": "{\"instance-v2-id\": \"aaaabbbb\", \"region\": {\"regioncode\": \"EWR\"}}"},
"GET http://metadata.nebius.internal/v1/instance-data": {"error": "dns"},
"GET http://169.254.169.254/v1/instance-data": {"status": 200, "requires": {"Metadata": "true"}, "body": "{\"id\": \"computeinstance-example\", \"platform\": \"gpu-h200-sxm\", \"preset\": \"8gpu-128vcpu-1600gb\", \"region\": \"eu-west1\"}"},
"GET http://169.254.169.254/openstack/latest/meta_data.json": {"status": 200, "body": "{\"uuid\": \"83679162-1378-4288-a2d4-70e13ec132aa\", \"availability_zone\": \"nova\"}"},
"GET http://169.254.169.254/latest/meta-data/instance-type": {"status": 200, "body": "g1.h100x8"}
})";

Identity asked(http::Client& client, std::string_view provider, const Permissions& may = {},
               milliseconds deadline = milliseconds(5000)) {
    Questions questions(client, Clock::now() + deadline, {});
    Identity identity;
    if (!provider.empty()) identity.instance.provider = Fact<std::string>(std::string(provider), "test");
    ask(questions, may, identity);
    return identity;
}

std::string text(const Fact<std::string>& fact) {
    return fact.known() ? *fact : "(" + fact.why() + ")";
}

std::unique_ptr<http::Client> recorded(const char* answers = kAnswers) {
    return std::get<0>(http::recorded_client(answers));
}

TEST(Clients, EachServiceTellsWhoTheInstanceIs) {
    const auto client = recorded();
    struct Case {
        const char *provider, *id, *type, *region;
    };
    for (const Case& one :
         {Case{"aws", "i-0example0000000001", "p5.48xlarge", "us-west-2"},
          Case{"gcp", "1234567890123456789", "a3-highgpu-8g", "us-central1"},
          Case{"azure", "00000000-0000-0000-0000-000000000002", "Standard_ND96isr_MI300X_v5", "westus3"},
          Case{"oci", "ocid1.instance.oc1.phx.example", "BM.GPU.MI300X.8", "us-phoenix-1"},
          Case{"nebius", "computeinstance-example", "gpu-h200-sxm/8gpu-128vcpu-1600gb", "eu-west1"}}) {
        const Identity identity = asked(*client, one.provider);
        EXPECT_EQ(text(identity.instance.id), one.id) << one.provider;
        EXPECT_EQ(text(identity.instance.type), one.type) << one.provider;
        EXPECT_EQ(text(identity.instance.region), one.region) << one.provider;
    }
    EXPECT_EQ(text(asked(*client, "aws").instance.lifecycle), "spot");
    EXPECT_EQ(text(asked(*client, "gcp").instance.lifecycle), "on-demand");
    EXPECT_EQ(text(asked(*client, "gcp").instance.zone), "us-central1-a");
    EXPECT_EQ(text(asked(*client, "azure").instance.zone), "(empty)");
    EXPECT_EQ(text(asked(*client, "openstack").instance.type), "g1.h100x8");
    EXPECT_EQ(*asked(*client, "oci").promised.gpu_count, 8U);
    EXPECT_EQ(*asked(*client, "nebius").promised.gpu_count, 8U);
    EXPECT_EQ(text(asked(*client, "vultr").instance.id), "aaaabbbb");
    EXPECT_EQ(text(asked(*client, "vultr").instance.region), "EWR");
    EXPECT_FALSE(asked(*client, "vultr").instance.type.known());
}

TEST(Clients, DigitalOceanTellsItsSizeToATokenOnly) {
    const auto client = recorded();
    const Identity without = asked(*client, "digitalocean");
    EXPECT_EQ(text(without.instance.id), "900000001");
    EXPECT_NE(without.instance.type.why().find("--provider-token"), std::string::npos);
    const Identity with = asked(*client, "digitalocean", {"PLANTED-TOKEN", false, "2026-11-30"});
    EXPECT_EQ(text(with.instance.type), "gpu-mi300x8-1536gb");
    EXPECT_EQ(*with.promised.gpu_count, 8U);
    ASSERT_TRUE(with.instance.price.known()) << with.instance.price.why();
    EXPECT_DOUBLE_EQ(*with.instance.price->instance_usd, 20.72);
    EXPECT_DOUBLE_EQ(*with.instance.price->gpu_usd, 2.59);
    const Identity wrong = asked(*client, "digitalocean", {"OTHER", false, "2026-11-30"});
    EXPECT_NE(wrong.instance.type.why().find("401"), std::string::npos);
}

TEST(Clients, EveryFailureOfEveryServiceIsAReasonAndNoAnswer) {
    struct Case {
        http::Outcome outcome;
        const char* word;
    };
    using http::Failed, http::Failure, http::Response;
    const std::vector<Case> cases{
        {Failed{Failure::timeout, ""}, "no answer within"},
        {Failed{Failure::refused, ""}, "refused"},
        {Failed{Failure::unreachable, ""}, "unreachable"},
        {Failed{Failure::reset, ""}, "reset"},
        {Failed{Failure::dns, ""}, "resolve"},
        {Failed{Failure::tls, ""}, "TLS"},
        {Failed{Failure::too_large, ""}, "larger"},
        {Failed{Failure::malformed, "wrong Content-Length"}, "malformed"},
        {Response{302, {{"location", "http://203.0.113.9/"}}, ""}, "redirected"},
        {Response{401, {}, ""}, "401"},
        {Response{403, {}, ""}, "403"},
        {Response{404, {}, "not found"}, "404"},
        {Response{429, {}, ""}, "429"},
        {Response{503, {}, ""}, "503"},
        {Response{200, {}, "{\"droplet_id\": "}, "malformed"},
        {Response{200, {}, std::string("\x00\xff\xfe junk", 9)}, "malformed"},
        {Response{200, {}, "[1, 2]"}, "malformed"},
        {Response{200, {}, std::string(100'000, '[')}, "malformed"},
    };
    for (const char* provider :
         {"digitalocean", "aws", "gcp", "azure", "oci", "vultr", "nebius", "openstack"}) {
        for (const Case& one : cases) {
            Scripted client(one.outcome);
            const Identity identity = asked(client, provider, {}, milliseconds(3000));
            ASSERT_FALSE(identity.instance.id.known()) << provider << " " << one.word;
            ASSERT_FALSE(identity.instance.type.known()) << provider << " " << one.word;
            // AWS takes a text for its token: junk goes wrong one request later.
            const std::string why = identity.instance.id.why();
            EXPECT_NE(why.find(one.word), std::string::npos) << provider << ": " << why;
            EXPECT_FALSE(identity.promised.gpu_count.known()) << provider;
            EXPECT_FALSE(client.asked.empty());
            EXPECT_LT(client.asked.size(), 12U) << provider << " " << one.word;
        }
    }
}

TEST(Clients, ValuesThatCannotBeAreMissing) {
    for (const char* id : {"null", "\"\"", "12.5", "-3", "{}", "\"i-0abc\"", "\"1\\u00002\"", "[]"}) {
        Scripted client(http::Response{200, {}, std::string("{\"droplet_id\": ") + id + "}"});
        EXPECT_FALSE(asked(client, "digitalocean").instance.id.known()) << id;
    }
    Scripted number(http::Response{200, {}, "{\"droplet_id\": 900000001}"});
    EXPECT_EQ(text(asked(number, "digitalocean").instance.id), "900000001");
    for (const char* preset : {"gpu-16vcpu", "-1gpu-", "99999999999gpu-1vcpu", "8cpu", ""}) {
        EXPECT_FALSE(
            gpus_named("nebius", Fact<std::string>(std::string("gpu-h200-sxm/") + preset, "")).known())
            << preset;
    }
    EXPECT_FALSE(gpus_named("oci", Fact<std::string>("VM.Standard.E5.8", "")).known());
    EXPECT_EQ(*gpus_named("oci", Fact<std::string>("VM.GPU.A10.2", "")), 2U);
}

TEST(Clients, HopLimitIsToldFromADeadService) {
    class NoToken final : public http::Client {
      public:
        explicit NoToken(bool alive) : alive_(alive) {}
        http::Outcome perform(const http::Request& request) override {
            if (request.method == "GET" && alive_) return http::Response{401, {}, ""};
            return http::Failed{http::Failure::timeout, ""};
        }

      private:
        bool alive_;
    };
    NoToken container(true), dead(false);
    EXPECT_NE(asked(container, "aws").instance.type.why().find("hop limit"), std::string::npos);
    EXPECT_EQ(asked(dead, "aws").instance.type.why().find("hop limit"), std::string::npos);
}

TEST(Clients, NobodyIsAskedWithoutAProvider) {
    Scripted client(http::Response{200, {}, "{}"});
    EXPECT_FALSE(asked(client, "").instance.id.known());
    EXPECT_NE(asked(client, "crusoe").instance.type.why().find("crusoe"), std::string::npos);
    EXPECT_TRUE(client.asked.empty());
}

TEST(Clients, BusyServicesAreAskedAgain) {
    class Busy final : public http::Client {
      public:
        http::Outcome perform(const http::Request&) override {
            if (++asked < 3) return http::Response{429, {}, ""};
            return http::Response{200, {}, "{\"droplet_id\": 1}"};
        }
        int asked = 0;
    } client;
    EXPECT_EQ(text(asked(client, "digitalocean").instance.id), "1");
    EXPECT_EQ(client.asked, 3);
}

TEST(Clients, ListsOfPricesGetTheTimeThatTheyNeed) {
    Scripted client(http::Failed{http::Failure::timeout, ""});
    Questions questions(client, Clock::now() + std::chrono::minutes(1), {});
    Instance plan;
    plan.type = Fact<std::string>("vbm-x", "test");
    EXPECT_FALSE(ask_vultr_price(questions, plan, "2026-11-30").known());
    questions.json(get("http://169.254.169.254/metadata/v1.json"));
    ASSERT_EQ(client.asked.size(), 2U);
    EXPECT_EQ(client.asked[0].total_timeout, milliseconds(10'000));
    EXPECT_EQ(client.asked[1].total_timeout, milliseconds(2000)) << "a service of this link";
    Questions hurried(client, Clock::now() + milliseconds(500), {});
    ask_vultr_price(hurried, plan, "2026-11-30");
    EXPECT_LE(client.asked[2].total_timeout, milliseconds(500));
}

TEST(Clients, ProbeTakesOnlyAnAnswerOfItsOwnKind) {
    const auto client = recorded(
        R"({"GET http://169.254.169.254/opc/v2/instance/": {"status": 200, "body": "{\"id\": \"ocid1.instance.oc1.x\", \"shape\": \"BM.GPU.H100.8\"}"},
        "GET http://169.254.169.254/metadata/v1.json": {"status": 200, "body": "{\"droplet_id\": \"hello\"}"}})");
    Questions questions(*client, Clock::now() + milliseconds(5000), {});
    Identity identity;
    probe(questions, {}, identity);
    EXPECT_EQ(text(identity.instance.provider), "oci");
    EXPECT_NE(identity.instance.provider.source().find("likely"), std::string::npos);
    Scripted stranger(http::Response{200, {}, "{\"id\": \"router-7\", \"model\": \"x\"}"});
    Questions second(stranger, Clock::now() + milliseconds(5000), {});
    Identity nobody;
    probe(second, {}, nobody);
    EXPECT_FALSE(nobody.instance.provider.known());
    EXPECT_FALSE(nobody.instance.id.known());
}

TEST(Clients, CloudInitKeepsTheTypeWhereTheCloudWroteIt) {
    const Identity aws = from_cloud_init(
        R"({"v1": {"instance_id": "i-0123456789abcdef0", "region": "us-west-2", "availability_zone": "us-west-2c"},
            "ds": {"dynamic": {"instance_identity": {"document": {"instanceType": "g5.12xlarge"}}}}})",
        "instance-data");
    EXPECT_EQ(text(aws.instance.type), "g5.12xlarge");
    EXPECT_EQ(text(aws.instance.zone), "us-west-2c");
    EXPECT_FALSE(from_cloud_init(R"({"v1": {"instance_id": "iid-01"}})", "x").instance.type.known());
    EXPECT_NE(from_cloud_init("not json", "x").instance.id.why().find("malformed"), std::string::npos);
}

TEST(Clients, RecordingKeepsWhatClientsReadAndNoSecret) {
    const auto client = recorded();
    Recorder recorder(*client);
    for (const char* provider :
         {"digitalocean", "aws", "gcp", "azure", "oci", "vultr", "nebius", "openstack"})
        asked(recorder, provider, {"PLANTED-TOKEN", false, "2026-11-30"});
    const std::string text_of = dump_json(recorder.document());
    EXPECT_EQ(text_of.find("PLANTED"), std::string::npos) << text_of;
    EXPECT_EQ(text_of.find("TOKEN=="), std::string::npos);
    const auto again = recorded(text_of.c_str());
    for (const char* provider :
         {"digitalocean", "aws", "gcp", "azure", "oci", "vultr", "nebius", "openstack"}) {
        const Identity before = asked(*client, provider), after = asked(*again, provider);
        EXPECT_EQ(text(before.instance.id), text(after.instance.id)) << provider;
        EXPECT_EQ(text(before.instance.type), text(after.instance.type)) << provider;
    }
}

TEST(Clients, RealNetworkMisbehaviourEndsWithinTheDeadline) {
    using loopback::Manner, loopback::Reply, loopback::Server;
    const std::string body = R"({"droplet_id": 900000001, "region": "nyc3"})";
    struct Case {
        Reply reply;
        bool answered;
    };
    const std::vector<Case> cases{{Reply{200, {}, body}, true},
                                  {Reply{200, {}, body, Manner::drip, 0, milliseconds(200)}, false},
                                  {Reply{200, {}, body, Manner::endless}, false},
                                  {Reply{200, {}, body, Manner::length_high, 100}, false},
                                  {Reply{200, {}, body, Manner::length_junk}, false},
                                  {Reply{200, {}, body, Manner::silent}, false},
                                  {Reply{200, {}, body, Manner::reset, 5}, false},
                                  {Reply{302, {{"Location", "http://127.0.0.1:1/"}}, ""}, false}};
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Server server(cases[i].reply);
        const auto client = http::curl_client();
        std::string base = server.url();
        Questions questions(*client, Clock::now() + milliseconds(500), {base, ""});
        Identity identity;
        identity.instance.provider = Fact<std::string>("digitalocean", "test");
        const auto start = Clock::now();
        ask(questions, {}, identity);
        EXPECT_LT(Clock::now() - start, std::chrono::seconds(10)) << i;
        EXPECT_EQ(identity.instance.id.known(), cases[i].answered) << i << ": " << identity.instance.id.why();
        EXPECT_FALSE(!cases[i].answered && identity.instance.id.why().empty()) << i;
    }
}

}  // namespace
}  // namespace gpucheck::providers
