// What a recorded machine says about a path beyond its files: nodes.json, and whether anybody asked for it at
// all.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "agent/host/sysroot_impl.h"

namespace gpucheck::host {

std::string parent_of(std::string_view path) {
    const std::size_t slash = path.find_last_not_of('/') == std::string_view::npos ? 0 : path.rfind('/');
    return slash == 0 || slash == std::string_view::npos ? "/" : std::string(path.substr(0, slash));
}

std::string_view base_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// What open(2) would answer by mode and ids alone (path_resolution(7)): root passes, else the first class
// that fits.
std::string open_by_mode(const NodeStat& stat, const RecordedProcess& process, bool write) {
    if (process.uid.is(0U)) return "ok";
    const unsigned wanted = write ? 6 : 4;
    unsigned granted = stat.mode & 7;
    if (process.uid.is(stat.uid)) {
        granted = (stat.mode >> 6) & 7;
    } else if (process.gids.known()) {
        const std::vector<unsigned>& gids = process.gids.value();
        if (std::find(gids.begin(), gids.end(), stat.gid) != gids.end()) granted = (stat.mode >> 3) & 7;
    }
    return (granted & wanted) == wanted ? "ok" : "EACCES";
}

bool Sysroot::Impl::refuses(std::string_view path) const {
    for (const std::string& prefix : refused) {
        if (path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/'))
            return true;
    }
    return false;
}

Descriptor Sysroot::Impl::open(std::string_view path, int flags, int& error) const {
    if (refuses(path)) {
        error = ETIMEDOUT;
        return Descriptor();
    }
    if (!live()) return folders.open(root.get(), path, flags, confinement, error);
    return open_confined(root.get(), path, flags, confinement, error);
}

const Sysroot::Impl::Entry* Sysroot::Impl::entry_at(std::string_view path) const {
    if (machine.nodes.empty()) return nullptr;
    if (const auto found = machine.nodes.find(path); found != machine.nodes.end()) return &*found;
    if (!node_names.contains(base_of(path))) return nullptr;  // saves the walk of nearly every read
    const auto found = machine.nodes.find(real_form(path));
    return found != machine.nodes.end() ? &*found : nullptr;
}

// The entry that a link leads to whose target is in nodes.json only; asked when nothing on disk answers.
const Sysroot::Impl::Entry* Sysroot::Impl::entry_behind(std::string_view path) const {
    constexpr int kMaxLinks = 40;  // what the kernel allows
    std::string current(path), target;
    for (int links = 0; links < kMaxLinks && !machine.nodes.empty(); ++links) {
        if (const Entry* entry = entry_at(current)) return entry;
        if (refuses(current)) return nullptr;  // to see whether it is a link, it would be opened
        const std::string real = real_form(current);
        int error = 0;
        const Descriptor parent = open(parent_of(real), O_PATH | O_DIRECTORY, error);
        if (!parent.valid() || read_any_link(parent.get(), std::string(base_of(real)), !live(), target) != 0)
            return nullptr;
        if (target.empty() || target.front() == '/') return nullptr;
        current = parent_of(real) + "/" + target;
    }
    return nullptr;
}

// Why read(2) of this entry gives nothing; nullopt when its content may be on disk.
std::optional<Missing> Sysroot::Impl::refusal(const RecordedNode& node, const std::string& source) const {
    const std::string outcome =
        node.open.empty() ? open_by_mode(node.stat, machine.process, false) : node.open;
    const bool special = node.stat.type != "file" && node.stat.type != "dir";
    if (outcome != "ok" && !(special && outcome == kNotCaptured)) return Missing{source, outcome};
    if (node.stat.type == "dir") return Missing{source, "EISDIR"};
    if (special) return Missing{source, "not a regular file"};
    if (!node.read.empty() && node.read != "ok") return Missing{source, node.read};
    return std::nullopt;
}

// `path` with the links among its existing folders resolved; its last component stays as it is.
std::string Sysroot::Impl::real_form(std::string_view path) const {
    std::string above = parent_of(path), tail(base_of(path));
    for (;;) {
        int error = 0;
        std::string real;
        if (resolve_confined(root.get(), above, O_DIRECTORY, confinement, error, real).valid()) {
            return (real == "/" ? "" : real) + "/" + tail;
        }
        if (above == "/") return std::string(path);
        tail = std::string(base_of(above)) + "/" + tail;
        above = parent_of(above);
    }
}

// `path` with all links resolved, as far as it exists.
std::string Sysroot::Impl::resolved(std::string_view path) const {
    int error = 0;
    std::string real;
    if (resolve_confined(root.get(), path, 0, confinement, error, real).valid()) return real;
    return real_form(path);
}

// A pattern may name a file by the way it was asked for or by its real path.
bool Sysroot::Impl::covered(std::string_view path, bool as_folder) const {
    if (!machine.captured || machine.captured->covers(path, as_folder)) return true;
    const std::string real = real_form(path);
    return real != path && machine.captured->covers(real, as_folder);
}

// A recorded machine that lists what was captured cannot say ENOENT about the rest.
Missing Sysroot::Impl::why_missing(std::string_view path, int error, bool as_folder) const {
    if (error == ENOENT || error == ENOTDIR) {
        const std::string real = machine.nodes.empty() ? std::string() : real_form(path);
        for (std::size_t end = real.rfind('/'); end != 0 && end != std::string::npos;
             end = real.rfind('/', end - 1)) {
            const auto above = machine.nodes.find(std::string_view(real).substr(0, end));
            if (above == machine.nodes.end() || above->second.stat.type != "dir") continue;
            const std::string& open = above->second.open;  // of a folder that may not be searched
            if (!open.empty() && open != "ok") return {std::string(path), open};
        }
        if (!covered(path, as_folder)) return {std::string(path), std::string(kNotCaptured)};
    }
    if (error == ETIMEDOUT && refuses(path)) return {std::string(path), "did not return"};
    if (error == ENOTDIR) error = ENOENT;  // a component is a file: the thing asked for is not there
    return {std::string(path), errno_name(error)};
}

}  // namespace gpucheck::host
