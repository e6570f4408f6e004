// Reads a machine's files through one root descriptor; see sysroot.h. What a recorded machine cannot hold as files
// comes from its nodes.json and process.json and wins over what lies on disk.
#include "agent/host/sysroot.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <optional>
#include <set>
#include <utility>

#include "agent/host/confined.h"
#include "agent/host/recorded.h"

extern char** environ;

namespace gpucheck::host {

struct Sysroot::Impl {
    Descriptor root;
    Confinement confinement = Confinement::live;
    std::string folder;
    RecordedMachine machine;
    std::set<std::string, std::less<>> node_names;  ///< last components in machine.nodes: most paths match none
    std::function<void(const Access&)> observer;

    bool live() const { return confinement == Confinement::live; }
    void note(AccessKind kind, std::string_view path) const {
        if (observer) observer({kind, std::string(path)});
    }
    Descriptor open(std::string_view path, int flags, int& error) const {
        return open_confined(root.get(), path, flags, confinement, error);
    }
    const RecordedNode* node_at(std::string_view path) const;
    std::string real_form(std::string_view path) const;
    bool covered(std::string_view path, bool as_folder) const;
    Missing why_missing(std::string_view path, int error, bool as_folder = false) const;
};

namespace {

std::string parent_of(std::string_view path) {
    const std::size_t slash = path.find_last_not_of('/') == std::string_view::npos ? 0 : path.rfind('/');
    return slash == 0 || slash == std::string_view::npos ? "/" : std::string(path.substr(0, slash));
}

std::string_view base_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string type_of(mode_t mode) {
    if (S_ISCHR(mode)) return "char";
    if (S_ISBLK(mode)) return "block";
    if (S_ISREG(mode)) return "file";
    if (S_ISDIR(mode)) return "dir";
    if (S_ISFIFO(mode)) return "fifo";
    if (S_ISSOCK(mode)) return "socket";
    return "other";
}

// What open(2) would answer by mode and ids alone (path_resolution(7)): root passes, else the first class that fits.
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

RecordedProcess this_process() {
    RecordedProcess process;
    process.uid = Fact<unsigned>(::geteuid(), "geteuid(2)");
    std::vector<unsigned> gids{::getegid()};
    const int count = ::getgroups(0, nullptr);
    if (count > 0) {
        std::vector<gid_t> more(static_cast<std::size_t>(count));
        const int got = ::getgroups(count, more.data());
        for (int i = 0; i < got; ++i) gids.push_back(more[static_cast<std::size_t>(i)]);
    }
    std::sort(gids.begin(), gids.end());
    gids.erase(std::unique(gids.begin(), gids.end()), gids.end());
    process.gids = Fact<std::vector<unsigned>>(std::move(gids), "getgroups(2)");
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::size_t equals = text.find('=');
        if (equals != std::string_view::npos) process.env.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    char buffer[32];
    if (::gmtime_r(&now, &utc) != nullptr && std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0) {
        process.now = Fact<std::string>(buffer, "clock_gettime(2)");
    }
    struct timex clock {};
    const int state = ::adjtimex(&clock);
    process.clock_synchronized =
        state >= 0 ? Fact<bool>(state != TIME_ERROR && (clock.status & STA_UNSYNC) == 0, "adjtimex(2)")
                   : Fact<bool>(Missing{"adjtimex(2)", errno_name(errno)});
    return process;
}

}  // namespace

const RecordedNode* Sysroot::Impl::node_at(std::string_view path) const {
    if (machine.nodes.empty()) return nullptr;
    if (const auto found = machine.nodes.find(path); found != machine.nodes.end()) return &found->second;
    if (!node_names.contains(base_of(path))) return nullptr;  // saves the walk of nearly every read
    const auto found = machine.nodes.find(real_form(path));
    return found != machine.nodes.end() ? &found->second : nullptr;
}

// `path` with the links among its existing folders resolved; its last component stays as it is.
std::string Sysroot::Impl::real_form(std::string_view path) const {
    std::string above = parent_of(path), tail(base_of(path));
    for (;;) {
        int error = 0;
        std::string real;
        if (walk_confined(root.get(), above, O_PATH | O_DIRECTORY, confinement, error, &real).valid()) {
            return (real == "/" ? "" : real) + "/" + tail;
        }
        if (above == "/") return std::string(path);
        tail = std::string(base_of(above)) + "/" + tail;
        above = parent_of(above);
    }
}

// A pattern may name a file by the way it was asked for or by its real path.
bool Sysroot::Impl::covered(std::string_view path, bool as_folder) const {
    if (!machine.captured || is_captured(*machine.captured, path, as_folder)) return true;
    const std::string real = real_form(path);
    return real != path && is_captured(*machine.captured, real, as_folder);
}

// A recorded machine that lists what was captured cannot say ENOENT about the rest.
Missing Sysroot::Impl::why_missing(std::string_view path, int error, bool as_folder) const {
    if ((error == ENOENT || error == ENOTDIR) && !covered(path, as_folder)) return {std::string(path), "not captured"};
    if (error == ENOTDIR) error = ENOENT;  // a component is a file: the thing asked for is not there
    return {std::string(path), errno_name(error)};
}

Sysroot::Sysroot(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Sysroot::Sysroot(Sysroot&&) noexcept = default;
Sysroot& Sysroot::operator=(Sysroot&&) noexcept = default;
Sysroot::~Sysroot() = default;

Sysroot Sysroot::live() {
    auto impl = std::make_unique<Impl>();
    impl->root = Descriptor(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    impl->machine.process = this_process();
    return Sysroot(std::move(impl));
}

std::variant<Sysroot, std::string> Sysroot::recorded(const std::string& folder) {
    const std::string path = folder + "/sysroot";
    auto impl = std::make_unique<Impl>();
    impl->root = Descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!impl->root.valid()) {
        return path + ": " + errno_name(errno) + " (a recorded machine is a folder that holds sysroot/)";
    }
    impl->confinement = Confinement::beneath;
    impl->folder = folder;
    std::string error;
    std::optional<RecordedMachine> machine = read_recorded(folder, error);
    if (!machine) return error;
    impl->machine = std::move(*machine);
    for (const auto& [node_path, node] : impl->machine.nodes) impl->node_names.emplace(base_of(node_path));
    return Sysroot(std::move(impl));
}

bool Sysroot::is_live() const { return impl_->live(); }
const std::string& Sysroot::folder() const { return impl_->folder; }
const RecordedProcess& Sysroot::process() const { return impl_->machine.process; }
void Sysroot::on_access(std::function<void(const Access&)> observer) { impl_->observer = std::move(observer); }
void Sysroot::report_access(AccessKind kind, std::string_view path) const { impl_->note(kind, path); }

Fact<std::string> Sysroot::read(std::string_view path, std::size_t limit) const {
    Fact<std::string> content = read_prefix(path, std::max(limit, limit + 1));
    if (content.known() && content->size() > limit) {
        return Missing{content.source(), "larger than " + std::to_string(limit) + " bytes"};
    }
    return content;
}

Fact<std::string> Sysroot::read_prefix(std::string_view path, std::size_t size) const {
    impl_->note(AccessKind::read, path);
    const std::string source(path);
    if (const RecordedNode* node = impl_->node_at(path)) {
        const std::string open =
            node->open.empty() ? open_by_mode(node->stat, impl_->machine.process, false) : node->open;
        if (open != "ok") return Missing{source, open};
        if (node->stat.type != "file") return Missing{source, "not a regular file"};
        if (!node->read.empty() && node->read != "ok") return Missing{source, node->read};
    }
    int error = 0;
    // O_NONBLOCK: a FIFO or a modem line must not hold us at open(2).
    const Descriptor file = impl_->open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, error);
    if (!file.valid()) return impl_->why_missing(path, error);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return Missing{source, errno_name(errno)};
    if (S_ISDIR(status.st_mode)) return Missing{source, "EISDIR"};
    if (!S_ISREG(status.st_mode)) return Missing{source, "not a regular file"};

    std::string content;
    char buffer[4096];
    while (content.size() < size) {
        const ssize_t got = ::read(file.get(), buffer, std::min(sizeof buffer, size - content.size()));
        if (got == 0) break;
        if (got < 0) {
            if (errno == EINTR) continue;
            return Missing{source, errno_name(errno)};
        }
        content.append(buffer, static_cast<std::size_t>(got));
    }
    return Fact<std::string>(std::move(content), source);
}

Fact<std::vector<std::string>> Sysroot::list(std::string_view path) const {
    impl_->note(AccessKind::list, path);
    constexpr std::size_t kMaxEntries = 65536;
    const std::string source(path);
    std::vector<std::string> names;
    int error = 0;
    Descriptor folder = impl_->open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK, error);
    bool found = folder.valid();
    if (found) {
        if (!impl_->covered(path, true)) return Missing{source, "not captured"};
        DIR* stream = ::fdopendir(folder.get());
        if (stream == nullptr) return Missing{source, errno_name(errno)};
        folder.release();
        errno = 0;
        while (const dirent* entry = ::readdir(stream)) {
            const std::string_view name = entry->d_name;
            if (name == "." || name == "..") continue;
            names.emplace_back(name);
            if (names.size() > kMaxEntries) break;
        }
        const int read_error = errno;
        ::closedir(stream);
        if (names.size() > kMaxEntries) return Missing{source, "more than 65536 entries"};
        if (read_error != 0) return Missing{source, errno_name(read_error)};
    }
    const std::string prefix = source == "/" ? "/" : source + "/";
    for (const auto& [node_path, node] : impl_->machine.nodes) {
        if (!node_path.starts_with(prefix)) continue;
        found = true;
        std::string name = node_path.substr(prefix.size());
        name.resize(std::min(name.size(), name.find('/')));
        names.push_back(std::move(name));
    }
    if (!found) return impl_->why_missing(path, error, true);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return Fact<std::vector<std::string>>(std::move(names), source);
}

Fact<std::string> Sysroot::link_target(std::string_view path) const {
    impl_->note(AccessKind::link, path);
    const std::string source(path);
    int error = 0;
    const Descriptor parent = impl_->open(parent_of(path), O_PATH | O_DIRECTORY, error);
    if (!parent.valid()) return impl_->why_missing(path, error);
    std::string target;
    error = read_any_link(parent.get(), std::string(base_of(path)), !impl_->live(), target);
    if (error != 0) return impl_->why_missing(path, error);
    return Fact<std::string>(std::move(target), source);
}

Fact<std::string> Sysroot::link_name(std::string_view path) const {
    const Fact<std::string> target = link_target(path);
    if (!target.known()) return target;
    std::string name(base_of(target.value()));
    if (name.empty() || !is_text(name)) return Missing{target.source(), "malformed: not text"};
    return Fact<std::string>(std::move(name), target.source());
}

Fact<std::string> Sysroot::real_path(std::string_view path) const {
    impl_->note(AccessKind::stat, path);
    int error = 0;
    std::string resolved;
    const Descriptor found = walk_confined(impl_->root.get(), path, O_PATH, impl_->confinement, error, &resolved);
    if (!found.valid()) return impl_->why_missing(path, error);
    return Fact<std::string>(std::move(resolved), std::string(path));
}

Fact<bool> Sysroot::exists(std::string_view path) const {
    impl_->note(AccessKind::stat, path);
    if (impl_->node_at(path) != nullptr) return Fact<bool>(true, std::string(path));
    int error = 0;
    const Descriptor found = impl_->open(path, O_PATH, error);
    if (found.valid()) return Fact<bool>(true, std::string(path));
    const Missing missing = impl_->why_missing(path, error);
    if (missing.why == "ENOENT") return Fact<bool>(false, std::string(path));
    return missing;
}

Fact<NodeStat> Sysroot::stat(std::string_view path) const {
    impl_->note(AccessKind::stat, path);
    const std::string source(path);
    if (const RecordedNode* node = impl_->node_at(path)) return Fact<NodeStat>(node->stat, source);
    int error = 0;
    const Descriptor found = impl_->open(path, O_PATH, error);
    if (!found.valid()) return impl_->why_missing(path, error);
    struct stat status {};
    if (::fstat(found.get(), &status) != 0) return Missing{source, errno_name(errno)};
    NodeStat result;
    result.type = type_of(status.st_mode);
    if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) {
        result.major = ::gnu_dev_major(status.st_rdev);
        result.minor = ::gnu_dev_minor(status.st_rdev);
    }
    result.mode = status.st_mode & 07777;
    result.uid = status.st_uid;
    result.gid = status.st_gid;
    return Fact<NodeStat>(std::move(result), source);
}

Fact<std::uint64_t> Sysroot::file_size(std::string_view path) const {
    impl_->note(AccessKind::stat, path);
    int error = 0;
    const Descriptor found = impl_->open(path, O_PATH, error);
    if (!found.valid()) return impl_->why_missing(path, error);
    struct stat status {};
    if (::fstat(found.get(), &status) != 0) return Missing{std::string(path), errno_name(errno)};
    if (!S_ISREG(status.st_mode)) return Missing{std::string(path), "not a regular file"};
    return Fact<std::uint64_t>(static_cast<std::uint64_t>(status.st_size), std::string(path));
}

Fact<std::string> Sysroot::try_open(std::string_view path) const {
    impl_->note(AccessKind::open, path);
    const std::string source(path);
    if (const RecordedNode* node = impl_->node_at(path)) {
        const bool device = node->stat.type == "char" || node->stat.type == "block";
        const std::string& open = node->open;
        return Fact<std::string>(open.empty() ? open_by_mode(node->stat, impl_->machine.process, device) : open, source);
    }
    int error = 0;
    const Descriptor found = impl_->open(path, O_PATH, error);
    if (!found.valid()) {
        Missing missing = impl_->why_missing(path, error);
        if (missing.why == "not captured") return missing;
        return Fact<std::string>(std::move(missing.why), source);
    }
    struct stat status {};
    if (::fstat(found.get(), &status) != 0) return Fact<std::string>(errno_name(errno), source);
    const bool device = S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
    const Descriptor opened =
        impl_->open(path, (device ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY, error);
    return Fact<std::string>(opened.valid() ? "ok" : errno_name(error), source);
}

Fact<RecordedProcess::Space> Sysroot::filesystem(std::string_view path) const {
    impl_->note(AccessKind::stat, path);
    const std::string source = "statvfs " + std::string(path);
    if (!impl_->live()) {
        const auto& known = impl_->machine.process.filesystems;
        const auto found = known.find(std::string(path));
        if (found == known.end()) return Missing{source, exists(path).is(false) ? "ENOENT" : "not captured"};
        return Fact<RecordedProcess::Space>(found->second, source);
    }
    struct statvfs status {};
    if (::statvfs(std::string(path).c_str(), &status) != 0) return Missing{source, errno_name(errno)};
    const std::uint64_t block = status.f_frsize;
    return Fact<RecordedProcess::Space>({status.f_blocks * block, status.f_bavail * block}, source);
}

}  // namespace gpucheck::host
