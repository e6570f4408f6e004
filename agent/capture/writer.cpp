// Writes below one descriptor, never through a link, and renames at the end; see writer.h.
#include "agent/capture/writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

namespace gpucheck::capture {
namespace {

std::string failed(const std::string& path, int error) {
    return path + ": " + std::generic_category().message(error);
}

// Empty when `folder` does not exist or is an empty folder; `real` is then its path without links.
std::string check_target(const std::string& folder, std::string& real) {
    std::string path = folder;
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    if (path.empty()) return "no folder is named";
    std::array<char, PATH_MAX> buffer{};
    if (::realpath(path.c_str(), buffer.data()) == nullptr) {
        struct stat status {};
        if (errno == ENOENT && ::lstat(path.c_str(), &status) == 0)
            return path + ": is a link that leads nowhere";
        if (errno != ENOENT) return failed(path, errno);
        real = path;
        return {};
    }
    real = buffer.data();
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(real.c_str()), ::closedir);
    if (stream == nullptr) return errno == ENOTDIR ? path + ": exists and is no folder" : failed(path, errno);
    while (const dirent* entry = ::readdir(stream.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") return path + ": is not empty, and a capture never overwrites";
    }
    return {};
}

}  // namespace

FolderWriter::~FolderWriter() {
    if (partial_.empty()) return;
    root_ = host::Descriptor();
    std::error_code ignored;
    std::filesystem::remove_all(partial_, ignored);
}

std::string FolderWriter::open(const std::string& folder) {
    if (std::string error = check_target(folder, folder_); !error.empty()) return error;
    const std::string partial = folder_ + ".partial";
    if (::mkdir(partial.c_str(), 0700) != 0) {
        if (errno == EEXIST) return partial + ": is left from an interrupted capture; remove it first";
        return failed(partial, errno);
    }
    partial_ = partial;
    root_ = host::Descriptor(::open(partial.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    return root_.valid() ? std::string() : failed(partial, errno);
}

std::string FolderWriter::make_parents(const std::string& path) {
    const std::size_t end = path.rfind('/');
    const std::string parent = end == std::string::npos ? std::string() : path.substr(0, end);
    if (parent.empty() || parent == last_parent_) return {};
    for (std::size_t slash = parent.find('/');; slash = parent.find('/', slash + 1)) {
        const std::string part = parent.substr(0, slash);
        if (::mkdirat(root_.get(), part.c_str(), 0755) != 0 && errno != EEXIST)
            return failed(partial_ + "/" + part, errno);
        if (slash == std::string::npos) break;
    }
    last_parent_ = parent;
    return {};
}

std::string FolderWriter::folder(const std::string& path) {
    return make_parents(path + "/");
}

std::string FolderWriter::file(const std::string& path, std::string_view content) {
    if (std::string error = make_parents(path); !error.empty()) return error;
    host::Descriptor file(
        ::openat(root_.get(), path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!file.valid()) return failed(partial_ + "/" + path, errno);
    while (!content.empty()) {
        const ssize_t written = ::write(file.get(), content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return failed(partial_ + "/" + path, written == 0 ? EIO : errno);
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    // A full disk of a network file system may speak up no earlier than here.
    return ::close(file.release()) == 0 ? std::string() : failed(partial_ + "/" + path, errno);
}

std::string FolderWriter::link(const std::string& path, const std::string& target) {
    if (std::string error = make_parents(path); !error.empty()) return error;
    return ::symlinkat(target.c_str(), root_.get(), path.c_str()) == 0 ? std::string()
                                                                       : failed(partial_ + "/" + path, errno);
}

std::string FolderWriter::commit() {
    // One sync for all: fsync of thousands of small files would take longer than the capture.
    if (::syncfs(root_.get()) != 0) return failed(partial_, errno);
    if (::rename(partial_.c_str(), folder_.c_str()) != 0) {
        if (errno == ENOTEMPTY || errno == EEXIST)
            return folder_ + ": is not empty any more, and a capture never overwrites";
        return failed(folder_, errno);
    }
    partial_.clear();
    return {};
}

}  // namespace gpucheck::capture
