// The network's misbehaviours, each against a real socket: every one ends in time, under its own name, with
// nothing given away.
#include <gtest/gtest.h>
#include <zlib.h>

#include <chrono>
#include <cstdlib>

#include "providers/http/request_rules.h"
#include "providers/http/resolve.h"
#include "tests/loopback/loopback.h"

namespace gpucheck::http {
namespace {

using loopback::Authority;
using loopback::Manner;
using loopback::Reply;
using loopback::Seen;
using loopback::Server;
using std::chrono::milliseconds;

// A label of 64 letters is none: it is refused without asking a name server, which not every machine has.
const std::string kNoHost = std::string(64, 'a') + ".invalid";

Request get(const std::string& url) {
    Request request;
    request.url = url;
    request.total_timeout = milliseconds(5000);
    return request;
}

Failure failure_of(const Outcome& outcome) {
    const auto* failed = std::get_if<Failed>(&outcome);
    EXPECT_NE(failed, nullptr) << "status " << (failed == nullptr ? std::get<Response>(outcome).status : 0);
    return failed != nullptr ? failed->failure : Failure::local;
}

std::string detail_of(const Outcome& outcome) {
    const auto* failed = std::get_if<Failed>(&outcome);
    return failed != nullptr ? failed->detail : "it succeeded";
}

Failure ask(const Reply& reply) {
    const Server server(reply);
    return failure_of(curl_client()->perform(get(server.url("/x"))));
}

TEST(HttpClient, SendsWhatItIsGivenAndNothingElse) {
    const Server server(Reply{201, {{"X-Answer", "  spaced "}}, "body"});
    Request request = get(server.url("/a?b=c"));
    request.method = "PUT";
    request.body = std::string("one\0two", 7);
    request.headers = {{"X-One", "1"}, {"X-Empty", ""}};
    const Outcome outcome = curl_client()->perform(request);
    ASSERT_TRUE(std::holds_alternative<Response>(outcome)) << detail_of(outcome);
    const auto& response = std::get<Response>(outcome);
    EXPECT_EQ(response.status, 201);
    EXPECT_EQ(response.header("x-answer"), "spaced");
    EXPECT_EQ(response.body, "body");
    const Seen seen = server.seen().at(0);
    EXPECT_EQ(seen.method, "PUT");
    EXPECT_EQ(seen.target, "/a?b=c");
    EXPECT_EQ(seen.body, request.body);
    std::set<std::string> names;
    for (const Header& header : seen.headers) names.insert(header.name);
    EXPECT_EQ(names, (std::set<std::string>{"host", "user-agent", "accept", "accept-encoding",
                                            "content-length", "x-one", "x-empty"}));
}

TEST(HttpClient, SendsEachMethodWithItsBody) {
    const Server server(Reply{});
    const auto client = curl_client();
    for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"}) {
        for (const char* body : {"", "text"}) {
            Request request = get(server.url("/"));
            request.method = method;
            request.body = std::string(method) == "HEAD" ? "" : body;
            ASSERT_TRUE(std::holds_alternative<Response>(client->perform(request))) << method;
            EXPECT_EQ(server.seen().back().method, method);
            EXPECT_EQ(server.seen().back().body, request.body);
        }
    }
    EXPECT_EQ(server.connections(), 1U) << "one connection is kept";
}

TEST(HttpClient, SendsALargeBodyWithoutAskingFirst) {
    const Server server(Reply{});
    Request request = get(server.url("/"));
    request.method = "POST";
    request.body = std::string(3U << 20U, 'b');
    ASSERT_TRUE(std::holds_alternative<Response>(curl_client()->perform(request)));
    EXPECT_EQ(server.seen().at(0).body.size(), request.body.size());
    EXPECT_EQ(server.seen().at(0).header("expect"), "");
}

TEST(HttpClient, ShowsARedirectAndDoesNotFollowIt) {
    const Server elsewhere(Reply{200, {}, "theirs"});
    const Server server(Reply{302, {{"Location", elsewhere.url("/token")}}, ""});
    Request request = get(server.url("/"));
    request.headers = {{"Authorization", "Bearer secret"}};
    const Outcome outcome = curl_client()->perform(request);
    ASSERT_TRUE(std::holds_alternative<Response>(outcome));
    EXPECT_EQ(std::get<Response>(outcome).status, 302);
    EXPECT_EQ(std::get<Response>(outcome).header("location"), elsewhere.url("/token"));
    EXPECT_EQ(elsewhere.connections(), 0U);
}

TEST(HttpClient, TellsFailuresApart) {
    const std::string nobody = "http://127.0.0.1:" + std::to_string(loopback::closed_port()) + "/";
    EXPECT_EQ(failure_of(curl_client()->perform(get(nobody))), Failure::refused);
    EXPECT_EQ(failure_of(curl_client()->perform(get("http://" + kNoHost + "/"))), Failure::dns);
    EXPECT_EQ(ask({.body = std::string(100, 'x'), .manner = Manner::reset, .bytes = 60}), Failure::reset);
    EXPECT_EQ(ask({.manner = Manner::reset, .bytes = 0}), Failure::reset);
    EXPECT_EQ(ask({.manner = Manner::close}), Failure::reset);
    EXPECT_EQ(ask({.body = "half", .manner = Manner::length_high, .bytes = 4}), Failure::malformed);
    EXPECT_EQ(ask({.body = "half", .manner = Manner::length_junk}), Failure::malformed);
    EXPECT_EQ(ask({.manner = Manner::bad_status}), Failure::malformed);
    EXPECT_EQ(ask({.manner = Manner::bad_chunk}), Failure::malformed);
    EXPECT_EQ(ask({.manner = Manner::headers}), Failure::too_large);
    EXPECT_EQ(ask({.headers = {{"X-Long", std::string(200'000, 'x')}}}), Failure::too_large);
    EXPECT_EQ(ask({.headers = {{"Content-Encoding", "gzip"}}, .body = "no gzip"}), Failure::malformed);
}

TEST(HttpClient, TimeoutsBoundSilenceAndTrickles) {
    for (const Manner manner : {Manner::silent, Manner::drip}) {
        const Server server(Reply{.body = std::string(10'000, 'x'), .manner = manner});
        Request request = get(server.url("/"));
        request.total_timeout = milliseconds(200);
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(failure_of(curl_client()->perform(request)), Failure::timeout);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    }
    Request zero = get("http://127.0.0.1:1/");
    const Server silent(Reply{.manner = Manner::silent});
    zero.url = silent.url("/");
    zero.total_timeout = milliseconds(0);  // libcurl's zero is "for ever"
    EXPECT_EQ(failure_of(curl_client()->perform(zero)), Failure::timeout);
}

TEST(HttpClient, BoundsTheBody) {
    EXPECT_EQ(ask({.manner = Manner::endless}), Failure::too_large);
    EXPECT_EQ(ask({.headers = {{"Content-Length", "1073741824"}}, .body = "x"}), Failure::too_large);
    const Server exact(Reply{200, {}, std::string(1000, 'x')});
    Request request = get(exact.url("/"));
    request.max_body_bytes = 999;
    EXPECT_EQ(failure_of(curl_client()->perform(request)), Failure::too_large);
    request.max_body_bytes = 1000;
    EXPECT_TRUE(std::holds_alternative<Response>(curl_client()->perform(request)));
}

std::string gzip(const std::string& text) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out(deflateBound(&stream, text.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

TEST(HttpClient, BoundsWhatABodyUnpacksTo) {
    const std::string bomb = gzip(std::string(64U << 20U, '\0'));
    ASSERT_LT(bomb.size(), 1U << 20U);
    EXPECT_EQ(ask({.headers = {{"Content-Encoding", "gzip"}}, .body = bomb}), Failure::too_large);
    const Server small(Reply{200, {{"Content-Encoding", "gzip"}}, gzip("unpacked")});
    const Outcome outcome = curl_client()->perform(get(small.url("/")));
    ASSERT_TRUE(std::holds_alternative<Response>(outcome)) << detail_of(outcome);
    EXPECT_EQ(std::get<Response>(outcome).body, "unpacked");
}

TEST(HttpClient, VerifiesCertificates) {
    const Authority authority;
    const Authority stranger;
    const Server server(Reply{200, {}, "secure"}, {.tls = &authority});
    Request request = get(server.url("/"));
    EXPECT_EQ(failure_of(curl_client()->perform(request)), Failure::tls) << "not in the system's list";
    request.ca_file = stranger.ca_file();
    EXPECT_EQ(failure_of(curl_client()->perform(request)), Failure::tls);
    request.ca_file = authority.ca_file();
    const Outcome outcome = curl_client()->perform(request);
    ASSERT_TRUE(std::holds_alternative<Response>(outcome)) << detail_of(outcome);
    request.pinned_public_key = authority.pin();
    EXPECT_TRUE(std::holds_alternative<Response>(curl_client()->perform(request)));
    request.pinned_public_key = stranger.pin();
    EXPECT_EQ(failure_of(curl_client()->perform(request)), Failure::tls);
    request.ca_file = "/nowhere/ca.pem";
    EXPECT_EQ(failure_of(curl_client()->perform(request)), Failure::local);
}

TEST(HttpClient, RefusesExpiredAndForeignCertificates) {
    const Authority authority;
    for (const auto certificate : {loopback::Certificate::expired, loopback::Certificate::other_name}) {
        const Server server(Reply{}, {.tls = &authority, .certificate = certificate});
        Request request = get(server.url("/"));
        request.ca_file = authority.ca_file();
        EXPECT_EQ(failure_of(curl_client()->perform(request)), Failure::tls);
        EXPECT_TRUE(server.seen().empty()) << "nothing was sent";
    }
    const Server plain(Reply{});
    Request request = get("https" + plain.url("/").substr(4));
    EXPECT_EQ(failure_of(curl_client()->perform(request)), Failure::tls) << "no TLS spoken there";
}

TEST(HttpClient, RefusesWhatWouldBreakARequest) {
    const Server server(Reply{});
    for (const std::string& url :
         {std::string("file:///etc/passwd"), std::string("ftp://127.0.0.1/"), std::string("127.0.0.1"),
          std::string(""), std::string("http:///x"), "http://user:secret@" + server.url("/").substr(7),
          server.url("/a b"), server.url("/a\r\nX-Other: 1")}) {
        EXPECT_EQ(failure_of(curl_client()->perform(get(url))), Failure::local) << url;
        EXPECT_EQ(detail_of(curl_client()->perform(get(url))).find("secret"), std::string::npos);
    }
    for (const Header& header : {Header{"X-One", "1\r\nX-Two: 2"}, Header{"X One", "1"}, Header{"", "1"},
                                 Header{"X-One", std::string("1\0", 2)}, Header{"X:One", "1"}}) {
        Request request = get(server.url("/"));
        request.headers = {header};
        EXPECT_EQ(failure_of(curl_client()->perform(request)), Failure::local) << header.name;
    }
    Request request = get(server.url("/"));
    request.method = "GET /other";
    EXPECT_EQ(failure_of(curl_client()->perform(request)), Failure::local);
    EXPECT_EQ(server.connections(), 0U);
}

TEST(HttpClient, TakesTheEnvironmentsProxyOnlyWhenTold) {
    const Server proxy(Reply{200, {}, "by proxy"});
    const Server server(Reply{200, {}, "direct"});
    ::setenv("http_proxy", proxy.url("").c_str(), 1);
    ::unsetenv("no_proxy");
    ::unsetenv("NO_PROXY");
    Request request = get(server.url("/"));
    const Outcome direct = curl_client()->perform(request);
    request.proxy = Proxy::environment;
    const Outcome proxied = curl_client()->perform(request);
    request.url = "http://[fe80::1]:9/token";  // link-local: no proxy may see it
    request.total_timeout = milliseconds(50);
    const Outcome metadata = curl_client()->perform(request);
    ::unsetenv("http_proxy");
    ASSERT_TRUE(std::holds_alternative<Response>(direct)) << detail_of(direct);
    EXPECT_EQ(std::get<Response>(direct).body, "direct");
    ASSERT_TRUE(std::holds_alternative<Response>(proxied)) << detail_of(proxied);
    EXPECT_EQ(std::get<Response>(proxied).body, "by proxy");
    EXPECT_TRUE(std::holds_alternative<Failed>(metadata));
    EXPECT_EQ(proxy.seen().size(), 1U);
}

TEST(HttpClient, SpeaksToIpv6) {
    const Server server(Reply{200, {}, "six"}, {.ipv6 = true});
    if (server.port() == 0) GTEST_SKIP() << "no ::1 here";
    const Outcome outcome = curl_client()->perform(get(server.url("/")));
    ASSERT_TRUE(std::holds_alternative<Response>(outcome)) << detail_of(outcome);
    EXPECT_EQ(std::get<Response>(outcome).body, "six");
}

TEST(HttpClient, KeepsNothingOfTheRequestBefore) {
    const Server server(Reply{});
    const auto client = curl_client();
    Request first = get(server.url("/one"));
    first.method = "POST";
    first.body = "secret";
    first.headers = {{"Authorization", "Bearer secret"}, {"Content-Type", "text/plain"}};
    ASSERT_TRUE(std::holds_alternative<Response>(client->perform(first)));
    ASSERT_TRUE(std::holds_alternative<Response>(client->perform(get(server.url("/two")))));
    const Seen seen = server.seen().at(1);
    EXPECT_EQ(seen.method, "GET");
    EXPECT_EQ(seen.body, "");
    EXPECT_EQ(seen.header("authorization"), "");
    EXPECT_EQ(seen.header("content-type"), "");
    EXPECT_EQ(seen.connection, 1U);
}

TEST(HttpClient, AsksAgainAfterAFailure) {
    std::atomic<int> asked{0};
    const Server server([&](const Seen&) {
        return ++asked == 1 ? Reply{.manner = Manner::close} : Reply{200, {}, "well"};
    });
    const auto client = curl_client();
    EXPECT_EQ(failure_of(client->perform(get(server.url("/")))), Failure::reset);
    EXPECT_TRUE(std::holds_alternative<Response>(client->perform(get(server.url("/")))));
}

TEST(HttpClient, FindsHostsByName) {
    const Server server(Reply{200, {}, "by name"});
    const auto client = curl_client();
    for (int i = 0; i < 3; ++i) {
        Request request = get("http://LocalHost:" + std::to_string(server.port()) + "/");
        const Outcome outcome = client->perform(request);
        ASSERT_TRUE(std::holds_alternative<Response>(outcome)) << detail_of(outcome);
        EXPECT_EQ(std::get<Response>(outcome).body, "by name");
    }
    EXPECT_EQ(server.connections(), 1U);
}

TEST(HttpResolve, NamesAndTheirTimeLimit) {
    const auto found = resolve("localhost", milliseconds(5000));
    ASSERT_TRUE((std::holds_alternative<std::vector<std::string>>(found)));
    for (const std::string& address : std::get<std::vector<std::string>>(found))
        EXPECT_TRUE(is_address(address));
    EXPECT_EQ(std::get<Failed>(resolve(kNoHost, milliseconds(20'000))).failure, Failure::dns);
    const auto at_once = resolve("no-such-host.invalid", milliseconds(0));
    ASSERT_TRUE(std::holds_alternative<Failed>(at_once));
    EXPECT_NE(std::get<Failed>(at_once).failure, Failure::local);
    EXPECT_TRUE(is_address("192.0.2.1") && is_address("2001:db8::1"));
    EXPECT_FALSE(is_address("localhost") || is_address("") || is_address("[::1]") || is_address("1.2.3"));
}

TEST(HttpRules, FindTheAuthority) {
    const auto host_and_port = [](const char* url) {
        const auto [host, port] = authority_of(url);
        return host + " " + port;
    };
    EXPECT_EQ(host_and_port("http://Example.com"), "example.com 80");
    EXPECT_EQ(host_and_port("HTTPS://example.com?x=:9"), "example.com 443");
    EXPECT_EQ(host_and_port("https://example.com:8443/a:b"), "example.com 8443");
    EXPECT_EQ(host_and_port("http://[FE80::1]:9/x"), "fe80::1 9");
    EXPECT_EQ(host_and_port("http://[::1]/"), "::1 80");
    for (const char* host :
         {"169.254.169.254", "169.254.42.42", "fe80::1", "fd00:ec2::254", "metadata.google.internal"})
        EXPECT_TRUE(is_link_local(host)) << host;
    for (const char* host : {"169.25.4.1", "example.com", "metadata.google.internal.example", "1169.254.1.1"})
        EXPECT_FALSE(is_link_local(host)) << host;
}

}  // namespace
}  // namespace gpucheck::http
