// Remembers on disk what a run is doing, so that the run that a power cut, a panic or a kill ended is seen by
// the next one: a GPU that takes its machine down with it leaves no report of its own.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "checks/model/finding.h"

namespace gpucheck::boot {

/// What a marker says. All of it was read from a file that anything may have happened to.
struct MarkerRecord {
    std::string boot_id, started, profile, stage, device;
    unsigned earlier = 0;  ///< runs before this one, in a row, that did not end either
    bool operator==(const MarkerRecord&) const = default;
};

/// One line of JSON, padded: it is written over the one before in one block.
std::string render_marker(const MarkerRecord& record);
/// nullopt: no such record. Texts that are none or too long are empty.
std::optional<MarkerRecord> parse_marker(std::string_view content);

/// boot.interrupted for what the marker at `path` held; `boot_id` is this boot's.
Finding interruption(std::string_view content, const std::string& boot_id, const std::string& path);

/// The marker of this run. A process of its own holds it, because a disk may hang as well as a GPU: nobody
/// waits longer than a moment for it. It is locked while that process lives: a run beside this one is told
/// from one that died by the lock, not by a process number that another may have by now.
class RunMarker {
  public:
    RunMarker() = default;
    RunMarker(RunMarker&& other) noexcept;
    RunMarker& operator=(RunMarker&& other) noexcept;
    ~RunMarker() = default;

    /// Takes FOLDER/running.json. Without the folder, the right to write there, or while another run holds
    /// it, there is no marker, and the run goes on.
    static RunMarker begin(const std::string& folder, const MarkerRecord& record);

    bool held() const { return socket_ >= 0; }
    /// What the run before left; nullopt: it ended, or there was none.
    const std::optional<std::string>& left() const { return left_; }
    const std::string& path() const { return path_; }
    /// From here on the run does this. On the disk when it returns, unless the disk is slow. May be called in
    /// children.
    void stage(std::string_view stage, std::string_view device = {});
    /// The run ended: removes the marker.
    void end();

  private:
    void send(std::string_view text, int wait_ms) const;

    int socket_ = -1;
    pid_t keeper_ = -1;
    std::string path_;
    std::optional<std::string> left_;
    MarkerRecord record_;
};

}  // namespace gpucheck::boot
