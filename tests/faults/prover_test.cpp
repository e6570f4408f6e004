// The proof that goes out with a report: which headers, for which sinks, how often it is asked for.
#include "providers/delivery/proof.h"

#include <gtest/gtest.h>

#include "providers/crypto/hash.h"
#include "providers/delivery/flush.h"
#include "providers/delivery/gzip.h"
#include "tests/delivery/folder.h"
#include "tests/faults/moved_client.h"
#include "tests/loopback/script.h"

namespace gpucheck::delivery {
namespace {

using std::chrono::milliseconds;

Entry entry_of(const char* provider) {
    Entry entry;
    entry.provider = provider;
    entry.sink.url = "https://reports.example/v1";
    entry.sink.prove_identity = true;
    entry.body = "the envelope";
    return entry;
}

std::vector<http::Header> headers_of(Prover& prover, const Entry& entry, milliseconds most) {
    auto made = prover.headers(entry, most);
    auto* headers = std::get_if<std::vector<http::Header>>(&made);
    return headers != nullptr ? std::move(*headers) : std::vector<http::Header>();
}

std::string value_of(const std::vector<http::Header>& headers, const char* name) {
    for (const http::Header& header : headers) {
        if (header.name == name) return header.value;
    }
    return {};
}

std::string digest_of(const char* text) {
    return crypto::hex(std::get<crypto::Hash>(crypto::Hash::open()).sha256(text));
}

constexpr const char* kAws = R"({"answers": {"PUT /latest/api/token": {"body": "session"},
    "GET /latest/dynamic/instance-identity/rsa2048": {"body": "MIIB"}}})";

TEST(Prover, AsksOnceForWhatIsNotBoundToOneReport) {
    const loopback::Server server(std::get<loopback::Handler>(loopback::script(kAws)));
    MovedClient client(server);
    Prover prover(client);
    for (int i = 0; i < 3; ++i) {
        const auto headers = headers_of(prover, entry_of("aws"), milliseconds(5000));
        EXPECT_EQ(value_of(headers, "Gpucheck-Identity-Kind"), "aws-rsa2048");
        EXPECT_EQ(value_of(headers, "Gpucheck-Identity"), "MIIB");
        EXPECT_EQ(headers.size(), 2U) << "bound to nothing";
    }
    EXPECT_EQ(server.seen().size(), 2U);
}

TEST(Prover, AzureIsBoundToTheDecodedBodyOfEachReport) {
    const loopback::Server server([](const loopback::Seen&) {
        return loopback::Reply{200, {}, R"({"signature": "MIIE"})"};
    });
    MovedClient client(server);
    Prover prover(client);
    Entry entry = entry_of("azure");
    EXPECT_EQ(value_of(headers_of(prover, entry, milliseconds(5000)), "Gpucheck-Identity-Bound-To"),
              digest_of("the envelope").substr(0, 32));
    entry.body = "another envelope";
    EXPECT_EQ(value_of(headers_of(prover, entry, milliseconds(5000)), "Gpucheck-Identity-Bound-To"),
              digest_of("another envelope").substr(0, 32));
    if (const auto smaller = compress(entry.body)) {
        entry.body = *smaller;
        entry.gzip = true;
        EXPECT_EQ(value_of(headers_of(prover, entry, milliseconds(5000)), "Gpucheck-Identity-Bound-To"),
                  digest_of("another envelope").substr(0, 32));
        entry.body[entry.body.size() / 2] ^= 1;
        EXPECT_TRUE(headers_of(prover, entry, milliseconds(5000)).empty()) << "damaged";
    }
}

TEST(Prover, WithoutAProofThereIsNoHeader) {
    const loopback::Server server(loopback::Reply{.manner = loopback::Manner::silent});
    MovedClient client(server);
    Prover prover(client);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(headers_of(prover, entry_of("aws"), milliseconds(50)).empty());
    EXPECT_TRUE(headers_of(prover, entry_of("azure"), milliseconds(50)).empty());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5))
        << "not the service's own time";
    EXPECT_TRUE(headers_of(prover, entry_of(""), milliseconds(50)).empty());
    Entry insecure = entry_of("aws");
    insecure.sink.url = "http://reports.example/v1";
    EXPECT_TRUE(headers_of(prover, insecure, milliseconds(50)).empty());
    EXPECT_EQ(server.connections(), 2U);
    EXPECT_TRUE(headers_of(prover, entry_of("aws"), milliseconds(5000)).empty());
    EXPECT_EQ(server.connections(), 2U) << "it is not asked again";
}

TEST(Prover, AnEnrolmentTokenThatCannotBeReadIsTheReason) {
    const loopback::Server server(loopback::Reply{.status = 404});
    MovedClient client(server);
    const test::Folder folder;
    Entry entry = entry_of("lambda");
    entry.sink.enrolment_token_file = folder.path("token");
    Prover absent(client);
    const auto none = absent.headers(entry, milliseconds(5000));
    ASSERT_TRUE(std::holds_alternative<std::string>(none));
    EXPECT_NE(std::get<std::string>(none).find(folder.path("token")), std::string::npos)
        << std::get<std::string>(none);
    folder.write("token", "two\nlines\n");
    Prover malformed(client);
    EXPECT_TRUE(headers_of(malformed, entry, milliseconds(5000)).empty());
    folder.write("token", "once\n");
    Prover good(client);
    EXPECT_EQ(value_of(headers_of(good, entry, milliseconds(5000)), "Gpucheck-Identity"), "once");
}

// A receiver as configured today decides, not what the spooled entry remembers.
TEST(Prover, ProofGoesOnlyWhereItIsWanted) {
    const loopback::Server receiver(loopback::Reply{.status = 201});
    const auto client = http::curl_client();
    for (const bool wanted : {false, true}) {
        const test::Folder folder;
        auto spool = std::move(std::get<Spool>(Spool::open(folder.path("spool"), {})));
        Entry entry = entry_of("aws");
        entry.report_id = "01a22dc4-0000-7000-8000-000000000001";
        entry.created = "2026-11-30T10:00:00Z";
        entry.content_type = "application/json";
        entry.sink.url = receiver.url("/r");
        entry.sink.prove_identity = !wanted;
        ASSERT_FALSE(spool.add(entry, Verdict::fail));
        FlushOptions options;
        options.now_s = [] { return std::int64_t{1796000000}; };
        options.dice = [] { return 0.0; };
        options.proof = [](const Entry& asked, milliseconds most) {
            EXPECT_EQ(asked.provider, "aws");
            EXPECT_GT(most.count(), 0);
            return std::vector<http::Header>{{"Gpucheck-Identity", "MIIB"}};
        };
        options.sinks = {entry.sink};
        options.sinks[0].prove_identity = wanted;
        EXPECT_EQ(flush(spool, *client, options).delivered, 1U);
        EXPECT_EQ(receiver.seen().back().header("gpucheck-identity"), wanted ? "MIIB" : "");
    }
}

}  // namespace
}  // namespace gpucheck::delivery
