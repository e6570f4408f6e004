// Deliveries against scripted answers and against real servers on 127.0.0.1.
#include "providers/delivery/flush.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <deque>

#include "providers/delivery/gzip.h"
#include "providers/delivery/message.h"
#include "tests/delivery/folder.h"
#include "tests/loopback/loopback.h"

namespace gpucheck::delivery {
namespace {

constexpr std::int64_t kNow = 1796000000;

// Answers in turn, the last one for ever.
class Scripted : public http::Client {
  public:
    explicit Scripted(std::deque<http::Outcome> answers) : answers_(std::move(answers)) {}
    http::Outcome perform(const http::Request& request) override {
        requests.push_back(request);
        http::Outcome answer = answers_.front();
        if (answers_.size() > 1) answers_.pop_front();
        return answer;
    }
    std::vector<http::Request> requests;

  private:
    std::deque<http::Outcome> answers_;
};

http::Outcome status(int code, std::string retry_after = {}) {
    http::Response response;
    response.status = code;
    if (!retry_after.empty()) response.headers.push_back({"retry-after", std::move(retry_after)});
    return response;
}
http::Outcome no_answer() {
    return http::Failed{http::Failure::timeout, "nobody"};
}

struct FlushTest : ::testing::Test {
    FlushTest() : spool(std::move(std::get<Spool>(Spool::open(folder.path("spool"), {})))) {
        options.now_s = [this] { return now; };
        options.dice = [] { return 0.0; };
    }
    std::string keep(int number, Verdict verdict, const Sink& sink) {
        char id[80];
        std::snprintf(id, sizeof id, "01a22dc4-0000-7000-8000-%012d", number);
        Entry entry{id, "2026-11-30T10:00:00Z", "gpucheck:///n", "application/json", false, sink, "{}"};
        EXPECT_FALSE(spool.add(entry, verdict));
        return id;
    }
    std::string keep(int number, Verdict verdict = Verdict::pass) {
        Sink sink;
        sink.url = "https://a.example/r";
        return keep(number, verdict, sink);
    }
    std::string header(const http::Request& request, std::string_view name) {
        for (const auto& each : request.headers)
            if (each.name == name) return each.value;
        return "";
    }
    test::Folder folder;
    Spool spool;
    FlushOptions options;
    std::int64_t now = kNow;
};

TEST_F(FlushTest, FailsGoFirstAndEachReportUnderItsKey) {
    const std::string pass = keep(1), fail = keep(2, Verdict::fail);
    Scripted client({status(201)});
    EXPECT_EQ(flush(spool, client, options).delivered, 2U);
    ASSERT_EQ(client.requests.size(), 2U);
    EXPECT_EQ(header(client.requests[0], "Idempotency-Key"), fail);
    EXPECT_EQ(header(client.requests[1], "ce-id"), pass);
    EXPECT_EQ(header(client.requests[1], "ce-specversion"), "1.0");
    EXPECT_EQ(header(client.requests[1], "Authorization"), "");
    EXPECT_EQ(client.requests[1].method, "POST");
    EXPECT_TRUE(spool.list(Shelf::pending).empty());
}

TEST_F(FlushTest, AReceiverThatIsDownIsAskedOnceAndThenLater) {
    for (int i = 0; i < 50; ++i) keep(i);
    Scripted down({no_answer()});
    FlushResult result = flush(spool, down, options);
    EXPECT_EQ(down.requests.size(), 1U);
    EXPECT_EQ(result.failed, 1U);
    EXPECT_EQ(result.waiting, 49U);
    EXPECT_EQ(flush(spool, down, options).waiting, 50U) << "nobody is asked before the time has come";
    EXPECT_EQ(down.requests.size(), 1U);
    now += 3600;
    flush(spool, down, options);
    EXPECT_EQ(down.requests.size(), 2U);
    now += 8;  // the first wait would be over by now, the second is longer
    flush(spool, down, options);
    EXPECT_EQ(down.requests.size(), 2U);
    Scripted up({status(200)});
    options.now = true;
    EXPECT_EQ(flush(spool, up, options).delivered, 50U);
    EXPECT_EQ(spool.hold_of(key_of("https://a.example/r")).attempts, 0U);
}

TEST_F(FlushTest, RetryAfterHoldsTheReceiverAcrossProcesses) {
    keep(1);
    Scripted busy({status(429, "600")});
    flush(spool, busy, options);
    keep(2);
    Scripted up({status(200)});
    now += 599;
    EXPECT_EQ(flush(spool, up, options).delivered, 0U);
    now += 1;
    EXPECT_EQ(flush(spool, up, options).delivered, 2U);
}

TEST_F(FlushTest, OneReportThatItStumblesOverDoesNotStopTheOthers) {
    for (int i = 0; i < 5; ++i) keep(i);
    Scripted client({status(500), status(200)});
    const FlushResult result = flush(spool, client, options);
    EXPECT_EQ(result.delivered, 4U);
    EXPECT_EQ(result.failed, 1U);
    Scripted broken({status(500)});
    for (int i = 10; i < 20; ++i) keep(i);
    flush(spool, broken, options);
    EXPECT_EQ(broken.requests.size(), 3U) << "three in a row: it is the receiver";
}

TEST_F(FlushTest, WhatIsRefusedIsKeptShownAndSentAgainOnlyWhenAsked) {
    keep(1, Verdict::fail);
    Scripted refuses({status(401)});
    EXPECT_EQ(flush(spool, refuses, options).rejected, 1U);
    EXPECT_EQ(spool.list(Shelf::rejected).front().last, "401");
    options.now = true;
    flush(spool, refuses, options);
    EXPECT_EQ(refuses.requests.size(), 1U);
    options.rejected = true;
    Scripted takes({no_answer(), status(200)});
    EXPECT_EQ(flush(spool, takes, options).failed, 1U);
    EXPECT_EQ(spool.list(Shelf::pending).size(), 1U) << "no answer is no refusal";
    EXPECT_EQ(flush(spool, takes, options).delivered, 1U);
    EXPECT_TRUE(spool.list(Shelf::rejected).empty());
}

TEST_F(FlushTest, TheConfigOfTodayWinsOverWhatTheEntryRemembers) {
    Sink sink;
    sink.url = "https://a.example/r";
    sink.token_file = folder.path("none");
    keep(1, Verdict::pass, sink);
    Scripted client({status(200)});
    EXPECT_EQ(flush(spool, client, options).failed, 1U) << "without its token nothing is sent";
    EXPECT_TRUE(client.requests.empty());
    sink.token_file = folder.path("token");
    folder.write("token", "s3cret\n");
    ::chmod(sink.token_file.c_str(), 0600);
    options.sinks = {sink};
    options.now = true;
    const FlushResult result = flush(spool, client, options);
    EXPECT_EQ(result.delivered, 1U);
    EXPECT_TRUE(result.told.empty());
    EXPECT_EQ(header(client.requests[0], "Authorization"), "Bearer s3cret");
}

TEST_F(FlushTest, AProofGoesWhereItIsAskedForAndItsLackStopsNothing) {
    Sink asks;
    asks.url = "https://a.example/proof";
    asks.prove_identity = true;
    keep(1, Verdict::fail, asks);
    keep(2);
    options.proof = [](const Entry&) { return std::vector<http::Header>{{"gpucheck-identity", "proof"}}; };
    Scripted client({status(200)});
    EXPECT_EQ(flush(spool, client, options).delivered, 2U);
    EXPECT_EQ(header(client.requests[0], "gpucheck-identity"), "proof");
    EXPECT_EQ(header(client.requests[1], "gpucheck-identity"), "");
    keep(3, Verdict::fail, asks);
    options.proof = [](const Entry&) { return std::string("aws: HTTP 404"); };
    const FlushResult result = flush(spool, client, options);
    EXPECT_EQ(result.delivered, 1U);
    ASSERT_EQ(result.told.size(), 1U);
    EXPECT_NE(result.told.front().find("HTTP 404"), std::string::npos);
}

TEST_F(FlushTest, EndsWithItsTimeAndNeverSendsAfterIt) {
    keep(1);
    options.end = std::chrono::steady_clock::now();
    Scripted client({status(200)});
    EXPECT_EQ(flush(spool, client, options).waiting, 1U);
    EXPECT_TRUE(client.requests.empty());
}

TEST_F(FlushTest, ATooLargeBodyIsRefusedHere) {
    Sink sink;
    sink.url = "https://a.example/r";
    Entry entry{
        "01a22dc4-0000-7000-8000-000000000001", "2026-11-30T10:00:00Z", "s", "application/json", false, sink,
        std::string(kMostBodyBytes + 1, 'x')};
    ASSERT_FALSE(spool.add(entry, Verdict::fail));
    Scripted client({status(200)});
    EXPECT_EQ(flush(spool, client, options).rejected, 1U);
    EXPECT_TRUE(client.requests.empty());
}

TEST_F(FlushTest, OverTlsWithItsOwnAuthorityATokenAndGzip) {
    const loopback::Authority authority;
    loopback::Options tls;
    tls.tls = &authority;
    const loopback::Server server(loopback::Reply{201}, tls);
    Sink sink;
    sink.url = "https://localhost:" + std::to_string(server.port()) + "/v1/reports";
    folder.write("token", "s3cret");
    ::chmod(folder.path("token").c_str(), 0600);
    sink.token_file = folder.path("token");
    sink.ca_file = authority.ca_file();
    sink.pin = authority.pin();
    Entry entry{"01a22dc4-0000-7000-8000-000000000001",
                "2026-11-30T10:00:00Z",
                "gpucheck:///n",
                "application/json",
                true,
                sink,
                *compress("{\"verdict\":\"fail\"}")};
    ASSERT_FALSE(spool.add(entry, Verdict::fail));
    const auto client = http::curl_client();
    const FlushResult result = flush(spool, *client, options);
    EXPECT_EQ(result.delivered, 1U) << (result.told.empty() ? "" : result.told.front());
    ASSERT_EQ(server.seen().size(), 1U);
    const loopback::Seen seen = server.seen().front();
    EXPECT_EQ(seen.header("authorization"), "Bearer s3cret");
    EXPECT_EQ(seen.header("content-encoding"), "gzip");
    EXPECT_EQ(decompress(seen.body, 1000), "{\"verdict\":\"fail\"}");

    entry.sink.ca_file.clear();  // the system's authorities do not know ours
    entry.report_id.back() = '2';
    ASSERT_FALSE(spool.add(entry, Verdict::fail));
    EXPECT_EQ(flush(spool, *client, options).failed, 1U);
    EXPECT_EQ(server.seen().size(), 1U);
}

TEST_F(FlushTest, ATokenDoesNotFollowARedirect) {
    const loopback::Server elsewhere(loopback::Reply{200});
    const loopback::Server server(loopback::Reply{307, {{"Location", elsewhere.url("/steal")}}});
    Sink sink;
    sink.url = server.url("/v1/reports");
    folder.write("token", "s3cret");
    ::chmod(folder.path("token").c_str(), 0600);
    sink.token_file = folder.path("token");
    keep(1, Verdict::fail, sink);
    const auto client = http::curl_client();
    EXPECT_EQ(flush(spool, *client, options).failed, 1U);
    EXPECT_EQ(server.seen().size(), 1U);
    EXPECT_TRUE(elsewhere.seen().empty());
    EXPECT_EQ(spool.list(Shelf::pending).front().last, "307");
}

TEST(Sinks, WhereReportsAndTokensMayGo) {
    struct Case {
        const char* url;
        bool insecure, token, allowed;
    };
    const Case cases[] = {{"https://example.org/r", false, true, true},
                          {"HTTPS://example.org:8443/r?x=y", false, true, true},
                          {"http://127.0.0.1:8080/r", false, true, true},
                          {"http://localhost/r", false, true, true},
                          {"http://[::1]:80/r", false, true, true},
                          {"http://169.254.1.2/r", false, true, true},
                          {"http://[fe80::1%25eth0]/r", false, true, true},
                          {"http://example.org/r", false, false, false},
                          {"http://example.org/r", true, false, true},
                          {"http://example.org/r", true, true, false},
                          {"http://127.0.0.1.evil.org/", false, true, false},
                          {"http://localhost.evil.org/", false, true, false},
                          {"http://127.0.0.1@evil.org/", false, true, false},
                          {"https://user:pw@example.org/", false, false, false},
                          {"http://0x7f000001/", false, true, false},
                          {"http://10.0.0.1/", false, false, false},
                          {"http://[::ffff:10.0.0.1]/", false, false, false},
                          {"ftp://example.org/", false, false, false},
                          {"file:///etc/passwd", false, false, false},
                          {"https://", false, false, false},
                          {"https:///r", false, false, false},
                          {"https://h:0/", false, false, false},
                          {"https://h:99999/", false, false, false},
                          {"https://h:x/", false, false, false},
                          {"https://h/\r\nX: y", false, false, false},
                          {"https://h/ b", false, false, false},
                          {"https://h/#f", false, false, false},
                          {"https://[::1/r", false, false, false},
                          {"", false, false, false},
                          {"https://[]/", false, false, false}};
    for (const Case& each : cases) {
        Sink sink;
        sink.url = each.url;
        sink.insecure_http = each.insecure;
        if (each.token) sink.token_file = "/t";
        EXPECT_EQ(refusal_of(sink).empty(), each.allowed) << each.url << " " << refusal_of(sink);
    }
    EXPECT_EQ(shown("https://u:secret@h/p?token=secret#x"), "https://h/p");
    Sink sink;
    sink.url = "https://h/";
    sink.pin = "sha256//short";
    EXPECT_NE(refusal_of(sink), "");
}

TEST(Tokens, OneLineOfPrintableTextFromAFile) {
    const test::Folder folder;
    Sink sink;
    sink.url = "https://h/";
    EXPECT_EQ(std::get<Token>(read_token(sink)).value, "");
    sink.token_file = folder.path("t");
    EXPECT_TRUE(std::holds_alternative<std::string>(read_token(sink)));
    for (const std::string bad : {"", "\n", "a b", "a\nb", "t\xc3\xa4", "a\r\nX-Evil: 1\n"}) {
        folder.write("t", bad);
        EXPECT_TRUE(std::holds_alternative<std::string>(read_token(sink))) << bad;
    }
    folder.write("t", std::string(9000, 'x'));
    EXPECT_TRUE(std::holds_alternative<std::string>(read_token(sink)));
    folder.write("t", "good\r\n");
    ::chmod(sink.token_file.c_str(), 0640);
    EXPECT_EQ(std::get<Token>(read_token(sink)).value, "good");
    EXPECT_NE(std::get<Token>(read_token(sink)).warning, "");
    ::chmod(sink.token_file.c_str(), 0600);
    EXPECT_EQ(std::get<Token>(read_token(sink)).warning, "");
    sink.token_file = folder.path("fifo");
    ASSERT_EQ(::mkfifo(sink.token_file.c_str(), 0600), 0);
    EXPECT_TRUE(std::holds_alternative<std::string>(read_token(sink))) << "and it returns";
    sink.token_file.clear();
    sink.token_credential = "t";
    ::unsetenv("CREDENTIALS_DIRECTORY");
    EXPECT_TRUE(std::holds_alternative<std::string>(read_token(sink)));
    ::setenv("CREDENTIALS_DIRECTORY", folder.path("").c_str(), 1);
    EXPECT_EQ(std::get<Token>(read_token(sink)).value, "good");
    ::unsetenv("CREDENTIALS_DIRECTORY");
}

TEST(Source, IsAUriWhateverTheNamesHold) {
    EXPECT_EQ(source_uri("aws", "i-0abc", "h"), "gpucheck://aws/i-0abc");
    EXPECT_EQ(source_uri("", "", "node-1.example"), "gpucheck:///node-1.example");
    EXPECT_EQ(source_uri("", "", "a b\r\n/%"), "gpucheck:///a%20b%0D%0A%2F%25");
    EXPECT_EQ(source_uri("", "", ""), "gpucheck:///");
}

}  // namespace
}  // namespace gpucheck::delivery
