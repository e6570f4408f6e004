// Files, identifiers and times of reports.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "agent/report/output_file.h"
#include "agent/report/report_id.h"

namespace gpucheck::report {
namespace {

namespace fs = std::filesystem;

class Output : public ::testing::Test {
  protected:
    Output() {
        std::string pattern = (fs::temp_directory_path() / "gpucheck-output-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~Output() override { fs::remove_all(folder_); }
    std::string at(const std::string& name) const { return (folder_ / name).string(); }
    static std::string content(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }
    fs::path folder_;
};

TEST_F(Output, WritesWholeFilesAndLeavesNothingBehind) {
    const std::string path = at("report.json"), big(3 << 20, 'x');
    EXPECT_EQ(atomic_write(path, "one\n"), std::nullopt);
    EXPECT_EQ(content(path), "one\n");
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
    EXPECT_EQ(atomic_write(path, big), std::nullopt);
    EXPECT_EQ(content(path), big);
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0644U);
    EXPECT_EQ(atomic_write(path, ""), std::nullopt);
    EXPECT_EQ(content(path), "");
    EXPECT_EQ(entries(), 1U);
}

TEST_F(Output, AReaderOfTheOldFileKeepsIt) {
    const std::string path = at("report.json");
    ASSERT_EQ(atomic_write(path, "old"), std::nullopt);
    std::ifstream reader(path);
    ASSERT_EQ(atomic_write(path, "new"), std::nullopt);
    std::string seen;
    reader >> seen;
    EXPECT_EQ(seen, "old");
}

TEST_F(Output, LinksAreFollowed) {
    fs::create_directory(folder_ / "real");
    fs::create_symlink("real/report.json", at("link"));
    EXPECT_NE(atomic_write(at("link"), "x"), std::nullopt) << "it leads nowhere yet";
    ASSERT_EQ(atomic_write(at("real/report.json"), "old"), std::nullopt);
    EXPECT_EQ(atomic_write(at("link"), "new"), std::nullopt);
    EXPECT_TRUE(fs::is_symlink(at("link")));
    EXPECT_EQ(content(at("real/report.json")), "new");
}

TEST_F(Output, DevicesAreNeverReplaced) {
    EXPECT_EQ(atomic_write("/dev/null", "x"), std::nullopt);
    struct stat status {};
    ASSERT_EQ(::stat("/dev/null", &status), 0);
    EXPECT_TRUE(S_ISCHR(status.st_mode));
    EXPECT_EQ(atomic_write("/dev/full", "x"), "/dev/full: the disk is full");
    ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
    EXPECT_EQ(atomic_write(at("fifo"), "x"), at("fifo") + ": nobody reads this pipe");
}

TEST_F(Output, ErrorsSayWhatIsWrong) {
    EXPECT_EQ(atomic_write(folder_.string(), "x"), folder_.string() + ": is a folder");
    EXPECT_TRUE(atomic_write(at("none/report.json"), "x")
                    .value()
                    .ends_with("no such folder, or a link that leads nowhere"));
    EXPECT_NE(atomic_write(at("none/"), "x"), std::nullopt);
    EXPECT_NE(atomic_write("", "x"), std::nullopt);
    EXPECT_EQ(atomic_write(at(std::string(300, 'n')), "x"),
              at(std::string(300, 'n')) + ": the name is too long");
    ASSERT_EQ(atomic_write(at("file"), "kept"), std::nullopt);
    EXPECT_TRUE(atomic_write(at("file/below"), "x").value().ends_with("not a folder"));
    EXPECT_EQ(content(at("file")), "kept");
    EXPECT_EQ(entries(), 1U);
}

TEST_F(Output, ADiskThatFillsUpKeepsTheOldFile) {
    const std::string path = at("report.json");
    ASSERT_EQ(atomic_write(path, "old"), std::nullopt);
    struct rlimit before {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small { 1 << 16, before.rlim_max };
    std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto error =
        atomic_write(path, std::string(1 << 20, 'x'));  // stops in the middle, as a full disk does
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_NE(error, std::nullopt);
    EXPECT_EQ(content(path), "old");
    EXPECT_EQ(entries(), 1U);
}

TEST(ReportId, IsAUuidOfVersion7) {
    const std::string id =
        uuid_v7(0x0123456789abULL, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
    EXPECT_EQ(id, "01234567-89ab-7fff-bfff-ffffffffffff");
    // RFC 9562, appendix A.6
    EXPECT_EQ(uuid_v7(0x017F22E279B0ULL, {0x7C, 0xC3, 0x98, 0xC4, 0xDC, 0x0C, 0x0C, 0x07, 0x39, 0x8F}),
              "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    std::set<std::string> ids;
    for (int i = 0; i < 1000; ++i) ids.insert(new_report_id());
    EXPECT_EQ(ids.size(), 1000U);
    EXPECT_EQ((*ids.begin())[14], '7');
}

TEST(ReportId, OtherFormsAreNone) {
    EXPECT_TRUE(is_report_id(new_report_id()));
    for (const char* bad : {"", "01a22e8b-2146-7607-8969-65904d6b5a7", "01A22e8b-2146-7607-8969-65904d6b5a7a",
                            "01a22e8b-2146-7607-8969-65904d6b5a7a0", "01a22e8b02146-7607-8969-65904d6b5a7a",
                            "01a22e8b-2146-4607-8969-65904d6b5a7a", "01a22e8b-2146-7607-c969-65904d6b5a7a"})
        EXPECT_FALSE(is_report_id(bad)) << bad;
}

TEST(Time, BothWays) {
    EXPECT_EQ(rfc3339_utc(0), "1970-01-01T00:00:00Z");
    EXPECT_EQ(rfc3339_utc(1796032800), "2026-11-30T10:00:00Z");
    EXPECT_EQ(rfc3339_utc(-1), "1969-12-31T23:59:59Z");
    EXPECT_EQ(rfc3339_utc(951782400), "2000-02-29T00:00:00Z");
    EXPECT_EQ(rfc3339_utc(std::numeric_limits<std::int64_t>::max()), "9999-12-31T23:59:59Z");
    EXPECT_EQ(rfc3339_utc(std::numeric_limits<std::int64_t>::min()), "0000-01-01T00:00:00Z");
    for (const std::int64_t when :
         {std::int64_t{0}, std::int64_t{951782400}, std::int64_t{1796032800}, std::int64_t{-86400}}) {
        EXPECT_EQ(unix_seconds(rfc3339_utc(when)), when);
    }
    EXPECT_EQ(unix_seconds("2026-11-30T10:00:00.123456Z"), 1796032800);
    EXPECT_EQ(unix_seconds("2026-11-30T15:30:00+05:30"), 1796032800);
    for (const char* text : {"", "2026-11-30", "2026-13-30T10:00:00Z", "2026-02-30T10:00:00Z",
                             "2026-11-30T10:00:00", "2026-11-30T24:00:00Z", "2026-11-30T10:00:00.Z",
                             "2026-11-30T10:00:00Zx", "2026-11-30T10:00:00+5:30"}) {
        EXPECT_FALSE(unix_seconds(text).has_value()) << text;
    }
    EXPECT_GT(unix_seconds(rfc3339_now()).value(), 1700000000);
}

}  // namespace
}  // namespace gpucheck::report
