// Two ways to open a path that cannot leave its root: openat2(2), and a walk for kernels before 5.6 and for
// container runtimes whose seccomp filter refuses openat2.
#include "agent/host/confined.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <vector>

namespace gpucheck::host {
namespace {

constexpr int kMaxLinks = 40;  // what the kernel allows (MAXSYMLINKS)

std::vector<std::string> components_of(std::string_view path) {
    std::vector<std::string> parts;
    while (!path.empty()) {
        const std::size_t slash = path.find('/');
        const std::string_view part = path.substr(0, slash);
        if (!part.empty() && part != ".") parts.emplace_back(part);
        if (slash == std::string_view::npos) break;
        path.remove_prefix(slash + 1);
    }
    return parts;
}

int read_link_at(int dir, const char* name, std::string& target) {
    std::array<char, PATH_MAX> buffer;
    const ssize_t length = ::readlinkat(dir, name, buffer.data(), buffer.size());
    if (length < 0) return errno;
    if (static_cast<std::size_t>(length) == buffer.size()) return ENAMETOOLONG;
    target.assign(buffer.data(), static_cast<std::size_t>(length));
    return 0;
}

// A link that a checkout without link support (git's core.symlinks=false, some archives) laid down as a small
// file which holds the target and no newline. Read only below recorded roots.
bool read_text_link(int dir, const char* name, std::string& target) {
    const Descriptor file(::openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.valid()) return false;
    std::array<char, PATH_MAX> buffer;
    const ssize_t length = ::read(file.get(), buffer.data(), buffer.size());
    if (length <= 0 || static_cast<std::size_t>(length) == buffer.size()) return false;
    target.assign(buffer.data(), static_cast<std::size_t>(length));
    if (target.front() == '/') return false;
    for (const char c : target) {
        if (static_cast<unsigned char>(c) < 0x20) return false;
    }
    return true;
}

bool has_text_links(Confinement confinement) {
    return confinement == Confinement::beneath_with_text_links;
}

bool maybe_text_link(const struct stat& status) {
    return S_ISREG(status.st_mode) && status.st_size > 0 && status.st_size < PATH_MAX;
}

// Could this open file of a recorded root be a link laid down as text? Only the walk can tell for sure. What
// a kernel prints holds a newline or zero bytes; O_PATH descriptors cannot be read.
bool may_be_text_link(int fd, int flags) {
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !maybe_text_link(status)) return false;
    if ((flags & O_PATH) != 0) return true;
    std::array<char, PATH_MAX> buffer;
    const ssize_t length = ::pread(fd, buffer.data(), buffer.size(), 0);
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
    return length <= 0 || std::none_of(buffer.data(), buffer.data() + length, is_control);
}

// "../x" can be nothing else; a bare name such as "rocm-6.3.2" is a link when that neighbour exists.
bool is_text_link(int dir, const std::string& target) {
    if (target.starts_with("../")) return true;
    struct stat status {};
    return ::fstatat(dir, target.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    if (this != &other) {
        if (fd_ >= 0) ::close(fd_);
        fd_ = other.release();
    }
    return *this;
}

Descriptor::~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
}

int Descriptor::release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
}

int read_any_link(int dir, const std::string& name, bool text_links, std::string& target) {
    const int code = read_link_at(dir, name.c_str(), target);
    if (code == EINVAL && text_links && read_text_link(dir, name.c_str(), target) &&
        is_text_link(dir, target))
        return 0;
    return code;
}

Descriptor walk_confined(int root_fd, std::string_view path, int flags, Confinement confinement, int& error,
                         std::string* resolved) {
    error = 0;
    std::vector<std::string> pending = components_of(path);  // still to visit, last element first
    for (std::size_t i = 0, n = pending.size(); i < n / 2; ++i) std::swap(pending[i], pending[n - 1 - i]);
    std::vector<Descriptor> stack;  // open folders from the root down
    std::vector<std::string> names;
    const auto here = [&] { return stack.empty() ? root_fd : stack.back().get(); };
    const auto fail = [&](int code) {
        error = code;
        return Descriptor();
    };
    int links = 0;
    while (!pending.empty()) {
        const std::string name = std::move(pending.back());
        pending.pop_back();
        if (name == "..") {
            if (names.empty()) {
                if (confinement != Confinement::live) return fail(EXDEV);
                continue;
            }
            names.pop_back();
            stack.pop_back();
            continue;
        }
        struct stat status {};
        if (::fstatat(here(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return fail(errno);
        const bool last = pending.empty();
        const bool follow = !(last && (flags & O_NOFOLLOW) != 0);
        std::string target;
        const bool text_link = follow && has_text_links(confinement) && maybe_text_link(status) &&
                               read_text_link(here(), name.c_str(), target) &&
                               (!last || is_text_link(here(), target));
        if (follow && (S_ISLNK(status.st_mode) || text_link)) {
            if (++links > kMaxLinks) return fail(ELOOP);
            if (!text_link) {
                if (const int code = read_link_at(here(), name.c_str(), target)) return fail(code);
            }
            if (target.empty()) return fail(ENOENT);
            if (target.front() == '/') {
                if (confinement != Confinement::live) return fail(EXDEV);
                stack.clear();
                names.clear();
            }
            std::vector<std::string> parts = components_of(target);
            pending.insert(pending.end(), std::make_move_iterator(parts.rbegin()),
                           std::make_move_iterator(parts.rend()));
            continue;
        }
        names.push_back(name);
        if (last) {
            Descriptor leaf(::openat(here(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
            if (!leaf.valid()) return fail(errno);
            stack.push_back(std::move(leaf));
        } else {
            Descriptor folder(::openat(here(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
            if (!folder.valid()) return fail(errno);
            stack.push_back(std::move(folder));
        }
    }
    if (resolved != nullptr) {
        resolved->clear();
        for (const std::string& name : names) *resolved += "/" + name;
        if (resolved->empty()) *resolved = "/";
    }
    if (!stack.empty() && !names.empty()) {
        // A path that ended in ".." left a folder opened with O_PATH on top: open it again as asked.
        struct stat status {};
        if (::fstat(stack.back().get(), &status) == 0 && S_ISDIR(status.st_mode) && (flags & O_PATH) == 0) {
            Descriptor again(::openat(stack.back().get(), ".", flags | O_CLOEXEC));
            if (!again.valid()) return fail(errno);
            return again;
        }
        return std::move(stack.back());
    }
    Descriptor root(::openat(root_fd, ".", flags | O_CLOEXEC));
    if (!root.valid()) return fail(errno);
    return root;
}

Descriptor open_confined(int root_fd, std::string_view path, int flags, Confinement confinement, int& error) {
    static bool openat2_works = true;  // a property of the kernel and its filter: learned once
    if (openat2_works) {
        std::string relative(path);
        const std::size_t start = relative.find_first_not_of('/');
        relative.erase(0, start == std::string::npos ? relative.size() : start);
        if (relative.empty()) relative = ".";
        struct open_how how {};
        how.flags = static_cast<__u64>(static_cast<unsigned>(flags | O_CLOEXEC));
        how.resolve = confinement == Confinement::live ? RESOLVE_IN_ROOT : RESOLVE_BENEATH;
        if (confinement != Confinement::live) how.resolve |= RESOLVE_NO_MAGICLINKS;
        const long fd = ::syscall(SYS_openat2, root_fd, relative.c_str(), &how, sizeof how);
        if (fd >= 0) {
            error = 0;
            Descriptor found(static_cast<int>(fd));
            if (!has_text_links(confinement) || !may_be_text_link(found.get(), flags)) return found;
        } else if (!has_text_links(confinement) || errno != ENOTDIR) {
            // EPERM can be the answer of the file or of a seccomp filter that does not know openat2: only the
            // walk can tell.
            if (errno != ENOSYS && errno != EPERM && errno != EAGAIN) {
                error = errno;
                return Descriptor();
            }
            if (errno == ENOSYS) openat2_works = false;
        }
    }
    return walk_confined(root_fd, path, flags, confinement, error, nullptr);
}

Descriptor resolve_confined(int root_fd, std::string_view path, int flags, Confinement confinement,
                            int& error, std::string& resolved) {
    if (!has_text_links(confinement)) {
        // The kernel knows the path of what it opened; asking for it spares a walk of every component.
        Descriptor found = open_confined(root_fd, path, flags | O_PATH, confinement, error);
        std::string root, place;
        const auto path_of = [](int fd, std::string& text) {
            return read_link_at(AT_FDCWD, ("/proc/self/fd/" + std::to_string(fd)).c_str(), text) == 0;
        };
        if (!found.valid() && error != EPERM) return found;
        if (found.valid() && path_of(root_fd, root) && path_of(found.get(), place)) {
            if (root == "/") root.clear();
            if (place == root) {
                resolved = "/";
                return found;
            }
            if (place.starts_with(root) && place.size() > root.size() && place[root.size()] == '/') {
                resolved = place.substr(root.size());
                return found;
            }
        }
    }
    return walk_confined(root_fd, path, flags | O_PATH, confinement, error, &resolved);
}

RecordedFolders::Entry& RecordedFolders::entry(std::string_view folder) {
    for (Entry& known : entries_) {
        if (known.path == folder) {
            ++known.uses;
            return known;
        }
    }
    Entry& oldest = entries_[next_++ % entries_.size()];
    oldest = Entry{std::string(folder), Descriptor(), 0};
    return oldest;
}

Descriptor RecordedFolders::open(int root_fd, std::string_view path, int flags, Confinement confinement,
                                 int& error) {
    const auto search = [&] { return open_confined(root_fd, path, flags, confinement, error); };
    const bool as_folder = flags == (O_PATH | O_DIRECTORY);
    const std::size_t slash = path.rfind('/');
    const std::string name(as_folder ? "." : path.substr(slash == std::string_view::npos ? 0 : slash + 1));
    const std::string_view folder =
        as_folder ? path : path.substr(0, slash == std::string_view::npos ? 0 : slash);
    if (folder.empty() || name.empty() || name == ".." || (name == "." && !as_folder)) return search();
    Entry& here = entry(folder);
    if (here.uses == 0) return search();  // the first path below this folder: perhaps the only one
    if (!here.open.valid()) {
        here.open = open_confined(root_fd, folder, O_PATH | O_DIRECTORY, confinement, error);
        if (!here.open.valid()) return search();
    }
    Descriptor found(::openat(here.open.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
    error = found.valid() ? 0 : errno;
    if (error == ELOOP || error == ENOTDIR) return search();  // a link of either kind
    if (!found.valid() || (flags & O_NOFOLLOW) != 0) return found;
    if ((flags & O_PATH) != 0) {  // without it, open(2) has refused a link
        struct stat status {};
        if (::fstat(found.get(), &status) == 0 && S_ISLNK(status.st_mode)) return search();
    }
    return has_text_links(confinement) && may_be_text_link(found.get(), flags) ? search() : std::move(found);
}

}  // namespace gpucheck::host
