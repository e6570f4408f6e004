// A run that died is seen by the next one, and a verdict reaches the journal and the files as it was given,
// whatever a machine put into its names and whatever somebody put into the marker.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "agent/boot.h"
#include "agent/boot_marker.h"

namespace gpucheck::boot {
namespace {

class Folder {
  public:
    Folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "gpucheck-boot-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string str() const { return path_.string(); }
    std::string operator/(const char* name) const { return (path_ / name).string(); }
    void write(const char* name, std::string_view content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
    }
    std::string read(const char* name) const {
        std::ifstream in(path_ / name, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    }
    bool has(const char* name) const { return std::filesystem::exists(path_ / name); }

  private:
    std::filesystem::path path_;
};

MarkerRecord record(const char* boot_id) {
    return {boot_id, "2026-11-30T10:00:00Z", "boot", "start", "", 0};
}

/// A run in a process of its own that reaches `stage` and is killed there.
void die_at(const std::string& folder, const char* boot_id, const char* stage, const char* device) {
    const pid_t run = ::fork();
    if (run == 0) {
        RunMarker marker = RunMarker::begin(folder, record(boot_id));
        marker.stage(stage, device);
        ::raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(run, &status, 0), run);
    ASSERT_TRUE(WIFSIGNALED(status));
}

/// The keeper of a killed run ends a moment after it.
RunMarker begin_when_free(const std::string& folder) {
    for (int attempt = 0; attempt < 500; ++attempt) {
        RunMarker marker = RunMarker::begin(folder, record("b2"));
        if (marker.held()) return marker;
        ::usleep(20'000);
    }
    return {};
}

TEST(RunMarker, ACleanEndLeavesNothing) {
    const Folder folder;
    RunMarker marker = RunMarker::begin(folder.str(), record("b1"));
    ASSERT_TRUE(marker.held());
    EXPECT_FALSE(marker.left());
    marker.stage("experiments", "0000:19:00.0");
    const auto written = parse_marker(folder.read("running.json"));
    ASSERT_TRUE(written);
    EXPECT_EQ(written->stage, "experiments");
    EXPECT_EQ(written->device, "0000:19:00.0");
    marker.end();
    EXPECT_FALSE(folder.has("running.json"));
    RunMarker next = RunMarker::begin(folder.str(), record("b1"));
    EXPECT_TRUE(next.held());
    EXPECT_FALSE(next.left());
    next.end();
}

TEST(RunMarker, ARunThatDiedIsSeenOnce) {
    const Folder folder;
    die_at(folder.str(), "b1", "experiments: matrix", "0000:19:00.0");
    RunMarker next = begin_when_free(folder.str());
    ASSERT_TRUE(next.left());
    const Finding seen = interruption(*next.left(), "b2", next.path());
    EXPECT_EQ(seen.code, "boot.interrupted");
    EXPECT_EQ(seen.verdict, Verdict::warn);
    EXPECT_EQ(seen.subject.id, "0000:19:00.0");
    EXPECT_EQ(
        seen.observed,
        "it died at: experiments: matrix, on 0000:19:00.0; begun 2026-11-30T10:00:00Z, in an earlier boot");
    EXPECT_NE(interruption(*next.left(), "b1", "p").observed.find("in this boot"), std::string::npos);
    next.end();
    RunMarker after = RunMarker::begin(folder.str(), record("b3"));
    EXPECT_FALSE(after.left());
    after.end();
}

TEST(RunMarker, AMachineThatDiesAgainAndAgainIsCounted) {
    const Folder folder;
    for (const char* boot : {"b1", "b2", "b3"}) {
        begin_when_free(folder.str()).end();  // the keeper before has surely gone, and its marker with it
        folder.write("running.json", render_marker({boot, "", "boot", "matrix", "", 2}));
    }
    die_at(folder.str(), "b4", "matrix", "");
    RunMarker next = begin_when_free(folder.str());
    ASSERT_TRUE(next.left());
    EXPECT_NE(interruption(*next.left(), "b5", "p").observed.find("3 before it did not end either"),
              std::string::npos);
    next.end();
}

TEST(RunMarker, ARunBesideThisOneIsNoInterruption) {
    const Folder folder;
    RunMarker first = RunMarker::begin(folder.str(), record("b1"));
    ASSERT_TRUE(first.held());
    RunMarker second = RunMarker::begin(folder.str(), record("b1"));
    EXPECT_FALSE(second.held());
    EXPECT_FALSE(second.left());
    second.stage("anything");
    second.end();
    EXPECT_TRUE(folder.has("running.json"));
    first.end();
    EXPECT_FALSE(folder.has("running.json"));
}

TEST(RunMarker, WithoutAPlaceTheRunGoesOn) {
    EXPECT_FALSE(RunMarker::begin("/nonexistent/gpucheck", record("b")).held());
    const Folder folder;
    std::filesystem::create_directory(folder / "running.json");
    EXPECT_FALSE(RunMarker::begin(folder.str(), record("b")).held());
    const Folder links;
    links.write("target", "");
    std::filesystem::create_symlink(links / "target", links / "running.json");
    EXPECT_FALSE(RunMarker::begin(links.str(), record("b")).held());
    const Folder pipes;
    ASSERT_EQ(::mkfifo((pipes / "running.json").c_str(), 0600), 0);
    EXPECT_FALSE(RunMarker::begin(pipes.str(), record("b")).held());
}

TEST(RunMarker, HostileContentIsAnInterruptionWithoutAPlace) {
    const std::string deep(300, '[');
    const std::string long_text = R"({"stage":")" + std::string(900, 'x') + R"("})";
    for (const std::string& content :
         {std::string(), std::string("\0\0\0", 3), std::string("{"), deep, std::string("\xff\xfe{}"),
          long_text, std::string(R"({"stage":"\u001b[2J"})"), std::string(R"({"stage":7,"earlier":-1})"),
          std::string(R"({"stage":{"a":1},"earlier":1e300})"), std::string("[]"),
          std::string(100'000, ' ')}) {
        const Finding seen = interruption(content, "b", "p");
        EXPECT_EQ(seen.code, "boot.interrupted");
        EXPECT_EQ(seen.subject.id, "host");
        EXPECT_EQ(seen.observed.find("died at"), std::string::npos) << content.substr(0, 40);
        const Folder folder;
        folder.write("running.json", content);
        RunMarker marker = RunMarker::begin(folder.str(), record("b"));
        EXPECT_TRUE(marker.left());
        marker.end();
        EXPECT_FALSE(folder.has("running.json"));
    }
}

TEST(RunMarker, OneBlockWhateverItHolds) {
    const MarkerRecord big{std::string(500, 'b'), "s", "p", std::string(5000, 's'), "d", 3};
    EXPECT_EQ(render_marker(big).size(), 1024U);
    EXPECT_EQ(render_marker(record("b")).size(), 1024U);
    EXPECT_EQ(parse_marker(render_marker(record("b"))), record("b"));
}

TEST(Journal, FieldsGoOutAsTheProtocolWantsThem) {
    EXPECT_EQ(journal_datagram({{"A", "x=y"}, {"_B", "1"}, {"lower", "1"}, {"", "1"}, {"1X", "1"}}),
              "A=x=y\n");
    EXPECT_EQ(journal_datagram({{"M", "a\nb"}}), std::string("M\n\x03\0\0\0\0\0\0\0a\nb\n", 14));
}

TEST(Journal, OneDatagramForWhoeverListens) {
    const Folder folder;
    const std::string path = folder / "socket";
    EXPECT_EQ(send_to_journal({{"A", "1"}}, path.c_str()), ENOENT);
    EXPECT_EQ(send_to_journal({{"A", "1"}}, std::string(200, 'x').c_str()), ENAMETOOLONG);
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(send_to_journal({{"GPUCHECK_VERDICT", "fail"}}, path.c_str()), 0);
    char text[64] = {};
    EXPECT_GT(::recv(fd, text, sizeof text - 1, MSG_DONTWAIT), 0);
    EXPECT_STREQ(text, "GPUCHECK_VERDICT=fail\n");
    // Nobody reads any more: the boot does not wait for it.
    int error = 0;
    for (int i = 0; i < 10'000 && error == 0; ++i) error = send_to_journal({{"A", "1"}}, path.c_str());
    EXPECT_EQ(error, EAGAIN);
    ::close(fd);
}

report::Report failing() {
    static const Check kCount{.id = "gpu.count", .title = "Number of GPUs"};
    report::Report report;
    report.report_id = "01935f4e-8c00-7abc-9def-0123456789ab";
    report.created = "2026-11-30T10:00:00Z";
    report.profile = Profile::boot;
    report.verdict = Verdict::fail;
    report.snapshot.host.pci_functions = Fact<unsigned>(3, "t");
    report.snapshot.host.boot_id = Fact<std::string>("11111111-2222-3333-4444-555555555555", "t");
    report.snapshot.expected.gpu_count = Fact<unsigned>(8, "t");
    report.snapshot.instance.id = Fact<std::string>("i-0\n\x1b[2J", "metadata");
    report::CheckLine line;
    line.result.check = &kCount;
    line.result.required = true;
    line.result.verdict = Verdict::fail;
    for (int i = 0; i < 3; ++i)
        line.result.findings.push_back(finding("gpu.count.missing", Verdict::fail, {}, "8", "0", "t"));
    report.checks.push_back(line);
    return report;
}

TEST(Verdict, TheSameEverywhereAndNoControlCharacters) {
    const Folder folder;
    const Places where{folder.str(), folder.str(), true};
    report::Report report = failing();
    report.simulated = true;  // not into the journal of the machine that tests
    EXPECT_EQ(announce(report, 1, where), std::nullopt);
    const auto verdict = nlohmann::json::parse(folder.read("verdict.json"));
    EXPECT_EQ(verdict["verdict"], "fail");
    EXPECT_EQ(verdict["exit_status"], 1);
    EXPECT_EQ(verdict["codes"], nlohmann::json::array({"gpu.count.missing"}));
    EXPECT_EQ(verdict["boot_id"], "11111111-2222-3333-4444-555555555555");
    EXPECT_EQ(verdict["instance_id"], "i-0\n\x1b[2J");
    EXPECT_EQ(verdict["simulated"], true);
    EXPECT_TRUE(verdict["provider"].is_null());
    EXPECT_EQ(nlohmann::json::parse(folder.read("report.json"))["report_id"], verdict["report_id"]);
    const std::string motd = folder.read("motd");
    EXPECT_EQ(std::count(motd.begin(), motd.end(), '\n'), 1);
    EXPECT_NE(motd.find("FAIL: 0 of 8 GPUs; gpu.count.missing"), std::string::npos);
    EXPECT_EQ(verdict_line(report),
              "gpucheck: FAIL: 0 of 8 GPUs; gpu.count.missing; simulated; report "
              "01935f4e-8c00-7abc-9def-0123456789ab");
    std::map<std::string, std::string> fields;
    for (const auto& [name, value] : journal_fields(report, 1)) fields[name] = value;
    EXPECT_EQ(fields["GPUCHECK_VERDICT"], "fail");
    EXPECT_EQ(fields["GPUCHECK_CODES"], "gpu.count.missing");
    EXPECT_EQ(fields["PRIORITY"], "3");
    EXPECT_EQ(fields["GPUCHECK_INSTANCE_ID"].find('\x1b'), std::string::npos);
    forget_verdict(where);
    EXPECT_FALSE(folder.has("verdict.json"));
    EXPECT_FALSE(folder.has("motd"));
}

TEST(Verdict, ABrokenRunIsUnknownAndNeverTheOneBefore) {
    const Folder folder;
    const Places where{folder.str(), folder.str(), true};
    EXPECT_FALSE(verdict_stands(where));
    report::Report known = failing();
    known.simulated = true;  // not into the journal of the machine that tests
    EXPECT_EQ(announce(known, 1, where), std::nullopt);
    EXPECT_TRUE(verdict_stands(where));
    announce_broken(known, 70, "signal 11\x1b", where);
    const auto verdict = nlohmann::json::parse(folder.read("verdict.json"));
    EXPECT_EQ(verdict["verdict"], "unknown");
    EXPECT_EQ(verdict["exit_status"], 70);
    EXPECT_TRUE(verdict["report_id"].is_null());
    EXPECT_FALSE(folder.has("report.json"));
    EXPECT_EQ(verdict["codes"], nlohmann::json::array());
    EXPECT_EQ(verdict["simulated"], true);
    EXPECT_EQ(verdict["boot_id"], "11111111-2222-3333-4444-555555555555");
    EXPECT_EQ(verdict["instance_id"], "i-0\n\x1b[2J");
    const std::string line = verdict["line"];
    EXPECT_EQ(line.find("gpucheck: UNKNOWN: gpucheck itself broke: signal 11"), 0U) << line;
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_EQ(folder.read("motd"), line + "\n");
    announce_broken(known, 64, "no such config", where);
    const auto refused = nlohmann::json::parse(folder.read("verdict.json"));
    EXPECT_EQ(refused["verdict"], "unknown");
    EXPECT_EQ(refused["exit_status"], 64);
    EXPECT_EQ(refused["line"], "gpucheck: UNKNOWN: gpucheck could not begin: no such config; simulated");
}

TEST(Verdict, AFolderThatCannotBeWrittenIsSaid) {
    report::Report report = failing();
    report.simulated = true;
    EXPECT_NE(announce(report, 1, {"/proc/nothing/here", "/x", true}), std::nullopt);
}

}  // namespace
}  // namespace gpucheck::boot
