// Atomic replacement of a file; see output_file.h.
#include "agent/report/output_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

namespace gpucheck::report {
namespace {

std::string reason(int error) {
    switch (error) {
        case ENOENT:
            return "no such folder, or a link that leads nowhere";
        case ENOTDIR:
            return "a part of the path is not a folder";
        case EISDIR:
            return "is a folder";
        case EACCES:
        case EPERM:
            return "no permission to write there";
        case EROFS:
            return "the filesystem is read-only";
        case ENOSPC:
        case EDQUOT:
            return "the disk is full";
        case ENAMETOOLONG:
            return "the name is too long";
        case ELOOP:
            return "too many links";
        case ENXIO:
            return "nobody reads this pipe";
        case EPIPE:
            return "the reader has gone";
        default:
            return std::strerror(error);
    }
}

std::string failure(const std::string& path, int error) {
    return path + ": " + reason(error);
}

// 0, or the errno.
int write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        const ssize_t wrote = ::write(fd, content.data(), content.size());
        if (wrote < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        content.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return 0;
}

int sync(int fd) {
    // Filesystems without fsync of folders or special files say EINVAL: there is nothing to wait for.
    return ::fsync(fd) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
}

// Close reports what a network filesystem could not store.
int close_after(int fd, int error) {
    if (::close(fd) != 0 && error == 0 && errno != EINTR) return errno;
    return error;
}

int write_into(const std::string& path, std::string_view content) {
    // Without O_NONBLOCK the open of a FIFO would wait for a reader for ever.
    const int fd = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return errno;
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags >= 0) ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    return close_after(fd, write_all(fd, content));
}

int sync_folder(const std::string& folder) {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno == EACCES ? 0 : errno;  // a folder that may be written and not read
    return close_after(fd, sync(fd));
}

int replace(const std::string& target, std::string_view content) {
    const std::size_t slash = target.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : target.substr(0, slash);
    std::string temporary = folder + "/.gpucheck-XXXXXX";
    const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
    if (fd < 0) return errno;
    int error = write_all(fd, content);
    if (error == 0 && ::fchmod(fd, 0644) != 0) error = errno;
    if (error == 0) error = sync(fd);
    error = close_after(fd, error);
    if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
    if (error != 0) {
        ::unlink(temporary.c_str());
        return error;
    }
    return sync_folder(folder);
}

// The file that a path means: where its links lead, or the path itself when nothing is there yet.
int resolve(const std::string& path, std::string& target) {
    char buffer[PATH_MAX];
    if (::realpath(path.c_str(), buffer) != nullptr) {
        target = buffer;
        return 0;
    }
    const int error = errno;
    struct stat link {};
    if (::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode)) return error;  // it leads nowhere
    target = path;
    return 0;
}

}  // namespace

std::optional<std::string> atomic_write(const std::string& path, std::string_view content) {
    if (path == "-") {
        const int error = write_all(STDOUT_FILENO, content);
        return error == 0 ? std::nullopt : std::optional(failure("standard output", error));
    }
    if (path.empty()) return "no file was named";
    struct stat status {};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) return failure(path, EISDIR);
    if (path.back() == '/') return failure(path, ENOENT);
    int error = 0;
    if (exists && !S_ISREG(status.st_mode)) {
        error = write_into(path, content);
    } else {
        std::string target;
        error = resolve(path, target);
        if (error == 0) error = replace(target, content);
    }
    return error == 0 ? std::nullopt : std::optional(failure(path, error));
}

}  // namespace gpucheck::report
