// Bodies and queries from strangers: what they cannot mean is refused, and never more memory is taken than
// was allowed.
#include <gtest/gtest.h>

#include "fleet/collect/query.h"
#include "fleet/collect/receive.h"
#include "fleet/collect/report_head.h"
#include "fleet/read/envelope.h"
#include "providers/delivery/gzip.h"
#include "providers/sign/base64.h"

namespace gpucheck::fleet::collect {
namespace {

TEST(Inflate, StopsAtItsBound) {
    const std::string text(100'000, 'a');
    const std::string packed = delivery::compress(text).value();
    bool too_large = true;
    EXPECT_EQ(delivery::decompress(packed, text.size(), &too_large), text);
    EXPECT_FALSE(too_large);
    EXPECT_EQ(delivery::decompress(packed, text.size() - 1, &too_large), std::nullopt);
    EXPECT_TRUE(too_large);
    for (std::size_t size = 0; size < packed.size(); ++size) {
        EXPECT_EQ(delivery::decompress(packed.substr(0, size), text.size(), &too_large), std::nullopt)
            << size;
        EXPECT_FALSE(too_large) << size;
    }
    EXPECT_EQ(delivery::decompress(packed + packed, text.size(), &too_large), std::nullopt);
}

sign::PrivateKey some_key() {
    std::array<std::uint8_t, 32> seed{};
    seed.fill(9);
    return sign::PrivateKey(seed);
}

// Two readers, one envelope: whatever one of them refuses the other must not believe.
TEST(Envelope, IsReadAsTheSendersOwnReaderReadsIt) {
    const std::string good =
        std::get<std::string>(sign::make_envelope(some_key(), sign::kReportType, R"({"a":1})"));
    std::vector<std::string> all = {good, "",     "{}",
                                    "[]", "\"\"", R"({"payload":"","payloadType":"","signatures":{}})"};
    for (std::size_t at = 0; at + 1 < good.size(); ++at) {
        all.push_back(good.substr(0, at));
        for (const char c : {'"', '=', '{', '\0', '\xff'}) {
            all.push_back(good);
            all.back()[at] = c;
        }
    }
    for (const char* name : {"payload", "payloadType", "signatures", "sig", "keyid"}) {
        const std::string member = "\"" + std::string(name) + "\":";
        all.push_back(good);
        all.back().replace(good.find(member), member.size(), member + "\"e30=\"," + member);
    }
    std::size_t believed = 0;
    for (const std::string& each : all) {
        const auto fast = open_envelope(each);
        const auto slow = sign::open_envelope(each);
        const auto* a = std::get_if<sign::Envelope>(&fast);
        const auto* b = std::get_if<sign::Envelope>(&slow);
        ASSERT_EQ(a == nullptr, b == nullptr) << each;
        if (a == nullptr) continue;
        ++believed;
        EXPECT_EQ(a->payload, b->payload);
        EXPECT_EQ(a->type, b->type);
        ASSERT_EQ(a->signatures.size(), b->signatures.size());
        for (std::size_t i = 0; i < a->signatures.size(); ++i) {
            EXPECT_EQ(a->signatures[i].bytes, b->signatures[i].bytes);
            EXPECT_EQ(a->signatures[i].key_id, b->signatures[i].key_id);
            EXPECT_EQ(a->signatures[i].public_key, b->signatures[i].public_key);
        }
    }
    EXPECT_GT(believed, 1U);
}

TEST(Envelope, HasBounds) {
    std::string many = R"({"payloadType":"","payload":"","signatures":[)";
    for (int i = 0; i < 16; ++i) many += R"({"sig":""},)";
    EXPECT_TRUE(
        std::holds_alternative<sign::Envelope>(open_envelope(many.substr(0, many.size() - 1) + "]}")));
    EXPECT_TRUE(std::holds_alternative<sign::Error>(open_envelope(many + R"({"sig":""}]})")));
    EXPECT_TRUE(std::holds_alternative<sign::Error>(open_envelope(std::string(100'000, '['))));
}

TEST(Query, SaysWhatItDoesNotUnderstand) {
    const auto read = question_of("node=gpu%2d1+a&verdict=fail&since=2026-11-30T10:00:00Z&limit=7&cursor=42");
    ASSERT_TRUE(std::holds_alternative<Question>(read)) << std::get<std::string>(read);
    const auto& question = std::get<Question>(read);
    EXPECT_EQ(question.node, "gpu-1 a");
    EXPECT_EQ(question.limit, 7);
    EXPECT_EQ(question.before_seq, 42);
    EXPECT_EQ(question.since_ms, 1796032800000);
    EXPECT_TRUE(std::holds_alternative<Question>(question_of("")));
    for (const char* bad : {"Node=a", "node", "node=", "node=a&node=b", "limit=-1", "limit=1001", "limit=1e2",
                            "limit= 1", "cursor=0", "cursor=9223372036854775808", "since=now",
                            "verdict=", "node=%", "node=%4", "node=%00", "node=a%0ab", "&", "=", "limit=1&"})
        EXPECT_EQ(std::holds_alternative<std::string>(question_of(bad)), std::string(bad) != "limit=1&")
            << bad;
    EXPECT_TRUE(std::holds_alternative<NodesQuestion>(nodes_question_of("cursor=gpu-1&limit=1000")));
    EXPECT_TRUE(std::holds_alternative<std::string>(nodes_question_of("node=a")));
}

// Base64's last group has its own rules, and every other byte counts.
TEST(Base64, DecodesWhatItEncodesAndNothingElse) {
    for (std::size_t size = 0; size < 40; ++size) {
        std::string bytes;
        for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(i * 37 + size);
        const std::string text = sign::base64(bytes);
        EXPECT_EQ(sign::base64_decode(text), bytes);
        for (std::size_t at = 0; at < text.size(); ++at) {
            std::string wrong = text;
            wrong[at] = '*';
            EXPECT_EQ(sign::base64_decode(wrong), std::nullopt) << text << " " << at;
        }
        if (!text.empty()) {
            EXPECT_EQ(sign::base64_decode(text.substr(1)), std::nullopt);
        }
    }
    for (const char* bad : {"=", "====", "A===", "AB==CD==", "AAB=", "AB==", "AA=A"})
        EXPECT_EQ(sign::base64_decode(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace gpucheck::fleet::collect
