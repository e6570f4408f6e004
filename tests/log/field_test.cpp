// Real logs, where the shared dumps are present, and the lines of healthy machines that must never be
// believed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "agent/host/kernel_log/read.h"
#include "tests/log/wrap.h"
#include "tests/source_dir.h"

namespace gpucheck::host {
namespace {

LogSummary scan(const std::string& log) {
    LogScanner scanner;
    scanner.feed(log);
    return scanner.finish();
}

std::string said(const LogSummary& summary) {
    std::string out = std::string(name_of(summary.verdict())) + "\n";
    for (const LogEvent& event : summary.events) {
        out += event.code + " " + (event.bdf.empty() ? "-" : event.bdf) + " " +
               std::string(name_of(event.verdict)) + " x" + std::to_string(event.count) + "\n";
    }
    return out;
}

TEST(FieldLogs, GiveTheRecordedVerdicts) {
    const std::string folder = GPUCHECK_SHARED_DIR "/field/";
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not here";
    const auto verdict = [&](const char* name) {
        const Fact<LogSummary> log = read_log_file(folder + name, {});
        return log.known() ? said(*log) : log.why();
    };
    EXPECT_EQ(verdict("dmesg_nvidia_healthy_module_load_550_pstore_prefix.txt"), "pass\n");
    EXPECT_EQ(verdict("dmesg_nvidia_xid119_gsp_timeout_xe9680.txt"), "fail\nxid.119 0000:9b:00.0 fail x5\n");
    EXPECT_EQ(verdict("dmesg_nvidia_xid13_43_app_error_and_oom.txt"),
              "warn\nxid.13 0000:38:00.0 warn x16\nhost.oom - warn x3\n");
    EXPECT_EQ(verdict("pstore_dmesg_erst_panic_record.txt"), "warn\nhost.panic - warn x1\n");
    EXPECT_EQ(verdict("fabricmanager_log_h100_nvswitch_nonfatal_12028.txt"),
              "warn\nsxid.nonfatal 0000:86:00.0 warn x1\n");
}

TEST(FieldLogs, HealthyExampleMachinesPass) {
    const std::string folder = GPUCHECK_SHARED_DIR "/examples/";
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not here";
    for (const char* name : {"machine-h100-sxm-x8", "machine-mi300x-vf"}) {
        auto root = Sysroot::recorded(folder + name);
        ASSERT_TRUE(std::holds_alternative<Sysroot>(root)) << std::get<std::string>(root);
        const Fact<LogSummary> log = read_kernel_log(std::get<Sysroot>(root), "");
        ASSERT_TRUE(log.known()) << log.why();
        EXPECT_EQ(said(*log), "pass\n") << name;
        EXPECT_EQ(log.source(), "kernel.log");
        EXPECT_GE(log->lines, 20U);
    }
}

TEST(HarmlessLines, AreNeverBelieved) {
    std::ifstream file(GPUCHECK_SOURCE_DIR "/tests/log/harmless.txt");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        if (!line.empty() && line[0] != '#') lines.push_back(line);
    }
    ASSERT_GE(lines.size(), 60U);
    for (const std::string& container : containers()) {
        for (const std::string& line : lines)
            EXPECT_EQ(said(scan(wrap(container, {line}))), "pass\n") << container << ": " << line;
        EXPECT_EQ(said(scan(wrap(container, lines))), "pass\n") << container;
    }
}

}  // namespace
}  // namespace gpucheck::host
