// Durable and bounded files; see files.h.
#include "providers/disk/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace gpucheck::disk {
namespace {

// Another process, and this one in another thread, must not choose the same name.
std::string temporary_name() {
    static std::atomic<unsigned> count{0};
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return std::string(kTemporary) + std::to_string(::getpid()) + "-" + std::to_string(now.tv_sec) + "-" +
           std::to_string(now.tv_nsec) + "-" + std::to_string(count.fetch_add(1));
}

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

// Filesystems that cannot sync a folder say EINVAL: there is nothing to wait for.
int sync(int fd) {
    return ::fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
}

int write_temporary(int folder, const std::string& name, std::string_view content, bool wait) {
    const Descriptor file(
        ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return errno;
    int error = write_all(file.get(), content);
    if (error == 0 && wait) error = sync(file.get());
    return error;
}

int put(int folder, const std::string& name, std::string_view content, bool replace, bool wait) {
    const std::string temporary = temporary_name();
    int error = write_temporary(folder, temporary, content, wait);
    if (error == 0 && replace) {
        if (::renameat(folder, temporary.c_str(), folder, name.c_str()) != 0) error = errno;
        if (error == 0) return wait ? sync(folder) : 0;
    } else if (error == 0) {
        if (::linkat(folder, temporary.c_str(), folder, name.c_str(), 0) != 0) error = errno;
    }
    ::unlinkat(folder, temporary.c_str(), 0);
    return error == 0 && wait ? sync(folder) : error;
}

std::optional<Error> error_of(int error, const std::string& name) {
    if (error == 0) return std::nullopt;
    return Error{error, name + ": " + reason(error)};
}

}  // namespace

Descriptor::~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}

std::string reason(int error) {
    switch (error) {
        case ENOENT:
            return "not there";
        case EACCES:
        case EPERM:
            return "no permission";
        case ENOSPC:
        case EDQUOT:
            return "the disk is full";
        case EROFS:
            return "the filesystem is read-only";
        case ENOTDIR:
            return "a part of the path is not a folder";
        default:
            return std::strerror(error);
    }
}

std::variant<Content, Error> read_open(int fd, const std::string& path, std::size_t most) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return Error{errno, path + ": " + reason(errno)};
    if (!S_ISREG(status.st_mode)) return Error{0, path + ": not a regular file"};
    const Error too_large{EFBIG, path + ": larger than " + std::to_string(most) + " bytes"};
    if (static_cast<unsigned long long>(status.st_size) > most) return too_large;
    Content content{{}, status.st_mode};
    content.text.reserve(static_cast<std::size_t>(status.st_size));
    char block[16384];
    for (off_t at = 0;;) {
        const ssize_t got = ::pread(fd, block, sizeof block, at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return Error{errno, path + ": " + reason(errno)};
        if (got == 0) return content;
        content.text.append(block, static_cast<std::size_t>(got));
        at += got;
        if (content.text.size() > most) return too_large;  // it grows while we read
    }
}

std::variant<Content, Error> read_file(const std::string& path, std::size_t most) {
    // Without O_NONBLOCK the open of a FIFO would wait for a writer for ever.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file) return Error{errno, path + ": " + reason(errno)};
    return read_open(file.get(), path, most);
}

std::variant<Descriptor, Error> make_folder(const std::string& path) {
    for (std::size_t slash = 1; slash != std::string::npos;) {
        slash = path.find('/', slash + 1);
        const std::string part = path.substr(0, slash);
        if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
            const int error = errno;
            struct stat status {};
            if (::stat(part.c_str(), &status) != 0) return Error{error, part + ": " + reason(error)};
        }
    }
    Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return Error{errno, path + ": " + reason(errno)};
    return folder;
}

std::optional<Error> write_new(int folder, const std::string& name, std::string_view content, bool replace) {
    return error_of(put(folder, name, content, replace, true), name);
}

std::optional<Error> write_soon(int folder, const std::string& name, std::string_view content) {
    return error_of(put(folder, name, content, true, false), name);
}

}  // namespace gpucheck::disk
