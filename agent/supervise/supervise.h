// Keeps a run on time when a read from a sick GPU's files never returns: the work is done in a child, and the
// parent moves on without the file that hangs.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpucheck {

/// Shared between the child that works and the parent that watches.
class Progress {
  public:
    virtual ~Progress() = default;
    /// Before each step that could hang: names it.
    virtual void step(std::string_view what) = 0;
    /// A step that may take `at_most`: it waits for children that have a deadline of their own.
    virtual void wait(std::string_view what, std::chrono::milliseconds at_most) = 0;
    /// From here on only computation follows; nothing is watched but the budget.
    virtual void reading_done() = 0;
    /// What was found stands from here on and is being told: that gets `Supervision::telling` more than the
    /// budget, and nobody tells another story when it does not end.
    virtual void concluded() = 0;
};

struct Supervision {
    std::chrono::milliseconds budget{2000};  ///< for all tries together
    std::chrono::milliseconds stall{800};    ///< a step that takes longer is given up
    std::chrono::milliseconds telling{5000};  ///< for a concluded run, beyond the budget: a console may be slow
};

/// How the supervised work ended.
struct Outcome {
    enum class Kind { finished, crashed, out_of_time, unsupported } kind = Kind::finished;
    int status = 0;                    ///< finished: what `work` returned (0..255)
    int signal = 0;                    ///< crashed: the signal
    std::string last_step;             ///< crashed, out_of_time: what it was doing
    bool concluded = false;            ///< crashed, out_of_time: only the telling was left
    std::vector<std::string> refused;  ///< steps that were given up in earlier tries
};

/// Runs `work(refused, progress)` in a forked child. A child whose step stalls is killed and never waited for
/// longer than a moment (a process in the kernel cannot be killed); then a new child is started with that
/// step in `refused`, until the budget is spent. Call it before any thread exists. `unsupported`: fork or
/// mmap failed, nothing was done.
Outcome supervise(const Supervision& limits,
                  const std::function<int(const std::vector<std::string>& refused, Progress&)>& work);

}  // namespace gpucheck
