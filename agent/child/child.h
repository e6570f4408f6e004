// Runs code that may hang, crash or lie in children of its own, so that one sick GPU costs its own facts and
// nothing else.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpucheck::child {

/// What a task may do while it runs in its child.
class Reporter {
  public:
    virtual ~Reporter() = default;
    /// Before each call that could hang: names it ("nvmlDeviceGetEccMode").
    virtual void step(std::string_view call) = 0;
    /// One result: a line of JSON without a newline. It reaches the parent even when the next call hangs.
    virtual void line(std::string_view json) = 0;
};

/// Runs in a forked child with standard input and output on /dev/null. Returning is success.
struct Task {
    std::string name;  ///< for messages: "NVML 0000:19:00.0"
    std::function<void(Reporter&)> run;
};

struct Limits {
    std::chrono::milliseconds deadline{2000};       ///< for the task as a whole
    std::chrono::milliseconds stall{0};             ///< without a step or a line; 0: only the deadline counts
    std::size_t max_bytes = std::size_t{4} << 20;   ///< of lines; more is a flood
    std::size_t max_line = std::size_t{256} << 10;  ///< of one line
};

/// How a task ended. Its lines are kept in every case.
struct Outcome {
    enum class Kind {
        finished,
        hangs,          ///< no end before the deadline; killed
        unkillable,     ///< the same, and SIGKILL did not end it (D state): abandoned, never waited for
        crashed,        ///< by a signal
        exited,         ///< ended by itself (exit(3) in a library) before the task returned
        out_of_memory,  ///< bad_alloc, or SIGKILL that was not ours
        flooded,        ///< wrote more than max_bytes or a line beyond max_line; killed
        garbage,        ///< wrote bytes that are no lines of text; killed
        not_started,    ///< fork or pipe failed
    } kind = Kind::not_started;
    int signal = 0;         ///< crashed
    int exit_status = 0;    ///< exited
    bool stalled = false;   ///< hangs, unkillable: because of Limits.stall, not of the deadline
    int error = 0;          ///< not_started: errno
    std::string last_step;  ///< what it had announced last; made printable
    std::vector<std::string> lines;
};
std::string_view name_of(Outcome::Kind kind);  ///< "finished", "hangs", "unkillable", ...
/// "SIGSEGV", "exit status 3", "no answer within 800 ms; could not be killed": the words of
/// VendorTrouble.detail.
std::string detail_of(const Outcome& outcome, const Limits& limits);

/// Runs all tasks at once, each in its own child; outcomes in the order of the tasks. Returns when all ended,
/// or soon after the deadline. Leaves no zombie that could be reaped, no descriptor and no thread. Call it
/// while the process has one thread. `on_line`, when set, sees each line as it comes (task index, line), for
/// progress.
std::vector<Outcome> run_all(const std::vector<Task>& tasks, const Limits& limits,
                             const std::function<void(std::size_t, std::string_view)>& on_line = {});

}  // namespace gpucheck::child
