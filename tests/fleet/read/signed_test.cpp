// Signed reports: whose signature counts, and what was changed on the way.
#include "providers/sign/dsse.h"
#include "tests/fleet/read/samples.h"

namespace gpucheck::fleet {
namespace {

sign::PrivateKey key_of(std::uint8_t byte) {
    std::array<std::uint8_t, 32> seed{};
    seed.fill(byte);
    return sign::PrivateKey(seed);
}

std::string pem_of_public(std::uint8_t byte) {
    return sign::pem_of(std::get<sign::PublicKey>(sign::public_of(key_of(byte))));
}

std::string signed_by(std::uint8_t byte, const Json& report, std::string_view type = sign::kReportType) {
    return std::get<std::string>(sign::make_envelope(key_of(byte), type, report.dump()));
}

TEST(Signed, CountsWhoseKeyIsTrusted) {
    const Folder folder;
    folder.write("keys/one.pem", pem_of_public(1));
    folder.write("r/1.json", signed_by(1, sample_report(1)));
    folder.write("r/2.json", signed_by(2, sample_report(2)));
    folder.write("r/3.json", sample_report(3).dump());
    Json tampered = Json::parse(signed_by(1, sample_report(4)));
    tampered["payload"] = Json::parse(signed_by(1, sample_report(5)))["payload"];
    folder.write("r/4.json", tampered.dump());
    folder.write("r/6.json", signed_by(1, sample_report(6), "text/plain"));
    Fleet fleet;
    ReadOptions options;
    options.keys_folder = folder / "keys";
    ASSERT_EQ(read_paths(fleet, {folder / "r"}, options).value_or(""), "");
    ASSERT_EQ(fleet.reports.size(), 3U);
    for (const NodeReport& report : fleet.reports)
        EXPECT_EQ(report.verified, report.node == "node-1") << report.node;
    ASSERT_EQ(fleet.rejected.size(), 2U);
    EXPECT_NE(fleet.rejected[0].why.find("changed after it was signed"), std::string::npos);
    EXPECT_NE(fleet.rejected[1].why.find("text/plain"), std::string::npos);

    // What a condensed report says of itself counts only where signatures are not checked.
    Fleet unchecked, checked;
    for (const NodeReport& report : fleet.reports) {
        const std::string line = condensed(fleet, report);
        ASSERT_EQ(add_document(unchecked, line, {}).value_or(""), "");
        ASSERT_EQ(add_document(checked, line, options).value_or(""), "");
    }
    EXPECT_TRUE(unchecked.reports[0].verified);
    EXPECT_FALSE(checked.reports[0].verified);
}

TEST(Signed, KeysThatAreNoneAreAnError) {
    const Folder folder;
    folder.write("r.json", sample_report(1).dump());
    folder.write("keys/readme.txt", "none");
    ReadOptions options;
    options.keys_folder = folder / "keys";
    Fleet fleet;
    EXPECT_NE(read_paths(fleet, {folder / "r.json"}, options).value_or("").find("no public key"),
              std::string::npos);
    folder.write("keys/bad.pem", "-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----\n");
    EXPECT_NE(read_paths(fleet, {folder / "r.json"}, options).value_or("").find("bad.pem"),
              std::string::npos);
    options.keys_folder = folder / "absent";
    EXPECT_NE(read_paths(fleet, {folder / "r.json"}, options).value_or(""), "");
    EXPECT_TRUE(fleet.reports.empty());
}

}  // namespace
}  // namespace gpucheck::fleet
