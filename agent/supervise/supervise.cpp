// The watching parent and the working child; see supervise.h.
#include "agent/supervise/supervise.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <thread>

namespace gpucheck {
namespace {

using Clock = std::chrono::steady_clock;

// One page that parent and child both see. `sequence` is odd while `text` is being written.
struct Board {
    std::atomic<std::uint64_t> sequence{0};
    std::atomic<bool> reading{true};
    std::array<char, 2048> text{};
};

class SharedProgress : public Progress {
  public:
    explicit SharedProgress(Board* board) : board_(board) {}
    void step(std::string_view what) override {
        board_->sequence.fetch_add(1, std::memory_order_acq_rel);
        const std::size_t length = std::min(what.size(), board_->text.size() - 1);
        std::memcpy(board_->text.data(), what.data(), length);
        board_->text[length] = '\0';
        board_->sequence.fetch_add(1, std::memory_order_acq_rel);
    }
    void reading_done() override { board_->reading.store(false, std::memory_order_release); }

  private:
    Board* board_;
};

std::string text_on(const Board& board) {
    return std::string(board.text.data(), ::strnlen(board.text.data(), board.text.size()));
}

// A second hang in the same folder means that the device hangs, not one file.
void give_up(std::vector<std::string>& refused, const std::string& path) {
    const auto folder_of = [](const std::string& text) { return text.substr(0, text.rfind('/')); };
    const std::string folder = folder_of(path);
    const bool again = std::any_of(refused.begin(), refused.end(),
                                   [&](const std::string& earlier) { return folder_of(earlier) == folder; });
    refused.push_back(again && folder.size() > 1 ? folder : path);
}

enum class Watched { exited, stalled, late };

Watched watch(pid_t child, int ends, const Board& board, Clock::time_point deadline,
              std::chrono::milliseconds stall, int& wait_status) {
    std::uint64_t seen = board.sequence.load(std::memory_order_acquire);
    Clock::time_point since = Clock::now();
    bool ended = false;  // the child's end of the pipe is closed: it exits this moment
    for (;;) {
        const pid_t done = ::waitpid(child, &wait_status, WNOHANG);
        if (done == child) return Watched::exited;
        const Clock::time_point now = Clock::now();
        if (now >= deadline) return Watched::late;
        const std::uint64_t sequence = board.sequence.load(std::memory_order_acquire);
        if (sequence != seen || !board.reading.load(std::memory_order_acquire)) {
            seen = sequence;
            since = now;
        } else if (now - since > stall) {
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

// Kills and reaps for at most 20 ms: a process that hangs inside the kernel does neither.
void abandon(pid_t child) {
    ::kill(child, SIGKILL);
    for (int i = 0; i < 20; ++i) {
        if (::waitpid(child, nullptr, WNOHANG) != 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace

Outcome supervise(const Supervision& limits,
                  const std::function<int(const std::vector<std::string>& refused, Progress&)>& work) {
    Outcome outcome;
    void* page = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        outcome.kind = Outcome::Kind::unsupported;
        return outcome;
    }
    const Clock::time_point deadline = Clock::now() + limits.budget;
    const pid_t parent = ::getpid();
    for (;;) {
        Board* board = ::new (page) Board();
        int pipe_ends[2];
        if (::pipe2(pipe_ends, O_CLOEXEC) != 0) {
            outcome.kind = Outcome::Kind::unsupported;
            break;
        }
        const pid_t child = ::fork();
        if (child != 0) ::close(pipe_ends[1]);
        if (child < 0) {
            ::close(pipe_ends[0]);
            outcome.kind = Outcome::Kind::unsupported;
            break;
        }
        if (child == 0) {
            ::close(pipe_ends[0]);
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody would read what an orphan finds
            if (::getppid() != parent) ::_exit(70);
            SharedProgress progress(board);
            ::_exit(work(outcome.refused, progress));
        }
        int wait_status = 0;
        const Watched seen = watch(child, pipe_ends[0], *board, deadline, limits.stall, wait_status);
        ::close(pipe_ends[0]);
        if (seen == Watched::exited) {
            if (WIFEXITED(wait_status)) {
                outcome.kind = Outcome::Kind::finished;
                outcome.status = WEXITSTATUS(wait_status);
            } else {
                outcome.kind = Outcome::Kind::crashed;
                outcome.signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
                outcome.last_step = text_on(*board);
            }
            break;
        }
        outcome.last_step = text_on(*board);
        abandon(child);
        if (seen == Watched::late || outcome.last_step.empty() || outcome.refused.size() > 64) {
            outcome.kind = Outcome::Kind::out_of_time;
            break;
        }
        give_up(outcome.refused, outcome.last_step);
        // The abandoned child may still write to its page: the next one gets a fresh page.
        page = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) {
            outcome.kind = Outcome::Kind::out_of_time;
            break;
        }
    }
    return outcome;
}

}  // namespace gpucheck
