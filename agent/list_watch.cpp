// One supervised child a look, and a little memory that outlives it; see list_watch.h.
#include "agent/list_watch.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <type_traits>

#include "agent/host/sysroot.h"
#include "agent/list_telemetry.h"
#include "agent/log.h"
#include "agent/report/escape.h"
#include "agent/run.h"

namespace gpucheck::listing {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kReaderGone = 3;  // of a child: nobody reads what it prints
constexpr int kUnknown = 2;     // docs/report.md: what must be known could not be looked at

// Totals of the last look, in memory that the next child sees too.
struct Look {
    double at_s = 0;
    std::size_t count = 0;
    std::array<Totals, 64> gpus{};
};
static_assert(std::is_trivially_copyable_v<Look>);

class SharedLook {
  public:
    SharedLook()
        : look_(static_cast<Look*>(
              ::mmap(nullptr, sizeof(Look), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
    SharedLook(const SharedLook&) = delete;
    SharedLook& operator=(const SharedLook&) = delete;
    ~SharedLook() {
        if (valid()) ::munmap(look_, sizeof(Look));
    }
    bool valid() const { return static_cast<void*>(look_) != MAP_FAILED; }
    Look& get() { return *look_; }

  private:
    Look* look_;
};

double now_s() {
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// False when the reader has gone away or the output is broken.
bool write_out(std::string_view text, int& error) {
    error = 0;
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            error = errno;
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

int written_status(std::string_view text) {
    int error = 0;
    if (write_out(text, error)) return 0;
    if (error == EPIPE) return kReaderGone;
    log_error("standard output: " + host::errno_name(error));
    return kSoftware;
}

std::string left_out(const std::vector<std::string>& refused) {
    std::string text;
    for (const std::string& path : refused)
        text += "left out, because it did not answer: " + report::plain(path) + "\n";
    return text;
}

// The exit status of a look; `status` is what the child returned.
int status_of(const Outcome& outcome) {
    switch (outcome.kind) {
        case Outcome::Kind::finished:
            return outcome.status;
        case Outcome::Kind::out_of_time:
            log_error("no answer in time; still at " +
                      (outcome.last_step.empty() ? std::string("the start") : outcome.last_step));
            return kUnknown;
        case Outcome::Kind::crashed:
            log_error("gpucheck was ended by signal " + std::to_string(outcome.signal) +
                      " after looking at " + (outcome.last_step.empty() ? "nothing" : outcome.last_step));
            return kSoftware;
        case Outcome::Kind::unsupported:
            break;
    }
    log_error("no child process could be started: " + host::errno_name(errno));
    return kSoftware;
}

// On a terminal: from the top left, each line to its end, then nothing below.
std::string redrawn(const std::string& text) {
    std::string screen = "\x1b[H";
    for (const char c : text) {
        if (c == '\n') screen += "\x1b[K";
        screen += c;
    }
    return screen + "\x1b[J";
}

std::string time_line(double interval_s) {
    std::array<char, 32> text{};
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    std::array<char, 48> every{};
    std::snprintf(every.data(), every.size(), ", every %g s\n", interval_s);
    return std::string(text.data()) + every.data();
}

void remember(const Snapshot& snapshot, double at_s, Look& look) {
    look.count = std::min(snapshot.gpus.size(), look.gpus.size());
    for (std::size_t i = 0; i < look.count; ++i) look.gpus[i] = totals_of(snapshot.gpus[i]);
    look.at_s = at_s;
}

// The child's part of one look.
int look_once(const Reader& read, double interval_s, bool in_place, bool first, Look& look,
              const std::vector<std::string>& refused, Progress& progress) {
    const Look before = look;
    const Snapshot snapshot = read(refused, progress, first);
    progress.reading_done();
    const double at_s = now_s();
    Earlier earlier;
    if (!first && before.count > 0) earlier = {before.gpus.data(), before.count, at_s - before.at_s};
    std::string text = time_line(interval_s);
    const std::string table = telemetry_table(snapshot, output_width(), earlier);
    if (snapshot.gpus.empty()) {
        text += "no GPU of AMD or NVIDIA\n";
    } else {
        text += table.empty() ? "no telemetry of these GPUs could be read; see list --json\n" : table;
    }
    text += left_out(refused);
    const int status = written_status(in_place ? redrawn(text) : text + "\n");
    remember(snapshot, at_s, look);
    return status;
}

sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

// Waits until `until`; true when a signal asks to end.
bool asked_to_end(const sigset_t& signals, double until_s) {
    for (;;) {
        const double left = std::max(0.0, until_s - now_s());
        timespec wait{};
        wait.tv_sec = static_cast<time_t>(left);
        wait.tv_nsec = static_cast<long>((left - std::floor(left)) * 1e9);
        if (::sigtimedwait(&signals, nullptr, &wait) > 0) return true;
        if (errno != EINTR) return false;
    }
}

}  // namespace

Supervision limits_of_list() {
    return {.budget = milliseconds(10000), .stall = milliseconds(2000)};
}

std::size_t output_width() {
    constexpr std::size_t kElsewhere = 140, kNarrowest = 60, kWidest = 400;
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kElsewhere;
    return std::clamp<std::size_t>(size.ws_col, kNarrowest, kWidest);
}

int show_once(const Reader& read, const std::function<std::string(const Snapshot&)>& text) {
    const Outcome outcome =
        supervise(limits_of_list(), [&](const std::vector<std::string>& refused, Progress& progress) {
            const Snapshot snapshot = read(refused, progress, true);
            progress.reading_done();
            for (const std::string& path : refused) log_warn(path + " did not answer; it was left out");
            return print(text(snapshot));
        });
    return status_of(outcome);
}

int watch(const Reader& read, double interval_s, unsigned count) {
    SharedLook shared;
    if (!shared.valid()) {
        log_error("no memory to share: " + host::errno_name(errno));
        return kSoftware;
    }
    const sigset_t signals = ending_signals();
    sigset_t before;
    ::sigprocmask(SIG_BLOCK, &signals, &before);
    const char* term = std::getenv("TERM");
    const bool in_place = ::isatty(STDOUT_FILENO) == 1 && term != nullptr && std::strcmp(term, "dumb") != 0;
    int status = in_place ? written_status("\x1b[2J") : 0;
    double next_s = now_s();
    for (unsigned look = 0; status == 0 && (count == 0 || look < count); ++look) {
        if (look > 0 && asked_to_end(signals, next_s)) break;
        const Outcome outcome =
            supervise(limits_of_list(), [&](const std::vector<std::string>& refused, Progress& progress) {
                ::sigprocmask(SIG_SETMASK, &before, nullptr);  // a child that is asked to end, ends
                return look_once(read, interval_s, in_place, look == 0, shared.get(), refused, progress);
            });
        if (outcome.kind == Outcome::Kind::crashed && (outcome.signal == SIGINT || outcome.signal == SIGTERM))
            break;
        status = status_of(outcome);
        // A GPU that does not answer now may answer at the next look.
        if (status == kUnknown) status = 0;
        next_s = std::max(next_s + interval_s, now_s());
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return status == kReaderGone ? 0 : status;
}

}  // namespace gpucheck::listing
