// A recorded machine's metadata service answers as the live one did, and a document that nobody can read says
// so.
#include "providers/http/recorded.h"

#include <gtest/gtest.h>

#include "tests/loopback/script.h"

namespace gpucheck::http {
namespace {

constexpr const char* kDocument = R"({
"GET http://169.254.169.254/metadata/v1.json": {"status": 200, "headers": {"Content-Type": "application/json"}, "body": "{}"},
"GET http://metadata.google.internal/x?a=b": {"status": 200, "body": "x", "requires": {"Metadata-Flavor": "Google"}},
"PUT http://169.254.169.254/latest/api/token": {"status": 200, "body": "token"},
"GET http://169.254.169.254/slow": {"error": "timeout"}
})";

std::unique_ptr<Client> client_of(std::string_view text) {
    auto client = recorded_client(text);
    EXPECT_TRUE(std::holds_alternative<std::unique_ptr<Client>>(client)) << std::get<std::string>(client);
    return std::get<std::unique_ptr<Client>>(std::move(client));
}

Outcome ask(Client& client, const char* method, const char* url, std::vector<Header> headers = {}) {
    Request request;
    request.method = method;
    request.url = url;
    request.headers = std::move(headers);
    return client.perform(request);
}

TEST(RecordedClient, AnswersWhatWasRecorded) {
    const auto client = client_of(kDocument);
    const Outcome outcome = ask(*client, "GET", "http://169.254.169.254/metadata/v1.json");
    ASSERT_TRUE(std::holds_alternative<Response>(outcome));
    EXPECT_EQ(std::get<Response>(outcome).status, 200);
    EXPECT_EQ(std::get<Response>(outcome).body, "{}");
    EXPECT_EQ(std::get<Response>(outcome).header("content-type"), "application/json");
    EXPECT_EQ(std::get<Failed>(ask(*client, "GET", "http://169.254.169.254/slow")).failure, Failure::timeout);
}

TEST(RecordedClient, RefusesWhatWasNotRecorded) {
    const auto client = client_of(kDocument);
    EXPECT_EQ(std::get<Failed>(ask(*client, "GET", "http://169.254.169.254/other")).failure,
              Failure::refused);
    EXPECT_EQ(std::get<Failed>(ask(*client, "GET", "http://169.254.169.254/latest/api/token")).failure,
              Failure::refused)
        << "only the PUT was recorded";
    EXPECT_EQ(std::get<Failed>(ask(*client, "GET", "http://metadata.google.internal/x")).failure,
              Failure::refused)
        << "without the query it is another request";
}

TEST(RecordedClient, AsksForWhatTheServiceRequires) {
    const auto client = client_of(kDocument);
    const char* url = "http://metadata.google.internal/x?a=b";
    EXPECT_EQ(std::get<Response>(ask(*client, "GET", url)).status, 401);
    EXPECT_EQ(std::get<Response>(ask(*client, "GET", url, {{"Metadata-Flavor", "google"}})).status, 401);
    EXPECT_EQ(std::get<Response>(ask(*client, "GET", url, {{"metadata-flavor", "Google"}})).status, 200);
}

TEST(RecordedClient, BoundsTheBodyLikeTheNetwork) {
    const auto client = client_of(R"({"GET http://h/": {"status": 200, "body": "1234"}})");
    Request request;
    request.url = "http://h/";
    request.max_body_bytes = 3;
    EXPECT_EQ(std::get<Failed>(client->perform(request)).failure, Failure::too_large);
    request.max_body_bytes = 4;
    EXPECT_TRUE(std::holds_alternative<Response>(client->perform(request)));
}

TEST(RecordedClient, KnowsEveryFailureByName) {
    for (const char* name :
         {"timeout", "refused", "unreachable", "reset", "dns", "tls", "too_large", "malformed"}) {
        const auto client = client_of(R"({"GET http://h/": {"error": ")" + std::string(name) + R"("}})");
        EXPECT_EQ(name_of(std::get<Failed>(ask(*client, "GET", "http://h/")).failure), name);
    }
}

TEST(RecordedClient, SaysWhatIsWrongWithADocument) {
    for (const char* text :
         {"", "[]", "{", "null", R"({"GET http://h/": 1})", R"({"GET http://h/": {}})",
          R"({"GET http://h/": {"status": 99}})", R"({"GET http://h/": {"status": 200.5}})",
          R"({"GET http://h/": {"status": -200}})", R"({"GET http://h/": {"status": 18446744073709551615}})",
          R"({"GET http://h/": {"status": "200"}})", R"({"GET http://h/": {"status": 200, "error": "dns"}})",
          R"({"GET http://h/": {"error": "boredom"}})", R"({"GET http://h/": {"error": 1}})",
          R"({"GET http://h/": {"status": 200, "body": {}}})",
          R"({"GET http://h/": {"status": 200, "headers": []}})",
          R"({"GET http://h/": {"status": 200, "headers": {"a": 1}}})",
          R"({"GET http://h/": {"status": 200, "require": {}}})"}) {
        const auto client = recorded_client(text);
        ASSERT_TRUE(std::holds_alternative<std::string>(client)) << text;
        EXPECT_EQ(std::get<std::string>(client).rfind("metadata.json: ", 0), 0U) << text;
    }
}

TEST(RecordedClient, WithoutADocumentNobodyAsked) {
    const Outcome outcome = ask(*nobody_asked(), "GET", "http://169.254.169.254/");
    EXPECT_EQ(std::get<Failed>(outcome).failure, Failure::local);
    EXPECT_EQ(std::get<Failed>(outcome).detail, "not captured");
}

TEST(LoopbackScript, PlaysARecordedMachinesMetadata) {
    auto handler = loopback::script(R"({"answers": )" + std::string(kDocument) + "}");
    ASSERT_TRUE(std::holds_alternative<loopback::Handler>(handler)) << std::get<std::string>(handler);
    const loopback::Server server(std::get<loopback::Handler>(handler));
    const auto client = curl_client();
    EXPECT_EQ(std::get<Response>(ask(*client, "GET", server.url("/metadata/v1.json").c_str())).body, "{}");
    EXPECT_EQ(std::get<Response>(ask(*client, "GET", server.url("/x?a=b").c_str())).status, 401);
    EXPECT_EQ(std::get<Response>(ask(*client, "GET", server.url("/other").c_str())).status, 404);
}

}  // namespace
}  // namespace gpucheck::http
