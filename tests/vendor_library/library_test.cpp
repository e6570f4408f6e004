// Absent, broken and not looked at are three answers about a library, and none of them is a crash.
#include "agent/vendor/library.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "agent/child/child.h"

namespace gpucheck::vendor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTiny = "libgpucheck-tiny.so.1";

// In a child, as the product does: a library cannot be unloaded.
std::vector<std::string> opened(const LibrarySource& source, std::initializer_list<const char*> sonames) {
    const std::vector<std::string> names(sonames.begin(), sonames.end());
    const std::vector<child::Task> tasks{
        {"open", [&](child::Reporter& reporter) {
             const auto answer = Library::open(source, sonames);
             if (const auto* missing = std::get_if<Missing>(&answer)) {
                 reporter.line("missing");
                 reporter.line(missing->source);
                 reporter.line(missing->why);
                 return;
             }
             const Library& library = std::get<Library>(answer);
             reporter.line("open");
             reporter.line(library.path());
             reporter.line(library.soname());
             using Call = int();
             for (void* symbol : {library.symbol("tiny_answer"), library.symbol("tiny_nothing"),
                                  library.symbol({"tiny_answer_v3", "tiny_answer_v2", "tiny_answer"}),
                                  library.symbol({"no", "nor"})}) {
                 reporter.line(symbol == nullptr ? "none"
                                                 : std::to_string(reinterpret_cast<Call*>(symbol)()));
             }
         }}};
    const child::Outcome outcome = child::run_all(tasks, {std::chrono::seconds(30)}).at(0);
    EXPECT_EQ(outcome.kind, child::Outcome::Kind::finished);
    return outcome.lines;
}

using Lines = std::vector<std::string>;

TEST(VendorLibrary, OpensFromTheDriverFolderAlone) {
    EXPECT_EQ(opened({false, TINY_LIBRARIES}, {kTiny}),
              (Lines{"open", fs::canonical(std::string(TINY_LIBRARIES) + "/" + kTiny), kTiny, "1", "none",
                     "2", "none"}));
    // libc is on every machine, and not in the driver folder.
    EXPECT_EQ(opened({true, TINY_LIBRARIES}, {"libc.so.6"}),
              (Lines{"missing", std::string(TINY_LIBRARIES) + "/libc.so.6", "ENOENT"}));
}

TEST(VendorLibrary, OpensWhereTheLinkerLooks) {
    const Lines lines = opened({}, {"libgpucheck-nowhere.so.9", "libm.so.6"});
    ASSERT_EQ(lines.size(), 7U);
    EXPECT_EQ(lines[0], "open");
    EXPECT_TRUE(fs::path(lines[1]).is_absolute()) << lines[1];
    EXPECT_EQ(lines[2], "libm.so.6");
}

TEST(VendorLibrary, SaysWhenNoneIsInstalled) {
    EXPECT_EQ(opened({}, {"libgpucheck-nowhere.so.9", "libgpucheck-nowhere.so.8"}),
              (Lines{"missing", "libgpucheck-nowhere.so.9", "ENOENT"}));
}

TEST(VendorLibrary, IsNotLookedForOnARecordedMachine) {
    EXPECT_EQ(opened({false, ""}, {"libm.so.6"}), (Lines{"missing", "libm.so.6", "not looked at"}));
}

TEST(VendorLibrary, ThatIsBrokenIsNotAbsent) {
    const Lines half = opened({true, TINY_LIBRARIES}, {"libgpucheck-incomplete.so.1", kTiny});
    ASSERT_EQ(half.size(), 3U);
    EXPECT_NE(half[2].find("tiny_absent_everywhere"), std::string::npos) << half[2];

    const fs::path folder = fs::path(::testing::TempDir()) / "gpucheck-broken-libraries";
    fs::create_directories(folder);
    std::ofstream(folder / "libgpucheck-empty.so.1").flush();
    std::ofstream(folder / "libgpucheck-text.so.1") << "#!/bin/sh\n";
    fs::create_directories(folder / "libgpucheck-folder.so.1");
    for (const char* name : {"libgpucheck-empty.so.1", "libgpucheck-text.so.1", "libgpucheck-folder.so.1"}) {
        const Lines lines = opened({true, folder}, {name});
        ASSERT_EQ(lines.size(), 3U);
        EXPECT_EQ(lines[0], "missing");
        EXPECT_NE(lines[2], "ENOENT") << name;
        EXPECT_FALSE(lines[2].empty());
    }
    fs::remove_all(folder);
}

}  // namespace
}  // namespace gpucheck::vendor
