// Writes a machine down so that its fault can be judged, reproduced and tested elsewhere, by people who must
// not learn whose it is.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/capture/recording.h"
#include "agent/host/sysroot.h"

namespace gpucheck::capture {

/// A file beside sysroot/ that others made: kernel.log, vendor.json, metadata.json, measurements.json.
struct Beside {
    std::string name, content;
};

/// What a run learned elsewhere than in files.
struct Learned {
    std::vector<Beside> beside;
    std::vector<std::string> serials;  ///< to be replaced wherever they stand
};

struct Options {
    Probe probe;                                    ///< opens device nodes; empty: source.try_open
    std::vector<Beside> beside;                     ///< redacted like everything else
    std::function<Learned()> learned;               ///< asked once `collect` is through
    std::function<void(std::string_view)> on_step;  ///< before each access: names it
    std::function<void()> on_read;                  ///< nothing more is asked of the machine; writing begins
};

struct Summary {
    std::size_t files = 0, links = 0, nodes = 0, patterns = 0;
    std::uint64_t bytes = 0;
};

/// Runs `collect` on `source`, then writes everything it asked for to `folder`, which must not exist or be
/// empty. It appears under its name only when complete: until then it is FOLDER.partial. One sentence when
/// that is impossible.
std::variant<Summary, std::string> capture(host::Sysroot& source, const std::string& folder,
                                           const std::function<void(const host::Sysroot&)>& collect,
                                           const Options& options = {});

}  // namespace gpucheck::capture
