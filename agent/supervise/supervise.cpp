// The watching parent and the working child; see supervise.h.
#include "agent/supervise/supervise.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <thread>

#include "agent/child/board.h"

namespace gpucheck {
namespace {

using Clock = std::chrono::steady_clock;

class SharedProgress : public Progress {
  public:
    explicit SharedProgress(child::Board& board) : board_(board) {}
    void step(std::string_view what) override { board_.announce(what); }
    void wait(std::string_view what, std::chrono::milliseconds at_most) override {
        board_.announce(what, at_most);
    }
    void reading_done() override { board_.set_quiet(); }
    void concluded() override { board_.set_concluded(); }

  private:
    child::Board& board_;
};

// A second hang in the same folder means that the device hangs, not one file.
void give_up(std::vector<std::string>& refused, const std::string& path) {
    const auto folder_of = [](const std::string& text) { return text.substr(0, text.rfind('/')); };
    const std::string folder = folder_of(path);
    const bool again = std::any_of(refused.begin(), refused.end(),
                                   [&](const std::string& earlier) { return folder_of(earlier) == folder; });
    refused.push_back(again && folder.size() > 1 ? folder : path);
}

enum class Watched { exited, stalled, late };

Watched watch(pid_t worker, int ends, const child::Board& board, Clock::time_point deadline,
              const Supervision& limits, int& wait_status) {
    std::uint64_t seen = board.sequence();
    Clock::time_point since = Clock::now();
    bool ended = false;  // the child's end of the pipe is closed: it exits this moment
    for (;;) {
        const pid_t done = ::waitpid(worker, &wait_status, WNOHANG);
        if (done == worker) return Watched::exited;
        const Clock::time_point now = Clock::now();
        if (now >= (board.concluded() ? deadline + limits.telling : deadline)) return Watched::late;
        const std::uint64_t sequence = board.sequence();
        if (sequence != seen || board.quiet()) {
            seen = sequence;
            since = now;
        } else if (now - since > std::max(limits.stall, board.allowance())) {
            return Watched::stalled;
        }
        if (ended) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
            continue;
        }
        constexpr int kLookMs = 10;
        pollfd wait_for{ends, POLLIN, 0};
        ended = ::poll(&wait_for, 1, kLookMs) > 0;
    }
}

// A process that hangs inside the kernel does not end.
void abandon(pid_t worker) {
    ::kill(worker, SIGKILL);
    child::reaped_within(worker, std::chrono::milliseconds(20));
}

}  // namespace

Outcome supervise(const Supervision& limits,
                  const std::function<int(const std::vector<std::string>& refused, Progress&)>& work) {
    Outcome outcome;
    child::SharedBoard board = child::make_board();
    if (!board) {
        outcome.kind = Outcome::Kind::unsupported;
        return outcome;
    }
    const Clock::time_point deadline = Clock::now() + limits.budget;
    const pid_t parent = ::getpid();
    for (;;) {
        int pipe_ends[2];
        if (::pipe2(pipe_ends, O_CLOEXEC) != 0) {
            outcome.kind = Outcome::Kind::unsupported;
            break;
        }
        const pid_t worker = ::fork();
        if (worker != 0) ::close(pipe_ends[1]);
        if (worker < 0) {
            ::close(pipe_ends[0]);
            outcome.kind = Outcome::Kind::unsupported;
            break;
        }
        if (worker == 0) {
            ::close(pipe_ends[0]);
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would read what an orphan finds
            if (::getppid() != parent) ::_exit(70);
            SharedProgress progress(*board);
            ::_exit(work(outcome.refused, progress));
        }
        int wait_status = 0;
        const Watched seen = watch(worker, pipe_ends[0], *board, deadline, limits, wait_status);
        ::close(pipe_ends[0]);
        if (seen == Watched::late) abandon(worker);
        outcome.concluded = board->concluded();
        if (seen == Watched::exited) {
            if (WIFEXITED(wait_status)) {
                outcome.kind = Outcome::Kind::finished;
                outcome.status = WEXITSTATUS(wait_status);
            } else {
                outcome.kind = Outcome::Kind::crashed;
                outcome.signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
                outcome.last_step = board->text();
            }
            break;
        }
        outcome.last_step = board->text();
        if (seen == Watched::stalled) abandon(worker);
        if (seen == Watched::late || outcome.last_step.empty() || outcome.refused.size() > 64) {
            outcome.kind = Outcome::Kind::out_of_time;
            break;
        }
        give_up(outcome.refused, outcome.last_step);
        // The abandoned child may still write to its page: the next one gets a fresh page.
        board = child::make_board();
        if (!board) {
            outcome.kind = Outcome::Kind::out_of_time;
            break;
        }
    }
    return outcome;
}

}  // namespace gpucheck
