// Reads a machine's files through one root descriptor; see sysroot.h. What a recorded machine cannot hold as
// files comes from its nodes.json and process.json and wins over what lies on disk.
#include "agent/host/sysroot.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "agent/host/sysroot_impl.h"

namespace gpucheck::host {

namespace {

std::string type_of(mode_t mode) {
    if (S_ISCHR(mode)) return "char";
    if (S_ISBLK(mode)) return "block";
    if (S_ISREG(mode)) return "file";
    if (S_ISDIR(mode)) return "dir";
    if (S_ISFIFO(mode)) return "fifo";
    if (S_ISSOCK(mode)) return "socket";
    return "other";
}

// Does this recorded root hold real links? Every machine has some of these; a checkout without link support
// has them as files.
Confinement confinement_of(int root) {
    for (const char* place :
         {"lib", "etc/os-release", "sys/class/dmi/id", "sys/class/kfd/kfd", "etc/mtab", "bin", "var/run"}) {
        struct stat status {};
        if (::fstatat(root, place, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode)) {
            return Confinement::beneath;
        }
    }
    return Confinement::beneath_with_text_links;
}

}  // namespace

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

namespace {
// On MI200 amdgpu's RAS error counts are zero again after each reading (amdgpu_ras.c,
// amdgpu_ras_reset_error_status): whoever asks a second time, a capture say, gets what was read first.
bool reading_resets(std::string_view path) {
    return path.ends_with("_err_count") && path.find("/ras/") != std::string_view::npos;
}
}  // namespace

std::variant<Sysroot, std::string> Sysroot::recorded(const std::string& folder) {
    const std::string path = folder + "/sysroot";
    auto impl = std::make_unique<Impl>();
    impl->root = Descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!impl->root.valid()) {
        return path + ": " + errno_name(errno) + " (a recorded machine is a folder that holds sysroot/)";
    }
    impl->confinement = confinement_of(impl->root.get());
    impl->folder = folder;
    std::string error;
    std::optional<RecordedMachine> machine = read_recorded(folder, error);
    if (!machine) return error;
    impl->machine = std::move(*machine);
    for (const auto& [node_path, node] : impl->machine.nodes) impl->node_names.emplace(base_of(node_path));
    return Sysroot(std::move(impl));
}

bool Sysroot::is_live() const {
    return impl_->live();
}
const std::string& Sysroot::folder() const {
    return impl_->folder;
}
const RecordedProcess& Sysroot::process() const {
    return impl_->machine.process;
}
void Sysroot::on_access(std::function<void(const Access&)> observer) {
    impl_->observer = std::move(observer);
}
void Sysroot::refuse(std::vector<std::string> prefixes) {
    impl_->refused = std::move(prefixes);
}
void Sysroot::report_access(AccessKind kind, std::string_view path) const {
    impl_->note(kind, path);
}

Fact<std::string> Sysroot::read(std::string_view path, std::size_t limit) const {
    const bool once = reading_resets(path);
    if (once) {
        if (const auto earlier = impl_->read_once.find(path); earlier != impl_->read_once.end()) {
            impl_->note(AccessKind::read, path);
            return earlier->second;
        }
    }
    Fact<std::string> content = read_prefix(path, std::max(limit, limit + 1));
    if (once) impl_->read_once.emplace(path, content);
    if (content.known() && content->size() > limit) {
        return Missing{content.source(), "larger than " + std::to_string(limit) + " bytes"};
    }
    return content;
}

Fact<std::string> Sysroot::read_prefix(std::string_view path, std::size_t size) const {
    impl_->note(AccessKind::read, path);
    const std::string source(path);
    if (const Impl::Entry* entry = impl_->entry_at(path)) {
        if (auto refused = impl_->refusal(entry->second, source)) return *refused;
    }
    int error = 0;
    // O_NONBLOCK: a FIFO or a modem line must not hold us at open(2).
    const Descriptor file = impl_->open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, error);
    if (!file.valid()) {
        const Impl::Entry* entry = impl_->entry_behind(path);
        if (entry == nullptr) return impl_->why_missing(path, error);
        return impl_->refusal(entry->second, source).value_or(Missing{source, std::string(kNotCaptured)});
    }
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
    const std::string real = impl_->machine.nodes.empty() ? source : impl_->resolved(path);
    if (const auto node = impl_->machine.nodes.find(real); node != impl_->machine.nodes.end()) {
        for (const std::string& outcome : {node->second.open, node->second.read}) {
            if (node->second.stat.type == "dir" && !outcome.empty() && outcome != "ok")
                return Missing{source, outcome};
        }
        found = found || node->second.stat.type == "dir";
    }
    if (found && !impl_->covered(path, true)) return Missing{source, std::string(kNotCaptured)};
    if (folder.valid()) {
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
    const std::string prefix = real == "/" ? "/" : real + "/";
    const auto& nodes = impl_->machine.nodes;
    for (auto node = nodes.lower_bound(prefix); node != nodes.end() && node->first.starts_with(prefix);
         ++node) {
        found = true;
        std::string name = node->first.substr(prefix.size());
        name.resize(std::min(name.size(), name.find('/')));
        if (!name.empty()) names.push_back(std::move(name));
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
    if (error == ENOENT && impl_->entry_at(path) != nullptr) error = EINVAL;  // it exists, and it is no link
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
    if (impl_->refuses(path)) return Missing{std::string(path), "did not return"};
    int error = 0;
    std::string resolved;
    const Descriptor found =
        resolve_confined(impl_->root.get(), path, 0, impl_->confinement, error, resolved);
    if (found.valid()) return Fact<std::string>(std::move(resolved), std::string(path));
    if (const Impl::Entry* entry = impl_->entry_behind(path))
        return Fact<std::string>(entry->first, std::string(path));
    return impl_->why_missing(path, error);
}

Fact<bool> Sysroot::exists(std::string_view path) const {
    impl_->note(AccessKind::stat, path);
    if (impl_->entry_at(path) != nullptr) return Fact<bool>(true, std::string(path));
    int error = 0;
    const Descriptor found = impl_->open(path, O_PATH, error);
    if (found.valid() || impl_->entry_behind(path) != nullptr) return Fact<bool>(true, std::string(path));
    const Missing missing = impl_->why_missing(path, error);
    if (missing.why == "ENOENT") return Fact<bool>(false, std::string(path));
    return missing;
}

Fact<NodeStat> Sysroot::stat(std::string_view path) const {
    impl_->note(AccessKind::stat, path);
    const std::string source(path);
    if (const Impl::Entry* entry = impl_->entry_at(path)) return Fact<NodeStat>(entry->second.stat, source);
    int error = 0;
    const Descriptor found = impl_->open(path, O_PATH, error);
    if (!found.valid()) {
        if (const Impl::Entry* entry = impl_->entry_behind(path))
            return Fact<NodeStat>(entry->second.stat, source);
        return impl_->why_missing(path, error);
    }
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
    const Impl::Entry* entry = found.valid() ? impl_->entry_at(path) : impl_->entry_behind(path);
    if (entry != nullptr) {
        if (entry->second.stat.type != "file") return Missing{std::string(path), "not a regular file"};
        if (entry->second.size) return Fact<std::uint64_t>(*entry->second.size, std::string(path));
        if (!found.valid()) return Missing{std::string(path), std::string(kNotCaptured)};
    }
    if (!found.valid()) return impl_->why_missing(path, error);
    struct stat status {};
    if (::fstat(found.get(), &status) != 0) return Missing{std::string(path), errno_name(errno)};
    if (!S_ISREG(status.st_mode)) return Missing{std::string(path), "not a regular file"};
    return Fact<std::uint64_t>(static_cast<std::uint64_t>(status.st_size), std::string(path));
}

Fact<std::string> Sysroot::try_open(std::string_view path) const {
    impl_->note(AccessKind::open, path);
    const std::string source(path);
    int error = 0;
    const Descriptor found = impl_->open(path, O_PATH, error);
    const Impl::Entry* entry = found.valid() ? impl_->entry_at(path) : impl_->entry_behind(path);
    if (entry != nullptr) {
        const RecordedNode& node = entry->second;
        const bool device = node.stat.type == "char" || node.stat.type == "block";
        if (node.open == kNotCaptured) return Missing{source, node.open};
        return Fact<std::string>(
            node.open.empty() ? open_by_mode(node.stat, impl_->machine.process, device) : node.open, source);
    }
    if (!found.valid()) {
        Missing missing = impl_->why_missing(path, error);
        if (missing.why == kNotCaptured || missing.why == "did not return") return missing;
        return Fact<std::string>(std::move(missing.why), source);
    }
    struct stat status {};
    if (::fstat(found.get(), &status) != 0) return Fact<std::string>(errno_name(errno), source);
    const bool device = S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
    const Descriptor opened = impl_->open(path, (device ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY, error);
    return Fact<std::string>(opened.valid() ? "ok" : errno_name(error), source);
}

Fact<RecordedProcess::Space> Sysroot::filesystem(std::string_view path) const {
    impl_->note(AccessKind::stat, path);
    const std::string source = "statvfs " + std::string(path);
    if (!impl_->live()) {
        const auto& known = impl_->machine.process.filesystems;
        const auto found = known.find(std::string(path));
        if (found == known.end())
            return Missing{source, exists(path).is(false) ? "ENOENT" : std::string(kNotCaptured)};
        return Fact<RecordedProcess::Space>(found->second, source);
    }
    struct statvfs status {};
    if (::statvfs(std::string(path).c_str(), &status) != 0) return Missing{source, errno_name(errno)};
    const std::uint64_t block = status.f_frsize;
    return Fact<RecordedProcess::Space>({status.f_blocks * block, status.f_bavail * block}, source);
}

}  // namespace gpucheck::host
