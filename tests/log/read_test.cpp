// Where logs come from: recorded machines, named files, compressed ones; and what is said when they cannot be
// read.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "agent/host/kernel_log/read.h"
#include "agent/log_command.h"
#include "checks/json/json.h"
#include "tests/host/temp_machine.h"

namespace gpucheck::host {
namespace {

const std::string kFault = "[  100.000001] NVRM: Xid (PCI:0000:27:00): 79, GPU has fallen off the bus.\n";
const std::string kQuiet = "[    1.000000] random: crng init done\n";

std::string write(const TempMachine& machine, const std::string& name, const std::string& content) {
    const std::string path = (machine.path() / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
}

TEST(ReadLog, OfARecordedMachine) {
    TempMachine machine;
    EXPECT_EQ(read_kernel_log(machine.open(), "").why(), "not captured");
    machine.beside("kernel.log", "");
    const Fact<LogSummary> empty = read_kernel_log(machine.open(), "");
    ASSERT_TRUE(empty.known());
    EXPECT_EQ(empty->verdict(), Verdict::unknown);
    machine.beside("kernel.log", kFault);
    EXPECT_EQ(read_kernel_log(machine.open(), "")->verdict(), Verdict::fail);
    const std::string other = write(machine, "other.log", kQuiet);
    EXPECT_EQ(read_kernel_log(machine.open(), other)->verdict(), Verdict::pass);
    EXPECT_EQ(read_kernel_log(machine.open(), other).source(), other);
}

TEST(ReadLog, NeverLeavesARecordingAndNeverWaitsForAPipeInIt) {
    TempMachine machine, outside;
    const std::string secret = write(outside, "secret.log", kFault);
    std::filesystem::create_symlink(secret, machine.path() / "kernel.log");
    EXPECT_EQ(read_kernel_log(machine.open(), "").why(), "not a regular file");
    std::filesystem::remove(machine.path() / "kernel.log");
    ASSERT_EQ(::mkfifo((machine.path() / "kernel.log").c_str(), 0600), 0);
    EXPECT_EQ(read_kernel_log(machine.open(), "").why(), "not a regular file");
}

TEST(ReadLog, SaysWhyItCouldNot) {
    TempMachine machine;
    EXPECT_EQ(read_log_file(machine.path().string(), {}).why(), "EISDIR");
    EXPECT_EQ(read_log_file("/nonexistent/log", {}).why(), "ENOENT");
    std::uint64_t lost = 0;
    bool early = false;
    EXPECT_EQ(each_kmsg_record(
                  "/nonexistent/kmsg", [](std::string_view) {}, lost, early)
                  .value_or(""),
              "ENOENT");
}

// The live log of whatever machine runs this: any answer but a crash or a hang, and never a pass for an
// unread one.
TEST(ReadLog, LiveAnswersAtOnce) {
    const Fact<LogSummary> log = read_kernel_log(Sysroot::live(), "");
    if (log.known()) {
        EXPECT_EQ(log.source(), "/dev/kmsg");
    } else {
        EXPECT_FALSE(log.why().empty());
    }
}

class Compressed : public testing::TestWithParam<const char*> {};

TEST_P(Compressed, IsReadAsAStream) {
    TempMachine machine;
    std::string text;
    for (int i = 0; i < 20000; ++i) text += kQuiet;
    text += kFault;
    const std::string path = write(machine, "log", text);
    const std::string tool = GetParam();
    if (std::system((tool + " -c " + path + " > " + path + ".z 2>/dev/null").c_str()) != 0)
        GTEST_SKIP() << tool << " is not here";
    const Fact<LogSummary> log = read_log_file(path + ".z", {});
    ASSERT_TRUE(log.known());
    if (log->incomplete.find("this build has no") != std::string::npos) GTEST_SKIP() << log->incomplete;
    EXPECT_EQ(log->verdict(), Verdict::fail);
    EXPECT_EQ(log->lines, 20001U);
    EXPECT_EQ(log->incomplete, "");

    // Two streams in one file, as `cat a.gz b.gz` makes them.
    ASSERT_EQ(std::system(("cat " + path + ".z " + path + ".z > " + path + ".zz").c_str()), 0);
    EXPECT_EQ(read_log_file(path + ".zz", {})->lines, 40002U);

    // Cut off, or damaged: what was read counts, but the log is not known to be quiet.
    std::ifstream file(path + ".z", std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    const std::string whole = bytes.str();
    const Fact<LogSummary> cut = read_log_file(write(machine, "cut", whole.substr(0, whole.size() / 2)), {});
    EXPECT_NE(cut->incomplete, "");
    EXPECT_GE(cut->verdict(), Verdict::unknown);
    std::string bad = whole;
    for (std::size_t i = 20; i < bad.size() && i < 60; ++i) bad[i] = static_cast<char>(bad[i] ^ 0x5a);
    EXPECT_GE(read_log_file(write(machine, "bad", bad), {})->verdict(), Verdict::unknown);
}

INSTANTIATE_TEST_SUITE_P(Formats, Compressed, testing::Values("gzip", "xz", "zstd"));

LogOptions with(std::string path, std::string format = "text", std::string gpu = {}) {
    LogOptions options;
    options.path = std::move(path);
    options.format = std::move(format);
    options.gpu = std::move(gpu);
    return options;
}

TEST(LogCommand, ExitStatusIsTheWorstEvent) {
    TempMachine machine;
    const auto run = [&](const std::string& content, LogOptions options = {}) {
        options.path = write(machine, "log", content);
        std::ostringstream out, err;
        return run_log(options, out, err);
    };
    EXPECT_EQ(run(kQuiet), 0);
    EXPECT_EQ(run("[ 1.0] NVRM: Xid (PCI:0000:27:00): 31, pid=1, MMU Fault\n"), 0);
    EXPECT_EQ(run(kQuiet + kFault), 1);
    EXPECT_EQ(run(""), 2);
    EXPECT_EQ(run("\n\n"), 2);
    EXPECT_EQ(run(kFault, with("", "text", "0000:27:00.0")), 1);
    EXPECT_EQ(run(kFault, with("", "text", "27:00.0")), 1);
    EXPECT_EQ(run(kFault, with("", "text", "0000:28:00.0")), 0);
    EXPECT_EQ(run(kFault, with("", "text", "GPU 3")), 64);
    EXPECT_EQ(run(kFault, with("", "yaml")), 64);
    std::ostringstream out, err;
    EXPECT_EQ(run_log(with("/nonexistent/log"), out, err), 2);
    EXPECT_NE(err.str().find("ENOENT"), std::string::npos);
}

TEST(LogCommand, JsonHasTheContractsFields) {
    TempMachine machine;
    std::ostringstream out, err;
    EXPECT_EQ(
        run_log(with(write(machine, "log",
                           kQuiet + kFault + "\xff\xfe[ 3.0] Out of memory: Killed process 1 (\x1b[31m)\n"),
                     "json"),
                out, err),
        1);
    const auto parsed = parse_json(out.str());
    ASSERT_TRUE(std::holds_alternative<Json>(parsed)) << out.str();
    const Json& document = std::get<Json>(parsed);
    EXPECT_EQ(document.at("verdict"), "fail");
    ASSERT_EQ(document.at("events").size(), 2U);
    const Json& event = document.at("events").at(0);
    EXPECT_EQ(event.at("code"), "xid.79");
    EXPECT_EQ(event.at("verdict"), "fail");
    EXPECT_EQ(event.at("scope"), "host");
    EXPECT_EQ(event.at("action"), "contact_provider");
    EXPECT_EQ(event.at("bdf"), "0000:27:00.0");
    EXPECT_EQ(event.at("xid"), 79);
    EXPECT_EQ(event.at("count"), 1);
    EXPECT_EQ(event.at("first"), "100.000001");
    EXPECT_EQ(event.at("last"), "100.000001");
    EXPECT_NE(event.at("evidence").get<std::string>().find("fallen off"), std::string::npos);
    EXPECT_TRUE(document.at("events").at(1).at("bdf").is_null());
    EXPECT_FALSE(document.at("events").at(1).contains("xid"));
}

TEST(LogCommand, TextReachesTheTerminalNeutralised) {
    TempMachine machine;
    std::ostringstream out, err;
    run_log(with(write(machine, "log",
                       "[ 1.0] NVRM: Xid (PCI:0000:27:00): 79, \a\x9b"
                       "31m\x7f gone \xe2\x80\xae\n")),
            out, err);
    for (const char c : out.str()) {
        const auto byte = static_cast<unsigned char>(c);
        EXPECT_TRUE((byte >= 0x20 && byte < 0x7f) || byte == '\n') << static_cast<int>(byte);
    }
    EXPECT_NE(out.str().find("\\x07\\x9b31m\\x7f gone"), std::string::npos) << out.str();
}

}  // namespace
}  // namespace gpucheck::host
