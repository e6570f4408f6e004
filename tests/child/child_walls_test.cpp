// A task cannot reach beyond its child: terminal, descriptors, signals and grandchildren stay inside.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/child/leftovers.h"

namespace gpucheck::child {
namespace {

using Kind = Outcome::Kind;
using Strings = std::vector<std::string>;

// Gone, or a zombie that its own parent has yet to reap.
bool is_over(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    return !(file >> number >> name >> state) || state == "Z" || state == "X";
}

bool is_over_soon(pid_t pid) {
    for (int i = 0; i < 1000 && !is_over(pid); ++i) ::usleep(10'000);
    return is_over(pid);
}

TEST_F(Children, SeeNoDescriptorOfOurs) {
    const int kept = ::open("/dev/zero", O_RDONLY);  // without O_CLOEXEC, as others leave them
    const Outcome outcome = run_one([](Reporter& reporter) {
        for (int fd = 0; fd < 1000; ++fd) {
            struct stat status {};
            if (::fstat(fd, &status) == 0) {
                const bool null = S_ISCHR(status.st_mode) && status.st_rdev == 0x103;
                reporter.line(std::to_string(fd) + (null                       ? " null"
                                                    : S_ISFIFO(status.st_mode) ? " pipe"
                                                                               : " other"));
            }
        }
    });
    ::close(kept);
    EXPECT_EQ(outcome.lines, (Strings{"0 null", "1 null", "2 null", "3 pipe"}));
}

TEST_F(Children, WorkWithoutStandardDescriptors) {
    int saved[3];
    for (int fd = 0; fd < 3; ++fd) saved[fd] = ::fcntl(fd, F_DUPFD_CLOEXEC, 10);
    for (int fd = 0; fd < 3; ++fd) ::close(fd);
    const Outcome outcome = run_one([](Reporter& reporter) { reporter.line("still here"); });
    for (int fd = 0; fd < 3; ++fd) {
        ::dup2(saved[fd], fd);
        ::close(saved[fd]);
    }
    EXPECT_EQ(outcome.kind, Kind::finished);
    EXPECT_EQ(outcome.lines, Strings{"still here"});
}

TEST_F(Children, HaveTheirOwnGroupAndNoCoreDumpAndDieWithUs) {
    const Outcome outcome = run_one([](Reporter& reporter) {
        rlimit core{};
        ::getrlimit(RLIMIT_CORE, &core);
        int on_death = 0;
        ::prctl(PR_GET_PDEATHSIG, &on_death);
        reporter.line(::getpgrp() == ::getpid() ? "own group" : "our group");
        reporter.line(core.rlim_cur <= 1 && core.rlim_max <= 1 ? "no core" : "core");
        reporter.line(std::to_string(on_death));
    });
    EXPECT_EQ(outcome.lines, (Strings{"own group", "no core", std::to_string(SIGKILL)}));
}

TEST_F(Children, StartWithDefaultSignals) {
    ::signal(SIGTERM, SIG_IGN);
    sigset_t blocked, before;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGSEGV);
    ::sigaddset(&blocked, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &blocked, &before);
    const Outcome outcome = run_one([](Reporter&) { ::raise(SIGTERM); });
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::signal(SIGTERM, SIG_DFL);
    EXPECT_EQ(outcome.kind, Kind::crashed);
    EXPECT_EQ(outcome.signal, SIGTERM);
}

TEST_F(Children, AreToldApartEvenWhenOurChildrenAreIgnored) {
    ::signal(SIGCHLD, SIG_IGN);
    const Outcome outcome = run_one([](Reporter&) { ::raise(SIGSEGV); });
    const auto after = ::signal(SIGCHLD, SIG_DFL);
    EXPECT_EQ(outcome.kind, Kind::crashed);
    EXPECT_EQ(outcome.signal, SIGSEGV);
    EXPECT_EQ(after, SIG_IGN);  // as it was
}

TEST_F(Children, GrandchildrenNeitherHoldUsUpNorLive) {
    const auto with_grandchild = [](bool crash) {
        return [crash](Reporter& reporter) {
            const pid_t grandchild = ::fork();
            if (grandchild == 0) {
                for (;;) ::pause();  // with the pipe open
            }
            reporter.line(std::to_string(grandchild));
            if (crash) ::raise(SIGSEGV);
        };
    };
    for (const bool crash : {false, true}) {
        const Outcome outcome = run_one(with_grandchild(crash));
        EXPECT_EQ(outcome.kind, crash ? Kind::crashed : Kind::finished);
        ASSERT_EQ(outcome.lines.size(), 1U);
        EXPECT_TRUE(is_over_soon(std::stoi(outcome.lines[0])));
    }
}

TEST_F(Children, AGrandchildThatLeftTheGroupHoldsNobodyUp) {
    for (const bool crash : {false, true}) {
        const Outcome outcome = run_one([crash](Reporter& reporter) {
            const pid_t grandchild = ::fork();
            if (grandchild == 0) {
                ::setsid();
                for (;;) ::pause();
            }
            ::usleep(50'000);  // so that it has left
            reporter.line(std::to_string(grandchild));
            if (crash) ::raise(SIGSEGV);
        });
        EXPECT_EQ(outcome.kind, crash ? Kind::crashed : Kind::finished);
        ASSERT_EQ(outcome.lines.size(), 1U);
        const pid_t left = std::stoi(outcome.lines[0]);
        ::kill(left, SIGKILL);
        EXPECT_TRUE(is_over_soon(left));
    }
}

TEST_F(Children, MayStartThreads) {
    const Outcome outcome = run_one([](Reporter& reporter) {
        std::thread([] {
            for (;;) ::pause();
        }).detach();
        reporter.line("done");
    });
    EXPECT_EQ(outcome.kind, Kind::finished);
}

}  // namespace
}  // namespace gpucheck::child
