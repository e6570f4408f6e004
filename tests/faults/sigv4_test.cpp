// Signatures equal those that AWS publishes: a wrong one is refused, and a fault of a $300k machine stays
// untold.
#include "providers/send/sigv4.h"

#include <gtest/gtest.h>

namespace gpucheck::aws {
namespace {

// Of aws-sig-v4-test-suite: access key, secret, session token and time are the suite's.
constexpr const char* kToken =
    "AQoDYXdzEPT//////////"
    "wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7"
    "mSEI/qkPpKPi/"
    "kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d"
    "+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/"
    "oLxBA==";
const Credentials kCredentials{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
const Scope kScope{"us-east-1", "service", "20150830T123600Z"};

const crypto::Hash& hash() {
    static const auto opened = crypto::Hash::open();
    return std::get<crypto::Hash>(opened);
}

std::string header_of(const http::Request& request, const char* name) {
    for (const http::Header& header : request.headers) {
        if (header.name == name) return header.value;
    }
    return {};
}

struct Vector {
    const char* name;
    const char* method;
    const char* url;
    std::vector<http::Header> headers;
    const char* body;
    const char* token;
    const char* signed_headers;
    const char* signature;
};

const std::vector<Vector> kVectors = {
    {"get-vanilla",
     "GET",
     "https://example.amazonaws.com/",
     {},
     "",
     "",
     "host;x-amz-date",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-vanilla without a path",
     "GET",
     "https://example.amazonaws.com",
     {},
     "",
     "",
     "host;x-amz-date",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-vanilla-query-order-key-case",
     "GET",
     "https://example.amazonaws.com/?Param2=value2&Param1=value1",
     {},
     "",
     "",
     "host;x-amz-date",
     "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
    {"get-utf8",
     "GET",
     "https://example.amazonaws.com/%E1%88%B4",
     {},
     "",
     "",
     "host;x-amz-date",
     "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
    {"get-header-key-duplicate",
     "GET",
     "https://example.amazonaws.com/",
     {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}},
     "",
     "",
     "host;my-header1;x-amz-date",
     "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
    {"post-vanilla",
     "POST",
     "https://example.amazonaws.com/",
     {},
     "",
     "",
     "host;x-amz-date",
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"post-header-value-case",
     "POST",
     "https://example.amazonaws.com/",
     {{"My-Header1", "VALUE1"}},
     "",
     "",
     "host;my-header1;x-amz-date",
     "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
    {"post-x-www-form-urlencoded",
     "POST",
     "https://example.amazonaws.com/",
     {{"Content-Type", "application/x-www-form-urlencoded"}},
     "Param1=value1",
     "",
     "content-type;host;x-amz-date",
     "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
    {"post-sts-header-before",
     "POST",
     "https://example.amazonaws.com/",
     {},
     "",
     kToken,
     "host;x-amz-date;x-amz-security-token",
     "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
};

TEST(SigV4, EqualsThePublishedVectors) {
    for (const Vector& vector : kVectors) {
        http::Request request;
        request.method = vector.method;
        request.url = vector.url;
        request.headers = vector.headers;
        request.body = vector.body;
        Credentials credentials = kCredentials;
        credentials.session_token = vector.token;
        sign(request, credentials, kScope, hash());
        EXPECT_EQ(
            header_of(request, "Authorization"),
            std::string("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                        "SignedHeaders=") +
                vector.signed_headers + ", Signature=" + vector.signature)
            << vector.name;
        EXPECT_EQ(header_of(request, "X-Amz-Date"), "20150830T123600Z");
        EXPECT_EQ(header_of(request, "X-Amz-Security-Token"), vector.token);
    }
}

// The signature was computed apart, with Python's hmac.
TEST(SigV4, SignsTheRequestThatWeSend) {
    http::Request request;
    request.method = "POST";
    request.url = "https://ec2.us-west-2.amazonaws.com/";
    request.headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}};
    request.body =
        "Action=ReportInstanceStatus&Version=2016-11-15&Status=impaired&InstanceId.1=i-0example0000000001"
        "&ReasonCode.1=performance-other&StartTime=2026-01-01T00%3A00%3A00Z";
    Credentials credentials = kCredentials;
    credentials.session_token = kToken;
    sign(request, credentials, {"us-west-2", "ec2", "20260101T000500Z"}, hash());
    EXPECT_NE(header_of(request, "Authorization")
                  .find("SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, "
                        "Signature=b73d88a8bd8aa599aaaa7e927eeb85ecf6533e1903c0fae64f4b6b43062cc326"),
              std::string::npos)
        << header_of(request, "Authorization");
}

TEST(SigV4, SqueezesBlanksAndKeepsOrderOfEqualNames) {
    http::Request one, two;
    one.headers = {{"My-Header1", "  a   b  "}, {"Other", "x"}};
    two.headers = {{"Other", "x"}, {"my-header1", "a b"}};
    one.url = two.url = "https://example.amazonaws.com/?b&a=2&a=1";
    sign(one, kCredentials, kScope, hash());
    sign(two, kCredentials, kScope, hash());
    EXPECT_EQ(header_of(one, "Authorization"), header_of(two, "Authorization"));
    http::Request other = two;
    other.headers = {{"my-header1", "a  c"}, {"Other", "x"}};
    sign(other, kCredentials, kScope, hash());
    EXPECT_NE(header_of(one, "Authorization"), header_of(other, "Authorization"));
}

// RFC 4231, cases 1, 2 and 6; FIPS 180-4's "abc".
TEST(Hash, EqualsThePublishedVectors) {
    using crypto::hex;
    EXPECT_EQ(hex(hash().sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex(hash().sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex(hash().hmac_sha256(std::string(20, '\x0b'), "Hi There")),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hex(hash().hmac_sha256("Jefe", "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hex(hash().hmac_sha256(std::string(131, '\xaa'),
                                     "Test Using Larger Than Block-Size Key - Hash Key First")),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

}  // namespace
}  // namespace gpucheck::aws
