// The walls around a child; see isolate.h.
#include "agent/child/isolate.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace gpucheck::child {
namespace {

constexpr int kAnswers = 3;

void default_signals() {
    for (int number = 1; number < NSIG; ++number) {
        if (number != SIGKILL && number != SIGSTOP) ::signal(number, SIG_DFL);
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// One byte and not none: a core_pattern that is a pipe (systemd-coredump, apport) is fed whatever the limit
// is, except at 1, which the kernel keeps for "no dump" (fs/coredump.c). A dump of a process with a GPU's
// memory mapped takes minutes.
void no_core_dump() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_CORE, &limit) != 0) return;
    limit.rlim_max = std::min<rlim_t>(limit.rlim_max, 1);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_CORE, &limit);
}

// A library that eats the machine's memory is to be ended before the agent that watches it, and before any
// customer's process.
void first_when_memory_runs_out() {
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    [[maybe_unused]] const ssize_t written = ::write(file, "1000", 4);
    ::close(file);
}

void close_from(unsigned first) {
    if (::syscall(SYS_close_range, first, ~0U, 0U) == 0) return;
    rlimit limit{};
    constexpr rlim_t kMost = 65536;  // kernels before 5.9 have no close_range(2)
    const rlim_t end = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? std::min(limit.rlim_cur, kMost) : kMost;
    for (rlim_t fd = first; fd < end; ++fd) ::close(static_cast<int>(fd));
}

// A full table of descriptors is no obstacle: everything but the pipe is closed before anything is opened.
int keep_only(int answers) {
    if (answers < kAnswers) {  // the process was started without standard descriptors
        const int higher = ::fcntl(answers, F_DUPFD_CLOEXEC, kAnswers);
        if (higher < 0) return -1;
        ::close(answers);
        answers = higher;
    }
    if (answers != kAnswers) {
        if (::dup3(answers, kAnswers, O_CLOEXEC) < 0) return -1;
    }
    close_from(kAnswers + 1);
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return -1;
    for (int fd = 0; fd < kAnswers; ++fd) {
        if (nothing != fd && ::dup2(nothing, fd) < 0) return -1;
    }
    if (nothing > kAnswers) {
        ::close(nothing);
    } else {
        ::fcntl(nothing, F_SETFD, 0);
    }
    return kAnswers;
}

}  // namespace

int isolate(pid_t parent, int answers) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would read what an orphan finds
    if (::getppid() != parent) {
        errno = ESRCH;
        return -1;
    }
    default_signals();
    no_core_dump();
    first_when_memory_runs_out();
    return keep_only(answers);
}

}  // namespace gpucheck::child
