// Turns the accesses of a run into a recorded machine in memory: what was asked for is there, what was found
// absent is known to be absent, and what nobody asked for says so.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/host/recorded.h"
#include "agent/host/sysroot.h"

namespace gpucheck::capture {

/// By real path, as a recorded machine holds it.
struct Recording {
    std::map<std::string, std::string> files;         ///< content
    std::map<std::string, std::string> links;         ///< target; relative
    std::map<std::string, host::RecordedNode> nodes;  ///< nodes.json
    std::set<std::string> folders;
    std::set<std::string> tried;  ///< lines of captured.txt
    host::RecordedProcess process;
};

/// Opens device nodes as the judged process; one answer a path, in order. On a live machine this must not
/// happen in our own process: the open of a sick device never returns.
using Probe = std::function<std::vector<Fact<std::string>>(const std::vector<std::string>& paths)>;

/// Content, by real path, that must not be asked for again: the first reading took it away.
using ReadBefore = std::map<std::string, Fact<std::string>>;

/// Asks `source` again for everything in `accesses`. An error when it is too much to keep.
std::variant<Recording, std::string> record(const host::Sysroot& source,
                                            const std::vector<host::Access>& accesses, const Probe& probe,
                                            const ReadBefore& before = {});

/// `target` of a link at the absolute path `place`, as a relative one that does not climb above the root.
std::string relative_target(std::string_view place, std::string_view target);

}  // namespace gpucheck::capture
