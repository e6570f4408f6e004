// One child a task, one pipe a child, one deadline for all; see child.h.
#include "agent/child/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "agent/child/board.h"
#include "agent/child/isolate.h"
#include "agent/child/lines.h"

namespace gpucheck::child {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kCannotBegin = 71;  // EX_OSERR of sysexits.h
constexpr milliseconds kReap{
    200};                    // a killed child needs a turn on a busy CPU, and its driver time to clean up
constexpr int kLookMs = 10;  // a child may end while its grandchild keeps the pipe open

// Not to be guessed by a library that writes into every descriptor it finds.
std::string new_mark() {
    std::array<unsigned char, 8> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), GRND_NONBLOCK) < 0) {
        const auto now = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
        std::memcpy(bytes.data(), &now, sizeof now);
    }
    std::string mark = "\x04";  // end of transmission: no line of text holds it
    for (const unsigned char byte : bytes) {
        mark += "0123456789abcdef"[byte >> 4];
        mark += "0123456789abcdef"[byte & 15];
    }
    return mark;
}

class PipeReporter : public Reporter {
  public:
    PipeReporter(int answers, Board& board) : answers_(answers), board_(board) {}
    void step(std::string_view call) override { board_.announce(call); }
    void line(std::string_view json) override { send(json, "\n"); }
    void send(std::string_view text, std::string_view end) {
        while (!text.empty() || !end.empty()) {
            iovec parts[2] = {{const_cast<char*>(text.data()), text.size()},
                              {const_cast<char*>(end.data()), end.size()}};
            const ssize_t count = ::writev(answers_, parts, 2);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) ::_exit(kCannotBegin);  // somebody closed the pipe: nothing more can be said
            auto written = static_cast<std::size_t>(count);
            const std::size_t head = std::min(written, text.size());
            text.remove_prefix(head);
            end.remove_prefix(written - head);
        }
    }

  private:
    int answers_;
    Board& board_;
};

[[noreturn]] void run_child(const Task& task, pid_t parent, int pipe, Board& board, const std::string& mark) {
    const int answers = isolate(parent, pipe);
    if (answers < 0) {
        board.set_error(errno);
        ::_exit(kCannotBegin);
    }
    PipeReporter reporter(answers, board);
    try {
        task.run(reporter);
        reporter.send(mark, "\n");
    } catch (const std::bad_alloc&) {
        reporter.send(mark, "!\n");
    } catch (...) {
        std::abort();
    }
    ::_exit(0);
}

// One child from start to end.
class Child {
  public:
    Child(const Task& task, const Limits& limits, pid_t parent)
        : mark_(new_mark()), lines_(mark_, limits.max_bytes, limits.max_line) {
        start(task, parent);
    }
    Child(Child&& other) = delete;
    ~Child() { close_pipe(); }

    bool running() const { return phase_ == Phase::running; }
    bool dying() const { return phase_ == Phase::killed; }
    int pipe() const { return pipe_; }
    const std::vector<std::string>& lines() const { return lines_.lines(); }

    // Takes what is there.
    void read_some() {
        std::array<char, 65536> buffer;
        while (pipe_ >= 0 && lines_.state() == Lines::State::open) {
            const ssize_t count = ::read(pipe_, buffer.data(), buffer.size());
            if (count < 0 && errno == EINTR) continue;
            if (count < 0 && errno == EAGAIN) return;
            if (count <= 0) return close_pipe();
            since_ = Clock::now();
            lines_.take({buffer.data(), static_cast<std::size_t>(count)});
        }
    }

    // Ends it when there is a reason to.
    void look(Clock::time_point now, Clock::time_point deadline, milliseconds stall) {
        if (lines_.state() == Lines::State::open && !ended()) {
            const std::uint64_t sequence = board_->sequence();
            if (sequence != seen_) {
                seen_ = sequence;
                since_ = now;
            }
            stalled_ = stall.count() > 0 && now - since_ >= stall;
            late_ = stalled_ || now >= deadline;
            if (!late_) return;
        }
        // The group while the child is not reaped yet: until then nobody else can have its number.
        ::kill(-pid_, SIGKILL);
        ::kill(pid_, SIGKILL);
        read_some();
        close_pipe();
        last_step_ = board_->text();
        phase_ = Phase::killed;
    }

    void reap() {
        if (reaped_within(pid_, milliseconds(0))) phase_ = Phase::gone;
    }

    Outcome outcome() {
        Outcome result;
        result.last_step = printable(last_step_);
        result.stalled = stalled_;
        conclude(result);
        result.lines = lines_.release();
        return result;
    }

  private:
    enum class Phase { running, killed, gone };

    void start(const Task& task, pid_t parent) {
        phase_ = Phase::gone;
        board_ = make_board();
        int ends[2];
        if (!board_ || ::pipe2(ends, O_CLOEXEC) != 0) {
            error_ = errno;
            return;
        }
        pid_ = ::fork();
        if (pid_ == 0) run_child(task, parent, ends[1], *board_, mark_);
        error_ = errno;
        ::close(ends[1]);
        pipe_ = ends[0];
        if (pid_ < 0) return close_pipe();
        error_ = 0;
        ::setpgid(pid_, pid_);  // here and in the child: whoever comes first
        ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
        since_ = Clock::now();
        phase_ = Phase::running;
    }

    void close_pipe() {
        if (pipe_ >= 0) ::close(pipe_);
        pipe_ = -1;
    }

    // Did it end by itself? It is not reaped yet.
    bool ended() {
        siginfo_t info{};
        if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
            return errno != EINTR;
        }
        if (info.si_pid != pid_) return false;
        by_signal_ = info.si_code != CLD_EXITED;
        status_ = info.si_status;
        return true;
    }

    void conclude(Outcome& result) {
        using Kind = Outcome::Kind;
        if (error_ != 0) {
            result.error = error_;
            result.kind = Kind::not_started;
            return;
        }
        switch (lines_.state()) {
            case Lines::State::ended:
                result.kind = Kind::finished;
                return;
            case Lines::State::starved:
                result.kind = Kind::out_of_memory;
                return;
            case Lines::State::flooded:
                result.kind = Kind::flooded;
                return;
            case Lines::State::garbage:
                result.kind = Kind::garbage;
                return;
            case Lines::State::open:
                break;
        }
        constexpr int kMaxErrno = 4095;
        if (late_) {
            result.kind = phase_ == Phase::gone ? Kind::hangs : Kind::unkillable;
        } else if (by_signal_) {
            result.kind = status_ == SIGKILL ? Kind::out_of_memory : Kind::crashed;
            result.signal = status_;
        } else if (status_ == kCannotBegin && board_->error() > 0 && board_->error() <= kMaxErrno) {
            result.kind = Kind::not_started;
            result.error = board_->error();
        } else {
            result.kind = Kind::exited;
            result.exit_status = status_;
        }
    }

    static std::string printable(std::string text) {
        for (char& c : text) {
            if (c < 0x20 || c > 0x7e) c = '?';
        }
        return text;
    }

    std::string mark_;
    Lines lines_;
    SharedBoard board_;
    Phase phase_ = Phase::gone;
    pid_t pid_ = -1;
    int pipe_ = -1;
    int error_ = 0;
    bool late_ = false, stalled_ = false, by_signal_ = false;
    int status_ = 0;
    std::uint64_t seen_ = 0;
    Clock::time_point since_;
    std::string last_step_;
};

// The status of a child is kept for us only while SIGCHLD is not ignored, which we may have inherited.
class ChildSignal {
  public:
    ChildSignal() {
        struct sigaction usual {};
        usual.sa_handler = SIG_DFL;
        ::sigaction(SIGCHLD, &usual, &before_);
    }
    ChildSignal(const ChildSignal&) = delete;
    ChildSignal& operator=(const ChildSignal&) = delete;
    ~ChildSignal() { ::sigaction(SIGCHLD, &before_, nullptr); }

  private:
    struct sigaction before_ {};
};

using Children = std::vector<std::unique_ptr<Child>>;

void wait_for_news(const Children& children) {
    std::vector<pollfd> pipes;
    bool soon = false;  // a closed pipe says that its child ends this moment
    for (const auto& child : children) {
        if (child->running() && child->pipe() >= 0) pipes.push_back({child->pipe(), POLLIN, 0});
        soon = soon || child->dying() || (child->running() && child->pipe() < 0);
    }
    ::poll(pipes.data(), pipes.size(), soon ? 1 : kLookMs);
}

void pass_on(const Children& children, std::vector<std::size_t>& passed,
             const std::function<void(std::size_t, std::string_view)>& on_line) {
    for (std::size_t i = 0; i < children.size(); ++i) {
        const std::vector<std::string>& lines = children[i]->lines();
        for (; passed[i] < lines.size(); ++passed[i]) {
            if (on_line) on_line(i, lines[passed[i]]);
        }
    }
}

// Until all are done; true until then.
bool step(const Children& children, Clock::time_point deadline, milliseconds stall) {
    bool running = false;
    const Clock::time_point now = Clock::now();
    for (const auto& child : children) {
        if (child->running()) child->read_some();
        if (child->running()) child->look(now, deadline, stall);
        if (child->dying()) child->reap();
        running = running || child->running();
    }
    return running;
}

void reap_all(const Children& children) {
    const Clock::time_point end = Clock::now() + kReap;
    for (;;) {
        bool left = false;
        for (const auto& child : children) {
            if (child->dying()) child->reap();
            left = left || child->dying();
        }
        if (!left || Clock::now() >= end) return;
        ::poll(nullptr, 0, 1);
    }
}

}  // namespace

std::vector<Outcome> run_all(const std::vector<Task>& tasks, const Limits& limits,
                             const std::function<void(std::size_t, std::string_view)>& on_line) {
    const ChildSignal kept_status;
    const Clock::time_point deadline = Clock::now() + limits.deadline;
    const pid_t self = ::getpid();
    Children children;
    for (const Task& task : tasks) children.push_back(std::make_unique<Child>(task, limits, self));
    std::vector<std::size_t> passed(children.size(), 0);
    while (step(children, deadline, limits.stall)) {
        pass_on(children, passed, on_line);
        wait_for_news(children);
    }
    pass_on(children, passed, on_line);
    reap_all(children);
    std::vector<Outcome> outcomes;
    for (const auto& child : children) outcomes.push_back(child->outcome());
    return outcomes;
}

}  // namespace gpucheck::child
