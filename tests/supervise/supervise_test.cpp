// A run ends on time and with everything that could be read, whatever one file does.
#include "agent/supervise/supervise.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace gpucheck {
namespace {

using Kind = Outcome::Kind;
using std::chrono::milliseconds;

constexpr Supervision kShort{milliseconds(3000), milliseconds(100)};

bool contains(const std::vector<std::string>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

// Reads these "files" in turn; those in `hanging` never return unless they, or a folder above, are refused.
int read_all(const std::vector<std::string>& files, const std::vector<std::string>& hanging,
             const std::vector<std::string>& refused, Progress& progress) {
    int read = 0;
    for (const std::string& file : files) {
        if (contains(refused, file) || contains(refused, file.substr(0, file.rfind('/')))) continue;
        progress.step(file);
        while (contains(hanging, file)) ::pause();
        ++read;
    }
    progress.reading_done();
    return read;
}

TEST(Supervise, PassesTheStatusThrough) {
    const Outcome outcome = supervise(kShort, [](const auto&, Progress& progress) {
        progress.step("/a");
        return 42;
    });
    EXPECT_EQ(outcome.kind, Kind::finished);
    EXPECT_EQ(outcome.status, 42);
    EXPECT_TRUE(outcome.refused.empty());
}

TEST(Supervise, OneHangingFileCostsOnlyItself) {
    const std::vector<std::string> files{"/a/1", "/b/1", "/b/2", "/c/1"};
    const Outcome outcome = supervise(kShort, [&](const auto& refused, Progress& progress) {
        return read_all(files, {"/b/1"}, refused, progress);
    });
    EXPECT_EQ(outcome.kind, Kind::finished);
    EXPECT_EQ(outcome.status, 3);
    EXPECT_EQ(outcome.refused, (std::vector<std::string>{"/b/1"}));
}

TEST(Supervise, ADeviceThatHangsEverywhereIsGivenUpAsAFolder) {
    std::vector<std::string> files{"/a/1"}, hanging;
    for (int i = 0; i < 40; ++i) {
        files.push_back("/b/" + std::to_string(i));
        hanging.push_back(files.back());
    }
    files.push_back("/c/1");
    const Outcome outcome = supervise(kShort, [&](const auto& refused, Progress& progress) {
        return read_all(files, hanging, refused, progress);
    });
    EXPECT_EQ(outcome.kind, Kind::finished);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.refused, (std::vector<std::string>{"/b/0", "/b"}));
}

TEST(Supervise, TheBudgetHoldsWhenEverythingHangs) {
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome =
        supervise({milliseconds(400), milliseconds(100)}, [](const auto& refused, Progress& progress) {
            progress.step("/x" + std::to_string(refused.size()) + "/file");
            for (;;) ::pause();
            return 0;
        });
    EXPECT_EQ(outcome.kind, Kind::out_of_time);
    EXPECT_FALSE(outcome.last_step.empty());
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));  // not for ever
}

TEST(Supervise, ComputationIsNotTakenForAHang) {
    const Outcome outcome =
        supervise({milliseconds(3000), milliseconds(50)}, [](const auto&, Progress& progress) {
            progress.step("/a");
            progress.reading_done();
            ::usleep(300000);
            return 7;
        });
    EXPECT_EQ(outcome.kind, Kind::finished);
    EXPECT_EQ(outcome.status, 7);
}

TEST(Supervise, WhatWasConcludedIsNotToldTwice) {
    Supervision limits{milliseconds(200), milliseconds(50)};
    limits.telling = milliseconds(300);
    const Outcome hangs = supervise(limits, [](const auto&, Progress& progress) {
        progress.step("/a");
        progress.concluded();
        for (;;) ::pause();
        return 0;
    });
    EXPECT_EQ(hangs.kind, Kind::out_of_time);
    EXPECT_TRUE(hangs.concluded);

    limits.telling = milliseconds(20000);
    const Outcome slow = supervise(limits, [](const auto&, Progress& progress) {
        progress.concluded();
        ::usleep(400000);  // beyond the budget
        return 1;
    });
    EXPECT_EQ(slow.kind, Kind::finished);
    EXPECT_EQ(slow.status, 1);

    const Outcome late = supervise(limits, [](const auto&, Progress& progress) {
        progress.reading_done();
        for (;;) ::pause();
        return 0;
    });
    EXPECT_EQ(late.kind, Kind::out_of_time);
    EXPECT_FALSE(late.concluded);
}

TEST(Supervise, ACrashNamesTheSignalAndTheStep) {
    const Outcome outcome = supervise(kShort, [](const auto&, Progress& progress) {
        progress.step("/sys/bad");
        ::signal(SIGTERM, SIG_DFL);
        ::raise(SIGTERM);
        return 0;
    });
    EXPECT_EQ(outcome.kind, Kind::crashed);
    EXPECT_EQ(outcome.signal, SIGTERM);
    EXPECT_EQ(outcome.last_step, "/sys/bad");
}

TEST(Supervise, LeavesNoChildBehind) {
    (void)supervise({milliseconds(200), milliseconds(50)}, [](const auto&, Progress& progress) {
        progress.step("/a");
        for (;;) ::pause();
        return 0;
    });
    errno = 0;
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace gpucheck
