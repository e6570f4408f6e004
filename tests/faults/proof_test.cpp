// Each provider's proof of identity, from a loopback metadata service, and every way in which there is none.
#include "providers/identity/proof.h"

#include <gtest/gtest.h>

#include "tests/faults/moved_client.h"
#include "tests/loopback/script.h"

namespace gpucheck::identity {
namespace {

// The first 64 bits are 0x0102030405060708 = 72623859790382856.
constexpr const char* kDigest = "0102030405060708aabbccddeeff00112233445566778899aabbccddeeff0011";

Claim claim_of(const char* provider) {
    return {provider, "https://reports.example/v1?a=b", kDigest, ""};
}

constexpr const char* kServices = R"({"answers": {
"PUT /latest/api/token": {"body": "session", "requires": {"X-aws-ec2-metadata-token-ttl-seconds": "300"}},
"GET /latest/dynamic/instance-identity/rsa2048": {"body": "MIIB\nAAAA\n", "requires": {"X-aws-ec2-metadata-token": "session"}},
"GET /computeMetadata/v1/instance/service-accounts/default/identity?audience=https%3A%2F%2Freports.example%2Fv1%3Fa%3Db&format=full":
  {"headers": {"Metadata-Flavor": "Google"}, "body": "eyJ.eyJ.sig", "requires": {"Metadata-Flavor": "Google"}},
"GET /metadata/attested/document?api-version=2020-09-01&nonce=0102030405060708aabbccddeeff0011":
  {"body": "{\"encoding\":\"pkcs7\",\"signature\":\"MIIE\"}", "requires": {"Metadata": "true"}},
"GET /v1/iam/sa/token/access_token": {"body": "ne1token", "requires": {"Metadata": "true"}}
}})";

std::variant<Proof, Missing> prove_at(const char* services, const Claim& claim) {
    auto handler = loopback::script(services);
    EXPECT_TRUE(std::holds_alternative<loopback::Handler>(handler));
    const loopback::Server server(std::get<loopback::Handler>(handler));
    MovedClient client(server);
    return prove(claim, client);
}

Proof proof_at(const char* services, const Claim& claim) {
    const auto given = prove_at(services, claim);
    const auto* missing = std::get_if<Missing>(&given);
    EXPECT_EQ(missing, nullptr) << (missing != nullptr ? missing->source + ": " + missing->why : "");
    return missing == nullptr ? std::get<Proof>(given) : Proof{};
}

TEST(Proof, EachProviderGivesItsOwn) {
    const Proof aws = proof_at(kServices, claim_of("aws"));
    EXPECT_EQ(aws.kind, "aws-rsa2048");
    EXPECT_EQ(aws.value, "MIIBAAAA") << "one line";
    EXPECT_EQ(aws.bound_to, "") << "replayable, and says so";
    const Proof gcp = proof_at(kServices, claim_of("gcp"));
    EXPECT_EQ(gcp.kind, "gcp-jwt");
    EXPECT_EQ(gcp.value, "eyJ.eyJ.sig");
    EXPECT_EQ(gcp.bound_to, "https://reports.example/v1?a=b");
    const Proof azure = proof_at(kServices, claim_of("azure"));
    EXPECT_EQ(azure.kind, "azure-attested");
    EXPECT_EQ(azure.value, "MIIE");
    EXPECT_EQ(azure.bound_to, "0102030405060708aabbccddeeff0011");
}

TEST(Proof, AzureTakesTenDigitsWhereItTakesNoMore) {
    const Proof azure = proof_at(R"({"answers": {
      "GET /metadata/attested/document?api-version=2020-09-01&nonce=0102030405060708aabbccddeeff0011": {"status": 400},
      "GET /metadata/attested/document?api-version=2020-09-01&nonce=9790382856": {"body": "{\"signature\":\"MIIE\"}"}}})",
                                 claim_of("azure"));
    EXPECT_EQ(azure.bound_to, "9790382856");
}

TEST(Proof, ATokenThatIsAPowerIsNeverGiven) {
    EXPECT_TRUE(std::holds_alternative<Missing>(prove_at(kServices, claim_of("nebius"))));
}

TEST(Proof, AnEnrolmentTokenStandsInForTheRest) {
    for (const char* provider : {"digitalocean", "", "lambda", "nebius"}) {
        Claim claim = claim_of(provider);
        EXPECT_TRUE(std::holds_alternative<Missing>(prove_at(kServices, claim))) << provider;
        claim.enrolment_token = "once";
        const Proof proof = proof_at(kServices, claim);
        EXPECT_EQ(proof.kind, "enrolment-token");
        EXPECT_EQ(proof.value, "once");
    }
    Claim claim = claim_of("aws");
    claim.enrolment_token = "once";
    EXPECT_EQ(proof_at(kServices, claim).kind, "aws-rsa2048") << "the provider's is better";
    EXPECT_EQ(proof_at("{}", claim).kind, "enrolment-token");
    claim.enrolment_token = "two lines\r\nX-Other: 1";
    EXPECT_TRUE(std::holds_alternative<Missing>(prove_at("{}", claim)));
}

TEST(Proof, NoneIsShownInTheClear) {
    for (const char* url :
         {"http://reports.example/v1", "http://127.0.0.1.example/", "", "ftp://127.0.0.1/"}) {
        Claim claim = claim_of("aws");
        claim.audience = url;
        claim.enrolment_token = "once";
        EXPECT_TRUE(std::holds_alternative<Missing>(prove_at(kServices, claim))) << url;
    }
}

TEST(Proof, SaysWhyThereIsNone) {
    const auto why = [](const char* services, const char* provider) {
        const auto given = prove_at(services, claim_of(provider));
        const auto* missing = std::get_if<Missing>(&given);
        EXPECT_NE(missing, nullptr) << provider << services;
        return missing != nullptr ? missing->why : std::string();
    };
    EXPECT_EQ(why("{}", "aws"), "HTTP 404");
    EXPECT_EQ(why(R"({"default": {"status": 302, "headers": {"Location": "http://127.0.0.1:1/"}}})", "gcp"),
              "HTTP 302");
    EXPECT_EQ(why(R"({"default": {"body": ""}})", "aws"), "empty");
    EXPECT_EQ(why(R"({"default": {"manner": "endless"}})", "azure"), "too_large");
    EXPECT_EQ(why(R"({"default": {"manner": "close"}})", "azure"), "reset");
    EXPECT_EQ(why(R"({"default": {"body": "eyJ"}})", "gcp"), "not Google's metadata service");
    EXPECT_EQ(why(R"({"default": {"body": "no json"}})", "azure"), "malformed: no JSON");
    EXPECT_EQ(why(R"({"default": {"body": "{\"signature\":1.5}"}})", "azure"), "malformed: no signature");
    EXPECT_EQ(why(R"({"default": {"body": "{\"signature\":\"a\\u0001\"}"}})", "azure"),
              "malformed: not one line of ASCII");
    Claim claim = claim_of("azure");
    claim.report_sha256 = "../../x";
    EXPECT_TRUE(std::holds_alternative<Missing>(prove_at(kServices, claim)));
    claim.provider = "aws";
    EXPECT_EQ(proof_at(kServices, claim).kind, "aws-rsa2048") << "its proof holds no digest";
}

}  // namespace
}  // namespace gpucheck::identity
