// Every way in which a task can end is told apart, and what it said before is kept.
#include "agent/child/child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <random>

#include "tests/child/leftovers.h"

namespace gpucheck::child {
namespace {

using Kind = Outcome::Kind;
using std::chrono::milliseconds;
using Strings = std::vector<std::string>;

constexpr Limits kShort{milliseconds(200)};
constexpr int kAnswers = 3;  // where a task finds the pipe, as a library that writes anywhere would

void write_raw(std::string_view bytes) {
    [[maybe_unused]] const ssize_t count = ::write(kAnswers, bytes.data(), bytes.size());
}
[[noreturn]] void hang() {
    for (;;) ::pause();
}
void two_lines(Reporter& reporter) {
    reporter.step("nvmlInit_v2");
    reporter.line(R"({"a":1})");
    reporter.step("nvmlDeviceGetEccMode");
    reporter.line(R"({"b":"ü"})");
}
const Strings kTwoLines{R"({"a":1})", R"({"b":"ü"})"};

TEST_F(Children, FinishWithTheirLines) {
    const Outcome outcome = run_one(two_lines);
    EXPECT_EQ(outcome.kind, Kind::finished);
    EXPECT_EQ(outcome.lines, kTwoLines);
    EXPECT_EQ(outcome.last_step, "nvmlDeviceGetEccMode");
    EXPECT_EQ(detail_of(outcome, {}), "");
}

TEST_F(Children, AreReportedInTheOrderOfTasks) {
    std::vector<Task> tasks;
    for (int i = 0; i < 20; ++i) {
        tasks.push_back({"t", [i](Reporter& reporter) {
                             ::usleep(static_cast<useconds_t>((20 - i) * 500));
                             reporter.line(std::to_string(i));
                         }});
    }
    std::vector<std::pair<std::size_t, std::string>> seen;
    const auto outcomes = run_all(
        tasks, {kPatient}, [&](std::size_t task, std::string_view line) { seen.emplace_back(task, line); });
    ASSERT_EQ(outcomes.size(), 20U);
    for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(outcomes[i].lines, Strings{std::to_string(i)});
    EXPECT_EQ(seen.size(), 20U);
    for (const auto& [task, line] : seen) EXPECT_EQ(std::to_string(task), line);
}

TEST_F(Children, NoTaskIsNoOutcome) {
    EXPECT_TRUE(run_all({}, kShort).empty());
}

TEST_F(Children, ThatHangAreKilledAndNamed) {
    std::vector<Task> tasks;
    tasks.push_back({"sick", [](Reporter& reporter) {
                         two_lines(reporter);
                         reporter.step("nvmlDeviceGetTemperature");
                         hang();
                     }});
    tasks.push_back({"well", two_lines});
    const auto outcomes = run_all(tasks, kShort);
    EXPECT_EQ(outcomes[0].kind, Kind::hangs);
    EXPECT_EQ(outcomes[0].last_step, "nvmlDeviceGetTemperature");
    EXPECT_EQ(outcomes[0].lines, kTwoLines);
    EXPECT_FALSE(outcomes[0].stalled);
    EXPECT_EQ(detail_of(outcomes[0], kShort), "no answer within 200 ms");
    EXPECT_EQ(outcomes[1].kind, Kind::finished);
}

TEST_F(Children, ThatStopOrSpinHangToo) {
    EXPECT_EQ(run_one([](Reporter&) { ::raise(SIGSTOP); }, kShort).kind, Kind::hangs);
    EXPECT_EQ(run_one(
                  [](Reporter& reporter) {
                      for (;;) reporter.step("again");
                  },
                  kShort)
                  .kind,
              Kind::hangs);
    const Outcome deaf = run_one(
        [](Reporter&) {
            for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_IGN);
            hang();
        },
        kShort);
    EXPECT_EQ(deaf.kind, Kind::hangs);
}

TEST_F(Children, AreGivenUpWhenTheyStall) {
    Limits limits{kPatient};
    limits.stall = milliseconds(150);
    const Outcome outcome = run_one(
        [](Reporter& reporter) {
            for (int i = 0; i < 3; ++i) reporter.step("alive " + std::to_string(i));
            hang();
        },
        limits);
    EXPECT_EQ(outcome.kind, Kind::hangs);
    EXPECT_TRUE(outcome.stalled);
    EXPECT_EQ(outcome.last_step, "alive 2");
    EXPECT_EQ(detail_of(outcome, limits), "no answer within 150 ms");
}

// Stands for a process in the D state: killed it becomes a zombie, but one that belongs to a tracer, so that
// its parent cannot reap it (wait_consider_task in the kernel's exit.c).
TEST_F(Children, ThatCannotBeKilledAreAbandoned) {
    int ready[2], traced[2];
    ASSERT_EQ(::pipe(ready), 0);
    ASSERT_EQ(::pipe(traced), 0);
    const pid_t tracer = ::fork();
    if (tracer == 0) {
        pid_t victim = 0;
        if (::read(ready[0], &victim, sizeof victim) != static_cast<ssize_t>(sizeof victim)) ::_exit(1);
        const bool seized = ::ptrace(PTRACE_SEIZE, victim, nullptr, nullptr) == 0;
        if (::write(traced[1], seized ? "y" : "n", 1) != 1) ::_exit(1);
        ::pause();
        ::_exit(0);
    }
    const int report = ::dup(ready[1]), answer = ::dup(traced[0]);
    char seized = '?';
    const std::vector<Task> tasks{{"stuck", [](Reporter& reporter) {
                                       reporter.step("open /dev/nvidia0");
                                       reporter.line(std::to_string(::getpid()));
                                       hang();
                                   }}};
    const Limits limits{milliseconds(1500)};
    const auto start = std::chrono::steady_clock::now();
    const auto outcomes = run_all(tasks, limits, [&](std::size_t, std::string_view line) {
        const pid_t victim = std::stoi(std::string(line));
        if (::write(report, &victim, sizeof victim) < 0 || ::read(answer, &seized, 1) != 1) seized = '!';
    });
    const auto took = std::chrono::steady_clock::now() - start;
    if (seized == 'y') {
        EXPECT_EQ(outcomes[0].kind, Kind::unkillable);
        EXPECT_EQ(outcomes[0].last_step, "open /dev/nvidia0");
        EXPECT_EQ(outcomes[0].lines.size(), 1U);
        EXPECT_EQ(detail_of(outcomes[0], limits), "no answer within 1500 ms; could not be killed");
        EXPECT_LT(took, kPatient);
    }
    ::kill(tracer, SIGKILL);
    while (::waitpid(-1, nullptr, 0) > 0) {  // with its tracer the stuck one can go
    }
    for (const int fd : {ready[0], ready[1], traced[0], traced[1], report, answer}) ::close(fd);
    if (seized != 'y') GTEST_SKIP() << "no process may be traced here";
}

TEST_F(Children, ThatCrashNameTheSignal) {
    for (const auto& [number, name] : std::vector<std::pair<int, std::string>>{
             {SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"}, {SIGTERM, "SIGTERM"}}) {
        const Outcome outcome = run_one([number = number](Reporter& reporter) {
            two_lines(reporter);
            ::raise(number);
        });
        EXPECT_EQ(outcome.kind, Kind::crashed) << name;
        EXPECT_EQ(outcome.signal, number);
        EXPECT_EQ(outcome.lines, kTwoLines);
        EXPECT_EQ(detail_of(outcome, {}), name);
    }
    EXPECT_EQ(run_one([](Reporter&) { throw std::runtime_error("foreign"); }).signal, SIGABRT);
}

TEST_F(Children, ThatExitDidNotFinish) {
    for (const int status : {0, 3, 71, 255}) {
        const Outcome outcome = run_one([status](Reporter& reporter) {
            two_lines(reporter);
            ::_exit(status);
        });
        EXPECT_EQ(outcome.kind, Kind::exited) << status;
        EXPECT_EQ(outcome.exit_status, status);
        EXPECT_EQ(outcome.lines, kTwoLines);
        EXPECT_EQ(detail_of(outcome, {}), "exit status " + std::to_string(status));
    }
    EXPECT_EQ(run_one([](Reporter&) { std::exit(0); }).kind, Kind::exited);
}

TEST_F(Children, WithoutMemoryAreNoCrash) {
    const Outcome thrown = run_one([](Reporter& reporter) {
        two_lines(reporter);
        throw std::bad_alloc();
    });
    EXPECT_EQ(thrown.kind, Kind::out_of_memory);
    EXPECT_EQ(thrown.lines, kTwoLines);
    EXPECT_EQ(detail_of(thrown, {}), "no memory was left");
    const Outcome killed = run_one([](Reporter&) { ::kill(::getpid(), SIGKILL); });
    EXPECT_EQ(killed.kind, Kind::out_of_memory);
    EXPECT_EQ(detail_of(killed, {}), "ended by SIGKILL, as the kernel does when memory runs out");
}

TEST_F(Children, ThatFloodAreEnded) {
    Limits limits{kPatient};
    limits.max_bytes = 100'000;
    limits.max_line = 1000;
    const Outcome many = run_one(
        [](Reporter& reporter) {
            for (;;) reporter.line("{}");
        },
        limits);
    EXPECT_EQ(many.kind, Kind::flooded);
    EXPECT_LE(many.lines.size(), 34'000U);
    EXPECT_GE(many.lines.size(), 33'000U);
    const Outcome wide = run_one(
        [](Reporter&) {
            for (;;) write_raw(std::string(4096, 'x'));
        },
        limits);
    EXPECT_EQ(wide.kind, Kind::flooded);
    EXPECT_TRUE(wide.lines.empty());
    EXPECT_EQ(run_one([](Reporter& reporter) { reporter.line(std::string(1001, 'x')); }, limits).kind,
              Kind::flooded);
    EXPECT_EQ(run_one([](Reporter& reporter) { reporter.line(std::string(1000, 'x')); }, limits).kind,
              Kind::finished);
    EXPECT_EQ(detail_of(wide, limits), "more than 100000 bytes, or more than 1000 in one line");
}

TEST_F(Children, ThatWriteNoTextAreEnded) {
    for (const std::string& junk : {std::string("\0\1\2", 3), std::string("\x7f"), std::string("\xff\xfe\n"),
                                    std::string("\x04\n"), std::string("\x04!\n"),
                                    std::string("abc\x04"
                                                "0123\n")}) {
        const Outcome outcome = run_one([&](Reporter& reporter) {
            two_lines(reporter);
            write_raw(junk);
            hang();
        });
        EXPECT_EQ(outcome.kind, Kind::garbage) << ::testing::PrintToString(junk);
        EXPECT_EQ(outcome.lines, kTwoLines);
    }
}

TEST_F(Children, HalfALineIsNoLine) {
    const Outcome crashed = run_one([](Reporter& reporter) {
        two_lines(reporter);
        write_raw(R"({"c":)");
        ::raise(SIGSEGV);
    });
    EXPECT_EQ(crashed.kind, Kind::crashed);
    EXPECT_EQ(crashed.lines, kTwoLines);
    const Outcome hung = run_one(
        [](Reporter& reporter) {
            two_lines(reporter);
            write_raw(R"({"c":)");
            hang();
        },
        kShort);
    EXPECT_EQ(hung.kind, Kind::hangs);
    EXPECT_EQ(hung.lines, kTwoLines);
}

TEST_F(Children, AreNotStartedWithoutDescriptors) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const int first_free = ::dup(0);
    ASSERT_GE(first_free, 0);
    ::close(first_free);
    const rlimit none{static_cast<rlim_t>(first_free), before.rlim_max};  // one is the folder itself
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    const Outcome outcome = run_one(two_lines);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(outcome.kind, Kind::not_started);
    EXPECT_EQ(outcome.error, EMFILE);
    EXPECT_EQ(detail_of(outcome, {}), "no child process: EMFILE");
}

TEST_F(Children, StepsAreBoundedAndPrintable) {
    const Outcome outcome = run_one([](Reporter& reporter) {
        reporter.step(std::string("call\x1b[31m\n\xff") + std::string(100'000, 'x'));
        ::raise(SIGSEGV);
    });
    EXPECT_TRUE(outcome.last_step.starts_with("call?[31m??xxx"));
    EXPECT_LT(outcome.last_step.size(), 4096U);
}

TEST(ChildWords, NameEveryKind) {
    std::set<std::string_view> names;
    for (int kind = 0; kind <= static_cast<int>(Kind::not_started); ++kind)
        names.insert(name_of(static_cast<Kind>(kind)));
    EXPECT_EQ(names.size(), 9U);
    EXPECT_TRUE(names.contains("unkillable"));
}

// Whatever happens five hundred times in turn, nothing piles up.
TEST_F(Children, LeaveNothingBehindWhateverTheyDo) {
    std::mt19937 random(4);
    const std::vector<std::function<void(Reporter&)>> faults{
        two_lines,
        [](Reporter&) { ::raise(SIGSEGV); },
        [](Reporter&) { ::_exit(0); },
        [](Reporter&) { throw std::bad_alloc(); },
        [](Reporter&) { write_raw("\1\2\3"); },
        [](Reporter& reporter) {
            for (;;) reporter.line("{}");
        },
        [](Reporter&) { ::close(kAnswers); },
        [](Reporter&) {
            if (::fork() == 0) hang();
        },
        [](Reporter&) {
            ::close(kAnswers);
            hang();
        },
        [](Reporter&) { hang(); },
    };
    Limits limits{milliseconds(30)};
    limits.max_bytes = 50'000;
    std::size_t outcomes = 0;
    int late = 0;  // killed, and given no turn to end within the time for that on a busy machine
    for (int run = 0; run < 500; ++run) {
        std::vector<Task> tasks(1 + random() % 3);
        for (Task& task : tasks)
            task.run = faults[random() % (run % 5 == 0 ? faults.size() : faults.size() - 2)];
        outcomes += run_all(tasks, limits).size();
        if (run % 50 != 0) continue;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        pid_t left = 0;
        while ((left = ::waitpid(-1, nullptr, WNOHANG)) != -1) {
            ASSERT_LT(std::chrono::steady_clock::now(), end) << run << ": one is running still";
            if (left > 0) ++late;
            ::usleep(1000);
        }
    }
    EXPECT_LE(late, 3);
    EXPECT_GE(outcomes, 500U);
}

}  // namespace
}  // namespace gpucheck::child
