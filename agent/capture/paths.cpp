// Link targets as a recorded machine may hold them: relative, and never climbing above its root; see
// recording.h.
#include <string>
#include <vector>

#include "agent/capture/recording.h"

namespace gpucheck::capture {
namespace {

std::vector<std::string> parts_of(std::string_view path) {
    std::vector<std::string> parts;
    while (!path.empty()) {
        const std::size_t slash = path.find('/');
        if (slash != 0) parts.emplace_back(path.substr(0, slash));
        if (slash == std::string_view::npos) break;
        path.remove_prefix(slash + 1);
    }
    return parts;
}

}  // namespace

std::string relative_target(std::string_view place, std::string_view target) {
    const std::size_t depth = parts_of(place).size() - (place == "/" ? 0 : 1);  // folders above the link
    const bool absolute = target.starts_with('/');
    std::vector<std::string> parts = parts_of(target);
    std::size_t level = absolute ? 0 : depth;
    bool climbs_out = false;
    for (const std::string& part : parts) {
        if (part == "..") {
            climbs_out = climbs_out || level == 0;
            level -= level == 0 ? 0 : 1;
        } else if (part != ".") {
            ++level;
        }
    }
    if (!absolute && !climbs_out) return std::string(target);
    // ".." stops at the root of a live machine: begin there and leave out what would climb above it.
    std::vector<std::string> from_root;
    if (!absolute) {
        from_root = parts_of(place);
        from_root.pop_back();
    }
    for (std::string& part : parts) {
        if (part == "..") {
            if (!from_root.empty()) from_root.pop_back();
        } else if (part != ".") {
            from_root.push_back(std::move(part));
        }
    }
    std::string result;
    for (std::size_t i = 0; i < depth; ++i) result += "../";
    for (std::size_t i = 0; i < from_root.size(); ++i) result += (i == 0 ? "" : "/") + from_root[i];
    while (result.size() > 1 && result.back() == '/') result.pop_back();
    return result.empty() ? "." : result;
}

}  // namespace gpucheck::capture
