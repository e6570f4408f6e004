// One child for each device node, one pipe for all answers, one deadline; see node_probe.h.
#include "agent/host/node_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>

#include "agent/host/sysroot.h"

namespace gpucheck::host {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kReapMs = 200;  // a killed child needs a turn on a busy CPU to end

// Smaller than PIPE_BUF: written whole or not at all, so all children can share the pipe.
struct Answer {
    std::uint32_t index;
    std::int32_t error;
};

struct Child {
    pid_t pid = -1;
    bool answered = false;
};

int milliseconds_left(Clock::time_point deadline) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return left > 0 ? static_cast<int>(left) + 1 : 0;
}

// A child that never ends must not hold our caller's pipes and files open: whoever reads our output waits for
// its end.
void keep_only(int fd) {
    ::dup2(fd, 0);
    if (::syscall(SYS_close_range, 1U, ~0U, 0U) == 0) return;
    for (int i = 1; i < 1024; ++i) ::close(i);
}

[[noreturn]] void run_child(int answers, std::uint32_t index, const char* path, NodeOpener opener) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    keep_only(answers);
    const Answer answer{index, opener(path)};
    ssize_t written = 0;
    do {
        written = ::write(0, &answer, sizeof answer);
    } while (written < 0 && errno == EINTR);
    ::_exit(0);
}

// Reads answers until all children answered, all ended, or the deadline passed. True: nobody is left who
// could answer.
bool collect(int answers, std::vector<Child>& children, std::vector<Fact<std::string>>& results,
             const std::vector<std::string>& paths, std::size_t expected, Clock::time_point deadline) {
    while (expected > 0) {
        pollfd ready{answers, POLLIN, 0};
        const int count = ::poll(&ready, 1, milliseconds_left(deadline));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        Answer answer{};
        const ssize_t got = ::read(answers, &answer, sizeof answer);
        if (got < 0 && errno == EINTR) continue;
        if (got != static_cast<ssize_t>(sizeof answer)) return true;  // every writer is gone
        if (answer.index >= children.size() || children[answer.index].answered) continue;
        children[answer.index].answered = true;
        results[answer.index] =
            Fact<std::string>(answer.error == 0 ? "ok" : errno_name(answer.error), paths[answer.index]);
        --expected;
    }
    return true;
}

// Ended already? Also true when somebody ignores SIGCHLD and the kernel reaped it.
bool reaped(pid_t pid) {
    const pid_t got = ::waitpid(pid, nullptr, WNOHANG);
    return got == pid || (got < 0 && errno != EINTR);
}

void reap(std::vector<Child>& children) {
    const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(kReapMs);
    for (;;) {
        bool left = false;
        for (Child& child : children) {
            if (child.pid < 0) continue;
            if (reaped(child.pid)) {
                child.pid = -1;
            } else {
                left = true;
            }
        }
        if (!left || Clock::now() >= deadline) return;
        ::poll(nullptr, 0, 1);
    }
}

}  // namespace

int open_read_write(const char* path) {
    return ::open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) >= 0 ? 0 : errno;
}

std::vector<Fact<std::string>> probe_nodes(const std::vector<std::string>& paths, int deadline_ms,
                                           NodeOpener opener) {
    std::vector<Fact<std::string>> results(paths.size());
    const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(deadline_ms);
    int pipe_ends[2];
    if (::pipe2(pipe_ends, O_CLOEXEC) != 0) {
        const std::string why = "pipe2(2): " + errno_name(errno);
        for (std::size_t i = 0; i < paths.size(); ++i) results[i] = Missing{paths[i], why};
        return results;
    }
    std::vector<Child> children(paths.size());
    std::size_t expected = 0;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const pid_t pid = ::fork();
        if (pid == 0) run_child(pipe_ends[1], static_cast<std::uint32_t>(i), paths[i].c_str(), opener);
        if (pid < 0) {
            results[i] = Missing{paths[i], "fork(2): " + errno_name(errno)};
            continue;
        }
        children[i].pid = pid;
        ++expected;
    }
    ::close(pipe_ends[1]);
    const bool all_ended = collect(pipe_ends[0], children, results, paths, expected, deadline);
    ::close(pipe_ends[0]);

    for (std::size_t i = 0; i < paths.size(); ++i) {
        Child& child = children[i];
        if (child.pid < 0 || child.answered) continue;
        if (all_ended || reaped(child.pid)) {
            if (!all_ended) child.pid = -1;
            results[i] = Missing{paths[i], "child ended without an answer"};
        } else {
            ::kill(child.pid, SIGKILL);
            results[i] =
                Missing{paths[i], "open(2) did not return within " + std::to_string(deadline_ms) + " ms"};
        }
    }
    reap(children);
    return results;
}

}  // namespace gpucheck::host
