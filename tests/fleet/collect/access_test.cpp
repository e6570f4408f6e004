// Tokens, keys and rates: a typing error in a file must not open a door, and a token's bound must hold.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fleet/collect/access.h"
#include "fleet/collect/credentials.h"
#include "fleet/collect/database.h"
#include "fleet/collect/keys.h"
#include "providers/crypto/hash.h"

namespace gpucheck::fleet::collect {
namespace {

class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "collect-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    std::string write(const std::string& name, const std::string& text, unsigned mode = 0600) const {
        const auto file = path_ / name;
        std::ofstream(file) << text;
        std::filesystem::permissions(file, static_cast<std::filesystem::perms>(mode));
        return file.string();
    }
    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

std::string hex_digest(const std::string& token) {
    return crypto::hex(std::get<crypto::Hash>(crypto::Hash::open()).sha256(token));
}
std::string token(const std::string& more) {
    return R"({"tokens": [{"name": "a", "sha256": ")" + hex_digest("t") + "\"" + more + "}]}";
}

TEST(Credentials, FindsATokenByItsTextAlone) {
    const Folder folder;
    const auto read = read_credentials(folder.write("t", token(R"(, "may": ["report"])")));
    ASSERT_TRUE(std::holds_alternative<Credentials>(read)) << std::get<std::string>(read);
    const auto& credentials = std::get<Credentials>(read);
    ASSERT_NE(credentials.find("t"), nullptr);
    EXPECT_EQ(credentials.find("t")->name, "a");
    EXPECT_TRUE(credentials.anyone_may_report_by_token());
    EXPECT_FALSE(credentials.anyone_may_read_by_token());
    for (const std::string& wrong : {std::string(), std::string("T"), std::string("t "), hex_digest("t")})
        EXPECT_EQ(credentials.find(wrong), nullptr) << wrong;
    EXPECT_EQ(credentials.find_enrolment("t"), nullptr);
}

TEST(Credentials, RefusesWhatItDoesNotUnderstand) {
    const Folder folder;
    const std::string enrolment = R"({"enrolment": [{"sha256": ")" + hex_digest("e") + "\"";
    for (const std::string& bad :
         {std::string(), std::string("[]"), std::string(R"({"token": []})"), std::string(R"({"tokens": {}})"),
          token(""), token(R"(, "may": [])"), token(R"(, "may": ["write"])"), token(R"(, "may": "report")"),
          token(R"(, "may": ["report"], "rate": 1)"), token(R"(, "may": ["report"], "burst": 0)"),
          token(R"(, "may": ["report"], "reports_per_minute": "1")"),
          token(R"(, "may": ["report"], "name": "b")"), token(R"(, "may": ["report"], "max_bytes": -1)"),
          enrolment + R"(, "expires": "soon"}]})", enrolment + R"(, "machine": 7}]})",
          enrolment + "}, {\"sha256\": \"" + hex_digest("e") + "\"}]}",
          R"({"tokens": [{"name": "a", "may": ["read"], "sha256": ")" + hex_digest("") + "\"}]}",
          std::string(R"({"tokens": [{"name": "a", "may": ["read"], "sha256": "t"}]})")})
        EXPECT_TRUE(std::holds_alternative<std::string>(read_credentials(folder.write("t", bad)))) << bad;
    const std::string good = token(R"(, "may": ["read"])");
    EXPECT_TRUE(std::holds_alternative<std::string>(read_credentials(folder.write("o", good, 0640))));
    EXPECT_TRUE(std::holds_alternative<Credentials>(read_credentials(folder.write("p", good, 0400))));
    EXPECT_TRUE(std::holds_alternative<std::string>(read_credentials(folder.path())));
}

TEST(Rates, GivesABurstThenWhatTimeBrings) {
    Token slow;
    slow.name = "slow";
    slow.reports_per_minute = 6;
    slow.burst = 2;
    Rates rates;
    const auto start = Rates::Clock::now();
    EXPECT_EQ(rates.take(slow, start), std::nullopt);
    EXPECT_EQ(rates.take(slow, start), std::nullopt);
    EXPECT_EQ(rates.take(slow, start), 10);
    EXPECT_EQ(rates.take(slow, start + std::chrono::milliseconds(9500)), 1);
    EXPECT_EQ(rates.take(slow, start + std::chrono::seconds(10)), std::nullopt);
    EXPECT_NE(rates.take(slow, start + std::chrono::seconds(10)), std::nullopt);
    EXPECT_NE(rates.take(slow, start), std::nullopt);  // a clock that goes back gives nothing
    Token other = slow;
    other.name = "other";
    EXPECT_EQ(rates.take(other, start), std::nullopt);
}

TEST(Keys, AreReadWholeOrNotAtAll) {
    sign::PublicKey key;
    key.bytes.fill(7);
    const Folder folder;
    EXPECT_TRUE(std::get<TrustedKeys>(read_keys("")).empty());
    folder.write("any.pem", sign::pem_of(key));
    folder.write("note.txt", "not a key");
    key.bytes.fill(8);
    folder.write("one.pem", "machine:  aws/i-0abc \r\n" + sign::pem_of(key));
    const auto read = read_keys(folder.path());
    ASSERT_TRUE(std::holds_alternative<TrustedKeys>(read)) << std::get<std::string>(read);
    const auto& keys = std::get<TrustedKeys>(read);
    ASSERT_EQ(keys.size(), 2U);
    EXPECT_EQ(keys.at(std::get<std::string>(sign::key_id(key))).machine, "aws/i-0abc");
    folder.write("private.pem", sign::pem_of(sign::PrivateKey({})));
    EXPECT_NE(std::get<std::string>(read_keys(folder.path())).find("private.pem"), std::string::npos);
    EXPECT_TRUE(std::holds_alternative<std::string>(read_keys(folder.path() + "/none")));
}

TEST(Database, NamesNoPasswordInAnySpelling) {
    for (const char* bad : {"postgresql://u:pw@h/d",
                            "postgres://u:@h/d",
                            "postgresql://u%3apw@h/d",
                            "postgresql://?a=1:pw@h/d",
                            "postgresql://h/d?password=pw",
                            "postgresql://h/d?user=u&pass%77ord=pw",
                            "postgresql://h/d?sslpassword=x",
                            "postgresql://h/d?PASSWORD=x",
                            "postgresql://h/d?a=b%zz",
                            "postgresql://h/d?dbname=password%3Dpw",
                            "postgresql://u:pw/d",
                            "postgresql://u:1/2@h/d",
                            "host=h password=pw",
                            "password = 'pw'",
                            "host=h",
                            "dbname=fleet",
                            "/tmp/x password=pw",
                            "mysql://h/d",
                            "",
                            "service=fleet",
                            "pass%77ord=pw"}) {
        const auto why = fault_of_database_name(bad);
        ASSERT_TRUE(why) << bad;
        EXPECT_EQ(why->find("pw"), std::string::npos) << bad;
    }
    for (const char* good :
         {"reports.db", "/var/lib/gpucheck-fleet/reports.db", "./a=b.db", "/data/a=b/reports.db",
          "postgresql://fleet@h/d", "postgresql://h", "postgresql:///d?host=/run/postgresql&user=u",
          "postgres://fleet@[::1]:5432,h2:5433/d?sslmode=verify-full", "postgresql://u%40azure@h/d",
          "postgresql://h/d?passfile=/etc/pass", "/home/password/reports.db"})
        EXPECT_EQ(fault_of_database_name(good), std::nullopt) << good;
}

TEST(Access, KnowsItsOwnNamesExactly) {
    for (const char* own : {"localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:65535", "[::1]", "[::1]:80"})
        EXPECT_TRUE(Access::is_local_name(own)) << own;
    for (const char* other : {"", "localhost.", "localhost:", "localhost:x", "localhost.evil.com",
                              "[::1].evil.com", "[::1]x", "127.0.0.1.evil.com", "127.0.0.11", "::1",
                              "127.0.0.1:80:80", "evil.com", "[::1]:80.evil.com", "localhost:123456"})
        EXPECT_FALSE(Access::is_local_name(other)) << other;
}

}  // namespace
}  // namespace gpucheck::fleet::collect
