// The configuration file: what it fills in, and every way in which it is refused.
#include "agent/config.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "agent/delivery.h"
#include "providers/sign/key_file.h"
#include "tests/delivery/folder.h"

namespace gpucheck {
namespace {

std::string refusal(const std::string& text) {
    const auto read = parse_config(text, "c.json");
    const auto* error = std::get_if<std::string>(&read);
    return error != nullptr ? *error : "";
}
bool says(const std::string& text, std::string_view part) {
    return refusal(text).find(part) != std::string::npos;
}

const char* const kWhole = R"({
    "provider": "digitalocean", "instance_type": "gpu-mi300x8-1536gb", "price_usd_per_hour": 15.92,
    "expect": {"gpu_count": 8, "board": "mi300x", "ecc": true}, "metadata": "off", "provider_token_file": "/etc/do-token",
    "state_folder": "/srv/gpucheck", "key_file": "/etc/gpucheck/key.pem",
    "spool": {"max_mib": 64, "max_reports": 100, "max_days": 7},
    "sinks": [{"url": "https://example.org/r", "token_file": "/etc/gpucheck/token", "ca_file": "/etc/ca.pem",
               "pin": "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "timeout_s": 5},
              {"url": "http://10.0.0.1/r", "insecure_http": true}]})";

TEST(Config, HoldsWhatItSays) {
    const Config config = std::get<Config>(parse_config(kWhole, "c.json"));
    EXPECT_EQ(config.provider, "digitalocean");
    EXPECT_EQ(config.expect, (std::vector<std::string>{"gpu_count=8", "board=mi300x", "ecc=on"}));
    EXPECT_DOUBLE_EQ(*config.price_usd_per_hour, 15.92);
    EXPECT_EQ(config.metadata, "off");
    ASSERT_EQ(config.sinks.size(), 2U);
    EXPECT_EQ(config.sinks[0].token_file, "/etc/gpucheck/token");
    EXPECT_DOUBLE_EQ(config.sinks[0].timeout_s, 5);
    EXPECT_EQ(config.bounds, (delivery::Bounds{64ULL << 20U, 100, 7}));
    EXPECT_TRUE(std::get<Config>(parse_config("{}", "c")).sinks.empty());
}

TEST(Config, UnknownKeysAreRefusedWithTheNearestName) {
    EXPECT_TRUE(says(R"({"sink": []})", R"(c.json: sink: unknown key, did you mean "sinks"?)"));
    EXPECT_TRUE(says(R"({"sinks":[{"url":"https://h/","tokenfile":"/t"}]})",
                     R"(sinks[0].tokenfile: unknown key, did you mean)"));
    EXPECT_TRUE(says(R"({"spool":{"max_mb":1}})", R"(spool.max_mb)"));
    EXPECT_TRUE(says(R"({"xyzzy":1})", "known are"));
    EXPECT_TRUE(says(R"({"sinks":[{"url":"https://h/","token":"s3cret"}]})", "unknown key"));
    EXPECT_FALSE(says(R"({"sinks":[{"url":"https://h/","token":"s3cret"}]})", "s3cret"));
}

TEST(Config, WrongTypesAndValuesNameTheirKey) {
    EXPECT_TRUE(says("[]", "must be an object"));
    EXPECT_TRUE(says("{", "c.json: "));
    EXPECT_TRUE(says(R"({"provider": 7})", "provider: must be a text"));
    EXPECT_TRUE(says(R"({"provider": ""})", "provider: must be a text"));
    EXPECT_TRUE(says(R"({"instance_type": "x"})", "instance_type: needs \"provider\""));
    EXPECT_TRUE(says(R"({"price_usd_per_hour": 0})", "price_usd_per_hour"));
    EXPECT_TRUE(says(R"({"price_usd_per_hour": 0.0009})", "from 0.001 to 100000"));
    EXPECT_TRUE(says(R"({"price_usd_per_hour": 100001})", "price_usd_per_hour"));
    EXPECT_EQ(refusal(R"({"price_usd_per_hour": 0.001})"), "");
    EXPECT_EQ(refusal(R"({"price_usd_per_hour": 100000})"), "");
    EXPECT_TRUE(says(R"({"price_usd_per_hour": "2"})", "price_usd_per_hour"));
    EXPECT_TRUE(says(R"({"metadata": "sometimes"})", R"("auto", "off", "probe")"));
    EXPECT_TRUE(says(R"({"expect": ["gpu_count=8"]})", "expect"));
    EXPECT_TRUE(says(R"({"expect": {"gpu_count": 8.5}})", "expect.gpu_count"));
    EXPECT_TRUE(says(R"({"sinks": {}})", "sinks"));
    EXPECT_TRUE(says(R"({"sinks": [7]})", "sinks[0]: must be an object"));
    EXPECT_TRUE(says(R"({"sinks": [{}]})", "sinks[0].url"));
    EXPECT_TRUE(says(R"({"sinks": [{"url": "http://example.org/"}]})", "use https"));
    EXPECT_TRUE(says(R"({"sinks": [{"url": "https://h/", "timeout_s": 0}]})", "sinks[0].timeout_s"));
    EXPECT_TRUE(says(R"({"sinks": [{"url": "https://h/", "token_file": "t"}]})", "absolute"));
    EXPECT_TRUE(
        says(R"({"sinks": [{"url": "https://h/", "token_credential": "../x"}]})", "token_credential"));
    EXPECT_TRUE(says(R"({"sinks": [{"url": "https://h/"}, {"url": "https://h/"}]})", "sinks[1].url"));
    EXPECT_TRUE(says(R"({"state_folder": "rel"})", "state_folder"));
    EXPECT_TRUE(says(R"({"spool": {"max_days": -1}})", "spool.max_days"));
    EXPECT_TRUE(says(R"({"spool": 1})", "spool: must be an object"));
}

TEST(Config, AKeyThatStandsTwiceIsRefused) {
    EXPECT_TRUE(says(R"({"sinks": [{"url": "https://a/"}], "sinks": []})", "'sinks' appears twice"));
    EXPECT_TRUE(says(R"({"expect": {"gpu_count": 8, "gpu_count": 7}})", "'gpu_count' appears twice"));
    EXPECT_EQ(refusal(R"({"sinks": [{"url": "https://a/"}, {"url": "https://b/"}]})"), "")
        << "of two objects";
}

TEST(Config, AFileThatIsNoConfigIsAClearError) {
    const test::Folder folder;
    const auto error = [&](const std::string& name) {
        const auto read = read_config(folder.path(name));
        const auto* text = std::get_if<std::string>(&read);
        return text != nullptr ? *text : "";
    };
    EXPECT_NE(error("none").find("not there"), std::string::npos);
    EXPECT_NE(error("").find("not a regular file"), std::string::npos);
    ASSERT_EQ(::mkfifo(folder.path("fifo").c_str(), 0600), 0);
    EXPECT_NE(error("fifo").find("not a regular file"), std::string::npos);
    folder.write("huge", std::string((1U << 20U) + 1, ' '));
    EXPECT_NE(error("huge").find("larger than"), std::string::npos);
    folder.write("junk", std::string("\xff\xfe\0{", 4));
    EXPECT_NE(error("junk"), "");
    folder.write("pasted", "bearer-s3cret");
    EXPECT_EQ(error("pasted").find("s3cret"), std::string::npos);
    folder.write("good", kWhole);
    EXPECT_EQ(error("good"), "");
}

TEST(Config, FillsOnlyWhatTheCommandLineLeftOpen) {
    Config config = std::get<Config>(parse_config(kWhole, "c.json"));
    cli::RunOptions options;
    options.machine.expect = {"gpu_count=4"};
    fill(config, options);
    EXPECT_EQ(options.machine.provider, "digitalocean");
    EXPECT_EQ(options.machine.provider_source, "config");
    EXPECT_EQ(options.machine.instance_type, "gpu-mi300x8-1536gb");
    EXPECT_EQ(options.machine.type_source, "config");
    EXPECT_EQ(options.machine.expect, (std::vector<std::string>{"gpu_count=4"}));
    EXPECT_EQ(options.machine.config_expect, config.expect);
    EXPECT_EQ(options.machine.metadata, "off");
    EXPECT_EQ(options.machine.provider_token, "/etc/do-token");
    EXPECT_EQ(options.machine.token_source, "config");
    EXPECT_EQ(options.price, "15.92");
    EXPECT_EQ(options.price_source, "config");

    cli::RunOptions other;
    other.machine.provider = "aws";
    other.machine.metadata = "probe";
    other.machine.provider_token = "/t";
    other.price = "2";
    fill(config, other);
    EXPECT_EQ(other.machine.provider_token, "/t");
    EXPECT_EQ(other.machine.token_source, "");
    EXPECT_EQ(other.machine.provider, "aws");
    EXPECT_EQ(other.machine.provider_source, "");
    EXPECT_EQ(other.machine.instance_type, "") << "another provider's type";
    EXPECT_EQ(other.machine.metadata, "probe");
    EXPECT_EQ(other.price, "2");
    EXPECT_EQ(other.price_source, "");

    cli::RunOptions alias;
    alias.machine.provider = "DigitalOcean";
    fill(config, alias);
    EXPECT_EQ(alias.machine.instance_type, "gpu-mi300x8-1536gb") << "the same provider by another name";

    cli::RunOptions recorded;
    recorded.machine.machine = "tests/machines/x";
    fill(config, recorded);
    EXPECT_EQ(recorded.machine.provider, "") << "this host's file says nothing of a recorded machine";
    EXPECT_TRUE(recorded.machine.config_expect.empty());
    config.named = true;
    fill(config, recorded);
    EXPECT_EQ(recorded.machine.provider, "digitalocean");
}

TEST(Plan, TheCommandLineWinsAndTakesTheSettingsOfTheSameReceiver) {
    const Config config = std::get<Config>(parse_config(kWhole, "c.json"));
    const auto plan = std::get<DeliveryPlan>(plan_delivery(config, "https://example.org/r", ""));
    ASSERT_EQ(plan.sinks.size(), 1U);
    EXPECT_EQ(plan.sinks[0].token_file, "/etc/gpucheck/token");
    EXPECT_EQ(plan.spool_folder, "/srv/gpucheck/spool");
    EXPECT_EQ(plan.key_file, "/etc/gpucheck/key.pem");
    const test::Folder folder;
    ASSERT_TRUE(std::holds_alternative<sign::LoadedKey>(sign::own_key(folder.path("state"))));
    const std::string own = folder.path("state/" + folder.list("state").at(0));
    EXPECT_EQ(std::get<DeliveryPlan>(plan_delivery(config, "", own)).key_file, own);
    EXPECT_NE(std::get<std::string>(plan_delivery(config, "", folder.path("none"))).find("--key"), std::string::npos);
    EXPECT_EQ(std::get<DeliveryPlan>(plan_delivery(config, "https://other/r", "")).sinks[0].token_file, "");
    EXPECT_FALSE(std::get<DeliveryPlan>(plan_delivery({}, "", "")).wanted());
    const auto refused = plan_delivery(config, "http://u:s3cret@h/?k=s3cret", "");
    EXPECT_NE(std::get<std::string>(refused).find("token_file"), std::string::npos);
    EXPECT_EQ(std::get<std::string>(refused).find("s3cret"), std::string::npos);
}

}  // namespace
}  // namespace gpucheck
