// What a run does before it judges a booting machine, and keeps up while it does: wait for the drivers,
// remember on disk where it is, and look whether the run before ended.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/boot.h"
#include "agent/boot_marker.h"
#include "agent/cli/options.h"
#include "agent/machine.h"
#include "agent/report/report.h"
#include "agent/supervise/supervise.h"

namespace gpucheck::boot {

struct Prepared {
    Places places;
    RunMarker marker;
    std::optional<report::Readiness> readiness;
    Findings findings;  ///< for the check "run"
};

/// Whether --boot may write where this machine's verdict is awaited: not for another machine, unless the
/// places were given.
bool may_announce(const cli::MachineOptions& machine, const Places& places);

/// Waits as the options say. The error is a sentence for the command line.
std::variant<Prepared, std::string> prepare(const cli::RunOptions& options, Target& target);

/// Tells the marker of the stages that a supervised run announces anyway.
class MarkedProgress : public Progress {
  public:
    MarkedProgress(Progress& progress, RunMarker& marker) : progress_(progress), marker_(marker) {}
    void step(std::string_view what) override { progress_.step(what); }
    void wait(std::string_view what, std::chrono::milliseconds at_most) override;
    void reading_done() override { progress_.reading_done(); }
    void concluded() override;

  private:
    Progress& progress_;
    RunMarker& marker_;
};

/// Which experiment each GPU is in, for the marker: one write for each new stage, and otherwise at most two a
/// second.
class MarkedExperiments {
  public:
    MarkedExperiments(const Snapshot& snapshot, RunMarker& marker);
    /// An empty `stage`: unchanged.
    void note(std::size_t gpu, std::string_view stage);

  private:
    std::vector<std::string> addresses_, stages_;
    std::vector<std::string> seen_;
    std::chrono::steady_clock::time_point last_{};
    RunMarker& marker_;
};

}  // namespace gpucheck::boot
