// Signatures against RFC 8032's vectors and DSSE's, and everything that must not verify.
#include "providers/sign/ed25519.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "providers/sign/base64.h"
#include "providers/sign/dsse.h"
#include "providers/sign/key_file.h"
#include "tests/delivery/folder.h"

namespace gpucheck::sign {
namespace {

std::string bytes(std::string_view hex) {
    std::string out;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    return out;
}

std::array<std::uint8_t, 32> key_bytes(std::string_view hex) {
    const std::string text = bytes(hex);
    std::array<std::uint8_t, 32> out{};
    std::copy(text.begin(), text.end(), out.begin());
    return out;
}

PrivateKey a_key(std::uint8_t fill = 7) {
    std::array<std::uint8_t, 32> seed{};
    seed.fill(fill);
    return PrivateKey(seed);
}
PublicKey public_key_of(const PrivateKey& key) {
    return std::get<PublicKey>(public_of(key));
}
Trust trust(std::string_view envelope, const PublicKey& key) {
    return std::get<Verified>(verify(std::get<Envelope>(open_envelope(envelope)), key)).trust;
}
std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(Ed25519, SignsAsRfc8032Section71Says) {
    struct Vector {
        std::string_view secret, open, message, signature;
    };
    const Vector vectors[] = {{"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                               "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                               "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33"
                               "bacc61e39701cf9b46bd25bf5f0595"
                               "bbe24655141438e7a100b"},
                              {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                               "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                               "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e159"
                               "96e458f3613d0f11d8c387b2eaeb43"
                               "02aeeb00d291612bb0c00"},
                              {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                               "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
                               "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f"
                               "290ae67f760984dc6594a7c15e9716"
                               "ed28dc027beceea1ec40a"}};
    for (const Vector& each : vectors) {
        const PrivateKey key(key_bytes(each.secret));
        EXPECT_EQ(public_key_of(key).bytes, key_bytes(each.open));
        EXPECT_EQ(std::get<std::string>(signature(key, bytes(each.message))), bytes(each.signature));
        EXPECT_TRUE(
            std::get<bool>(is_signature(public_key_of(key), bytes(each.message), bytes(each.signature))));
        EXPECT_FALSE(std::get<bool>(is_signature(public_key_of(key), "x", bytes(each.signature))));
        EXPECT_FALSE(std::get<bool>(is_signature(public_key_of(key), bytes(each.message), "short")));
    }
}

TEST(Ed25519, ReadsThePemOfOpenSslAndItsOwn) {
    // Rfc 8410, section 10.3 and 10.1.
    const auto key = private_key(
        "-----BEGIN PRIVATE "
        "KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE "
        "KEY-----\n");
    const auto open = public_key(
        "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END "
        "PUBLIC "
        "KEY-----\n");
    EXPECT_EQ(public_key_of(std::get<PrivateKey>(key)), std::get<PublicKey>(open));
    EXPECT_EQ(std::get<PublicKey>(public_key(pem_of(std::get<PublicKey>(open)))), std::get<PublicKey>(open));
    EXPECT_EQ(std::get<PrivateKey>(private_key(pem_of(a_key()))).seed(), a_key().seed());
}

TEST(Ed25519, OtherPemIsAnErrorThatHoldsNoPartOfIt) {
    const std::string own = pem_of(a_key());
    for (const std::string& text :
         {std::string(), std::string("-----BEGIN PRIVATE KEY-----\n"), replaced(own, "MC4C", "MC5C"),
          replaced(own, "PRIVATE KEY", "ENCRYPTED PRIVATE KEY"), replaced(own, "BwcH", "Bw*H"),
          own.substr(0, 60)}) {
        const auto read = private_key(text);
        ASSERT_TRUE(std::holds_alternative<Error>(read)) << text;
        EXPECT_EQ(std::get<Error>(read).what.find("Bwc"), std::string::npos);
    }
    EXPECT_EQ(std::get<Error>(public_key(own)).what, "a private key where a public one belongs");
}

TEST(Base64, EveryLengthReturnsAndNothingElseIsTaken) {
    std::string text;
    for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(base64_decode(base64(text)), text);
        text += static_cast<char>(i * 7);
    }
    EXPECT_EQ(base64("\xfb\xff"), "+/8=");
    EXPECT_EQ(base64_decode("-_8="), "\xfb\xff");
    for (const char* bad : {"A", "AA", "AAA", "AA=A", "====", "AB==", "AAB=", "AA==AAAA", "A A=", "AAA\n"})
        EXPECT_FALSE(base64_decode(bad)) << bad;
}

TEST(Dsse, EncodesAsTheProtocolSays) {
    EXPECT_EQ(pre_authentication_encoding("http://example.com/HelloWorld", "hello world"),
              "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    EXPECT_EQ(pre_authentication_encoding("", ""), "DSSEv1 0  0 ");
}

TEST(Dsse, TellsApartWhatDoesNotVerify) {
    const std::string envelope =
        std::get<std::string>(make_envelope(a_key(), kReportType, "{\"verdict\":\"fail\"}"));
    const PublicKey key = public_key_of(a_key());
    EXPECT_EQ(trust(envelope, key), Trust::verified);
    EXPECT_EQ(trust(envelope, public_key_of(a_key(8))), Trust::other_key);
    EXPECT_EQ(
        trust(replaced(envelope, base64("{\"verdict\":\"fail\"}"), base64("{\"verdict\":\"pass\"}")), key),
        Trust::tampered);
    EXPECT_EQ(trust(replaced(envelope, "vnd.gpucheck", "vnd.otherapp"), key), Trust::wrong_type);
    // The same payload under another type that we would take must not verify: the type is signed too.
    const std::string other = std::get<std::string>(make_envelope(a_key(), "application/json", "{}"));
    EXPECT_EQ(trust(replaced(other, "application/json", kReportType), key), Trust::tampered);
    EXPECT_EQ(
        trust(R"({"payloadType":"application/vnd.gpucheck.report+json","payload":"e30=","signatures":[]})",
              key),
        Trust::no_signature);
}

// Readers disagree on which of the two counts: one may show what another one did not verify.
TEST(Dsse, AMemberThatIsNamedTwiceIsNoEnvelope) {
    const std::string envelope = std::get<std::string>(make_envelope(a_key(), kReportType, "{}"));
    for (const char* name : {"payload", "payloadType", "signatures", "sig"}) {
        const std::string member = "\"" + std::string(name) + "\":";
        const auto opened = open_envelope(replaced(envelope, member, member + "\"e30=\"," + member));
        ASSERT_TRUE(std::holds_alternative<Error>(opened)) << name;
        EXPECT_NE(std::get<Error>(opened).what.find("twice"), std::string::npos) << name;
    }
}

// A receiver that enrols a machine has no other way to its key.
TEST(Dsse, AnEnvelopeCarriesItsPublicKeyWhichProvesNothing) {
    const std::string envelope = std::get<std::string>(make_envelope(a_key(), kReportType, "{}"));
    const PublicKey own = public_key_of(a_key());
    const auto carried = std::get<Envelope>(open_envelope(envelope)).signatures.at(0).public_key;
    EXPECT_EQ(std::get<PublicKey>(public_key_of_der(carried)), own);
    EXPECT_TRUE(std::holds_alternative<Error>(public_key_of_der(carried.substr(1))));
    const std::string other =
        replaced(envelope, base64(der_of(own)), base64(der_of(public_key_of(a_key(8)))));
    EXPECT_EQ(trust(other, own), Trust::verified);
    EXPECT_EQ(trust(other, public_key_of(a_key(8))), Trust::other_key);
    EXPECT_TRUE(std::holds_alternative<Error>(open_envelope(replaced(envelope, base64(der_of(own)), "*"))));
}

TEST(Dsse, AKeyIdIsAHintAndNoProof) {
    const std::string envelope = std::get<std::string>(make_envelope(a_key(), kReportType, "{}"));
    const std::string id = std::get<std::string>(key_id(public_key_of(a_key())));
    EXPECT_EQ(trust(replaced(envelope, id, "somebody"), public_key_of(a_key())), Trust::verified);
    const std::string other = std::get<std::string>(key_id(public_key_of(a_key(8))));
    EXPECT_EQ(trust(replaced(envelope, id, other), public_key_of(a_key(8))), Trust::tampered);
}

TEST(Dsse, EveryCutIsAnErrorAndNeverVerifies) {
    const std::string envelope = std::get<std::string>(make_envelope(a_key(), kReportType, "{\"a\":1}"));
    for (std::size_t size = 0; size + 2 < envelope.size(); ++size)
        EXPECT_TRUE(std::holds_alternative<Error>(open_envelope(envelope.substr(0, size)))) << size;
    for (const char* bad : {"[]", "{}", "7", R"({"payloadType":1,"payload":"","signatures":[]})",
                            R"({"payloadType":"","payload":"*","signatures":[]})",
                            R"({"payloadType":"","payload":"","signatures":[1]})",
                            R"({"payloadType":"","payload":"","signatures":[{"sig":"*"}]})"})
        EXPECT_TRUE(std::holds_alternative<Error>(open_envelope(bad))) << bad;
}

TEST(KeyFile, IsMadeOnceForItsOwnerAlone) {
    const test::Folder folder;
    const std::string state = folder.path("state");
    EXPECT_TRUE(std::holds_alternative<Error>(load_key(state + "/key.pem")));
    const auto first = std::get<LoadedKey>(own_key(state));
    EXPECT_EQ(first.warning, "");
    struct stat status {};
    ASSERT_EQ(::stat(first.path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    EXPECT_EQ(std::get<LoadedKey>(own_key(state)).key.seed(), first.key.seed());
    ::chmod(first.path.c_str(), 0644);
    EXPECT_NE(std::get<LoadedKey>(own_key(state)).warning, "");
    folder.write("state/key.pem", "");
    EXPECT_TRUE(std::holds_alternative<Error>(own_key(state))) << "a damaged key is never replaced";
}

TEST(KeyFile, ManyProcessesGetOneKey) {
    const test::Folder folder;
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            const auto key = own_key(folder.path("state"));
            const bool made = std::holds_alternative<LoadedKey>(key);
            if (made)
                folder.write(std::to_string(i),
                             base64(std::string(std::get<LoadedKey>(key).key.seed().begin(),
                                                std::get<LoadedKey>(key).key.seed().end())));
            ::_exit(made ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 1;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    for (int i = 1; i < 8; ++i) EXPECT_EQ(folder.read(std::to_string(i)), folder.read("0"));
    EXPECT_EQ(folder.read("0").size(), 44U);
}

}  // namespace
}  // namespace gpucheck::sign
